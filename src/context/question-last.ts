// For models that accept no system message after a user message: the two are swapped, so that the question stays last.
// They are swapped wherever they occur, so that a longer history keeps the prefix of a shorter one (P4).

import type { Message } from '../core/message.ts'
import type { Target } from '../wires/wire.ts'
import { hasOne } from './prefix-memo.ts'
import type { View } from './view.ts'

export function withQuestionLast<V extends View>(view: V, { capabilities, quirks }: Target): V {
  const isAccepted = capabilities.midSystem && capabilities.prefill && !quirks.alternate
  if (
    isAccepted ||
    !hasSystem(view.messages) ||
    !view.messages.some((message, i) => followsUser(view.messages, message, i))
  )
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
    notes.push({ kind: 'changed', what: 'position of a system message', why, at: `messages[${place}]` })
  }
  return { ...view, messages, places, notes }
}

const hasSystem = hasOne(({ role }) => role === 'system')

function followsUser(messages: readonly Message[], { role }: Message, index: number): boolean {
  return role === 'system' && messages[index - 1]?.role === 'user'
}

/** Where the user messages at the end begin. */
function startOfUser(messages: readonly Message[]): number {
  let start = messages.length
  while (messages[start - 1]?.role === 'user') start--
  return start
}
