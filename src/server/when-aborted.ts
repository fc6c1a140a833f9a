/** Calls `leave` when the signal fires, or now if it has: a client may leave before anything listens for that. */
export function whenAborted(signal: AbortSignal, leave: () => void): void {
  if (signal.aborted) leave()
  else signal.addEventListener('abort', leave)
}
