// What a conversation waits for, derived from its history alone. So a run that was killed and opened again continues at
// the same position as one that was not (P5).

import type { Entry } from '../core/log.ts'
import type { Reply, ToolCallPart } from '../core/message.ts'

export type NextStep =
  /** A reply of the model. */
  | { kind: 'ask' }
  /** Results of these calls. */
  | { kind: 'tools'; replyEntry: Entry; calls: ToolCallPart[] }
  /** Nothing: the model is done, and the user may write. */
  | { kind: 'finish'; reply?: Reply }

export function nextStep(history: readonly Entry[]): NextStep {
  const lastReply = history.findLastIndex((entry) => entry.message.role === 'assistant')
  const after = history.slice(lastReply + 1)
  if (after.some((entry) => entry.message.role === 'user')) return { kind: 'ask' }
  const replyEntry = history[lastReply]
  const reply = replyEntry?.message
  if (!replyEntry || reply?.role !== 'assistant') return history.length > 0 ? { kind: 'ask' } : { kind: 'finish' }
  if (reply.stop.reason === 'paused') return { kind: 'ask' }
  // The calls of a reply that was cut off may be incomplete: they are never run.
  if (reply.stop.reason !== 'tool-calls') return { kind: 'finish', reply }

  const answered = new Set(
    after.flatMap((entry) => entry.message.parts.map((part) => ('callId' in part ? part.callId : ''))),
  )
  const calls = reply.parts.filter((part) => part.type === 'tool-call')
  const open = calls.filter((call) => !answered.has(call.callId))
  if (open.length > 0) return { kind: 'tools', replyEntry, calls: open }
  return { kind: calls.length > 0 ? 'ask' : 'finish', reply }
}
