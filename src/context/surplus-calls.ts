// Calls beyond the limit of a reply are answered as not run (run/tools/tool-step.ts). The log has all of them; a request
// leaves most of them out, because no provider accepts tens of thousands of calls.

import { callsOf, type Message, type Reply, type ToolMessage } from '../core/message.ts'
import { hasOne } from './prefix-memo.ts'
import type { View } from './view.ts'

/** The maximum that a run can be set to execute. Of the calls after them, those with a failed result are left out. */
const alwaysSent = 1000

const shortened = new WeakMap<Message, { reply: Reply; left: ReadonlySet<string> }>()
const remaining = new WeakMap<Message, ToolMessage>()

/** Takes a paired view and returns one that is still paired; the same one if no reply has so many calls. */
export function withoutSurplusCalls(view: View): View {
  if (!someHaveMany(view.messages)) return view
  const out: View = { messages: [], places: [], notes: [...view.notes] }
  let left: ReadonlySet<string> = new Set()
  for (const [index, message] of view.messages.entries()) {
    let sent: Message | undefined = message
    if (hasMany(message)) {
      const short = shorten(message, view.messages, index)
      ;({ reply: sent, left } = short)
      const why = 'no provider accepts so many, and their results say only that they were not run or failed'
      const at = `messages[${view.places[index]}]`
      if (left.size > 0) out.notes.push({ kind: 'dropped', what: `${left.size} calls and their results`, why, at })
    } else if (message.role === 'tool') sent = left.size > 0 ? withoutResults(message, left) : message
    else left = new Set()
    if (!sent) continue
    out.messages.push(sent)
    out.places.push(view.places[index] as number)
  }
  return out
}

const someHaveMany = hasOne(hasMany)

function hasMany(message: Message): message is Reply {
  return message.role === 'assistant' && message.parts.length > alwaysSent && callsOf(message).length > alwaysSent
}

/** Cached for each reply, so that its encoding can be cached. */
function shorten(
  message: Reply,
  messages: readonly Message[],
  index: number,
): { reply: Reply; left: ReadonlySet<string> } {
  const known = shortened.get(message)
  if (known) return known
  const failed = new Set<string>()
  for (let next = index + 1; messages[next]?.role === 'tool'; next++) {
    for (const part of (messages[next] as ToolMessage).parts) if (part.failed) failed.add(part.callId)
  }
  const surplus = callsOf(message).slice(alwaysSent)
  const left = new Set(surplus.map(({ callId }) => callId).filter((callId) => failed.has(callId)))
  const parts = message.parts.filter((part) => part.type !== 'tool-call' || !left.has(part.callId))
  // The native content has all of them.
  const made = { reply: left.size === 0 ? message : { ...message, parts, native: [] }, left }
  shortened.set(message, made)
  return made
}

function withoutResults(message: ToolMessage, left: ReadonlySet<string>): ToolMessage | undefined {
  const known = remaining.get(message)
  if (known) return known
  const parts = message.parts.filter((part) => !left.has(part.callId))
  if (parts.length === 0) return undefined
  const made = parts.length === message.parts.length ? message : { ...message, parts }
  remaining.set(message, made)
  return made
}
