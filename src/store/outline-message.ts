// A message without its content, for the beginning of a long history that a summary replaces: reading and parsing it
// would take most of the time of opening a conversation, and nothing of it is sent. Its author stays, because requests
// are counted by it.

import type { Message } from '../core/message.ts'

const outlines = new WeakSet<Message>()
const cache = new Map<string, Message>()

/** The same object for the same author. */
export function outlineOf(role: Message['role'], provider: string, model: string): Message {
  const key = `${role} ${provider} ${model}`
  let message = cache.get(key)
  if (!message) {
    message = createOutline(role, provider, model)
    cache.set(key, message)
    outlines.add(message)
  }
  return message
}

export function isOutline(message: Message): boolean {
  return outlines.has(message)
}

function createOutline(role: Message['role'], provider: string, model: string): Message {
  if (role === 'user') return { role, parts: [] }
  // A result without its call would have to be paired.
  if (role !== 'assistant') return { role: 'system', parts: [] }
  return { role, parts: [], native: [], origin: { provider, protocol: '', model }, stop: { reason: 'done' } }
}
