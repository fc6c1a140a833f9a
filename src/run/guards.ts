// When a run is stopped, and how much it may take. Data only: the page reads the types of the HTTP API through it.

/** Limits of a run. Whichever is reached ends it, with an event that says which and why. */
export interface Guards {
  /**
   * How often the same call with the same result is borne before the model is informed: 3 by default. The run stops when it
   * continues all the same. False: forever.
   */
  repeats?: number | false
  /** How long a run may take, in milliseconds. */
  timeMs?: number
  /** How many characters a run may write, of text, reasoning and arguments. */
  outputSize?: number
  /** How many calls of one reply are run: 128 by default. The others stay in the log and are answered as not run. */
  callsPerReply?: number
  /** How many tools run at the same time: 16 by default. */
  concurrentTools?: number
  /** How many bytes are kept of one tool result: 16 MiB by default. What is cut is counted in the result. */
  resultSize?: number
  /** How many characters are kept of one reply: 16 MiB by default. Reading stops there. */
  replySize?: number
}

/** The limits that always hold. */
export interface ToolLimits {
  callsPerReply: number
  concurrentTools: number
  resultSize: number
}

export function toolLimits({ callsPerReply, concurrentTools, resultSize }: Guards = {}): ToolLimits {
  return {
    callsPerReply: callsPerReply ?? 128,
    concurrentTools: Math.max(1, concurrentTools ?? 16),
    resultSize: resultSize ?? 16 * 1024 * 1024,
  }
}
