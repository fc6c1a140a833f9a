// A system message right after a user message is moved before it, for models that do not accept one there: the question
// stays last. The same pair is swapped wherever it occurs, so that a longer history keeps the prefix of a shorter one
// (P4).

import type { Message } from '../core/message.ts'
import type { Target } from '../wires/wire.ts'
import { hasOne } from './prefix-memo.ts'
import type { View } from './view.ts'

export function withQuestionLast<V extends View>(view: V, { capabilities, quirks }: Target): V {
  const takesIt = capabilities.midSystem && capabilities.prefill && !quirks.alternate
  if (takesIt || !hasSystem(view.messages) || !view.messages.some((message, i) => follows(view.messages, message, i)))
    return view
  const messages: Message[] = []
  const places: number[] = []
  const notes = [...view.notes]
  for (const [index, message] of view.messages.entries()) {
    const place = view.places[index] as number
    const start = message.role === 'system' ? startOfUser(messages) : messages.length
    messages.splice(start, 0, message)
    places.splice(start, 0, place)
    if (start === messages.length - 1) continue
    const why = 'the model accepts no system message after the question'
    notes.push({ kind: 'changed', what: 'place of a system message', why, at: `messages[${place}]` })
  }
  return { ...view, messages, places, notes }
}

const hasSystem = hasOne(({ role }) => role === 'system')

function follows(messages: readonly Message[], { role }: Message, index: number): boolean {
  return role === 'system' && messages[index - 1]?.role === 'user'
}

/** Where the user messages at the end begin. */
function startOfUser(messages: readonly Message[]): number {
  let start = messages.length
  while (messages[start - 1]?.role === 'user') start--
  return start
}
