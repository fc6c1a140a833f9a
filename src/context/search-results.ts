// Anthropic's native blocks for search results become text on other wires, because the conversation is about their
// content. Changed messages are cached, so that their encoding can be cached.

import { isObject, type Json } from '../core/json.ts'
import type { Message, UserMessage } from '../core/message.ts'
import { hasOne } from './prefix-memo.ts'
import type { View } from './view.ts'

const wire = 'anthropic-messages'
const kind = `${wire}/search_result`

const converted = new WeakMap<Message, Message>()

export function withSearchResultsAsText(view: View, protocol: string): View {
  if (protocol === wire || !someHaveResults(view.messages)) return view
  const notes = [...view.notes]
  const messages = view.messages.map((message, index) => {
    if (!hasSearchResult(message)) return message
    const why = 'only Anthropic has a form for them'
    notes.push({ kind: 'changed', what: 'search results to text', why, at: `messages[${view.places[index]}]` })
    const text = converted.get(message) ?? asText(message)
    converted.set(message, text)
    return text
  })
  return { ...view, messages, notes }
}

const someHaveResults = hasOne(hasSearchResult)

function hasSearchResult(message: Message): message is UserMessage {
  return message.role === 'user' && message.parts.some((part) => part.type === 'opaque' && part.kind === kind)
}

function asText(message: UserMessage): UserMessage {
  const parts = message.parts.map((part): UserMessage['parts'][number] => {
    return part.type === 'opaque' && part.kind === kind ? { type: 'text', text: resultText(part.data) } : part
  })
  return { ...message, parts }
}

function resultText(data: Json | undefined): string {
  if (!isObject(data)) return ''
  const { title, source, content } = data
  const texts = Array.isArray(content) ? content.map((block) => (isObject(block) ? block.text : undefined)) : [content]
  return [title, source, ...texts].filter((text) => typeof text === 'string' && text !== '').join('\n')
}
