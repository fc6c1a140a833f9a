// Search results that the user gave to Anthropic as blocks of its own: elsewhere they are text, because their words are
// what the conversation is about. A message that is changed is remembered, so that what was written for it can be kept.

import { isObject, type Json } from '../core/json.ts'
import type { Message, UserMessage } from '../core/message.ts'
import type { View } from './view.ts'

const wire = 'anthropic-messages'
const kind = `${wire}/search_result`

const told = new WeakMap<Message, Message>()

export function withSearchResultsAsText(view: View, protocol: string): View {
  if (protocol === wire || !view.messages.some(hasSearchResult)) return view
  const notes = [...view.notes]
  const messages = view.messages.map((message, index) => {
    if (!hasSearchResult(message)) return message
    const why = 'only Anthropic has a form for them'
    notes.push({ kind: 'changed', what: 'search results to text', why, at: `messages[${view.places[index] ?? index}]` })
    const text = told.get(message) ?? asText(message)
    told.set(message, text)
    return text
  })
  return { ...view, messages, notes }
}

function hasSearchResult(message: Message): message is UserMessage {
  return message.role === 'user' && message.parts.some((part) => part.type === 'opaque' && part.kind === kind)
}

function asText(message: UserMessage): UserMessage {
  const parts = message.parts.map((part): UserMessage['parts'][number] => {
    return part.type === 'opaque' && part.kind === kind ? { type: 'text', text: wordsOf(part.data) } : part
  })
  return { ...message, parts }
}

function wordsOf(data: Json | undefined): string {
  if (!isObject(data)) return ''
  const { title, source, content } = data
  const texts = Array.isArray(content) ? content.map((block) => (isObject(block) ? block.text : undefined)) : [content]
  return [title, source, ...texts].filter((text) => typeof text === 'string' && text !== '').join('\n')
}
