// Who reads the answers of chats. A client that stops an answer only closes its connection, as one does that reads on
// later; if it sends another message instead, the rest of the answer has no reader.

import { setTimeout as pause } from 'node:timers/promises'

const readers = new Map<string, number>()
/** Runs whose last reader has left. */
const left = new Set<string>()
const mostLeft = 1000

export function readerCame(runId: string): void {
  left.delete(runId)
  readers.set(runId, (readers.get(runId) ?? 0) + 1)
}

export function readerLeft(runId: string): void {
  const count = (readers.get(runId) ?? 1) - 1
  if (count > 0) return void readers.set(runId, count)
  readers.delete(runId)
  left.add(runId)
  const [oldest] = left
  if (left.size > mostLeft && oldest !== undefined) left.delete(oldest)
}

/** The end of a connection may arrive after the next request of the client. */
const graceMs = 250

export async function isLeft(runId: string): Promise<boolean> {
  for (const end = Date.now() + graceMs; !left.has(runId) && Date.now() < end;) await pause(10)
  return left.has(runId)
}
