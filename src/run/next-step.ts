// What a conversation waits for, derived from its history alone. The loop has no state of its own: a run that was
// killed and opened again finds its position the same way as one that was not (P5).

import type { Entry } from '../core/log.ts'
import type { Reply, ToolCallPart } from '../core/message.ts'

export type NextStep =
  /** A model's answer. */
  | { kind: 'ask' }
  /** Results of these calls. */
  | { kind: 'tools'; replyEntry: Entry; calls: ToolCallPart[] }
  /** A user message. */
  | { kind: 'rest'; reply?: Reply }

export function nextStep(history: readonly Entry[]): NextStep {
  const lastReply = history.findLastIndex((entry) => entry.message.role === 'assistant')
  const after = history.slice(lastReply + 1)
  if (after.some((entry) => entry.message.role === 'user')) return { kind: 'ask' }
  const replyEntry = history[lastReply]
  const reply = replyEntry?.message
  if (!replyEntry || reply?.role !== 'assistant') return history.length > 0 ? { kind: 'ask' } : { kind: 'rest' }
  if (reply.stop.reason === 'paused') return { kind: 'ask' }
  // The calls of a reply that was cut off may be incomplete: they are never run.
  if (reply.stop.reason !== 'tool-calls') return { kind: 'rest', reply }

  const answered = new Set(
    after.flatMap((entry) => entry.message.parts.map((part) => ('callId' in part ? part.callId : ''))),
  )
  const calls = reply.parts.filter((part) => part.type === 'tool-call')
  const open = calls.filter((call) => !answered.has(call.callId))
  if (open.length > 0) return { kind: 'tools', replyEntry, calls: open }
  return { kind: calls.length > 0 ? 'ask' : 'rest', reply }
}
