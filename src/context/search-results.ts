// Anthropic's native blocks for search results, and its documents that consist of blocks, become text on other wires,
// because the conversation is about their content. Changed messages are cached, so that their encoding can be cached.

import { isObject, type Json, type JsonObject } from '../core/json.ts'
import type { Message, Part, UserMessage } from '../core/message.ts'
import { hasOne } from './prefix-memo.ts'
import type { View } from './view.ts'

const wire = 'anthropic-messages'
const kinds: Readonly<Record<string, string>> = {
  [`${wire}/search_result`]: 'search results',
  [`${wire}/document`]: 'a document of blocks',
}

const converted = new WeakMap<Message, Message>()

export function withSearchResultsAsText(view: View, protocol: string): View {
  if (protocol === wire || !someHaveResults(view.messages)) return view
  const notes = [...view.notes]
  const messages = view.messages.map((message, index) => {
    if (!hasSearchResult(message)) return message
    const why = 'only Anthropic has a form for them'
    const names = new Set(message.parts.flatMap((part) => nameOf(part) ?? []))
    for (const name of names) {
      notes.push({ kind: 'changed', what: `${name} to text`, why, at: `messages[${view.places[index]}]` })
    }
    const text = converted.get(message) ?? asText(message)
    converted.set(message, text)
    return text
  })
  return { ...view, messages, notes }
}

const someHaveResults = hasOne(hasSearchResult)

function hasSearchResult(message: Message): message is UserMessage {
  return message.role === 'user' && message.parts.some((part) => nameOf(part) !== undefined)
}

function nameOf(part: Part): string | undefined {
  return part.type === 'opaque' ? kinds[part.kind] : undefined
}

function asText(message: UserMessage): UserMessage {
  const parts = message.parts.flatMap((part): UserMessage['parts'] => {
    return part.type === 'opaque' && nameOf(part) !== undefined ? readable(part.data) : [part]
  })
  return { ...message, parts }
}

/** A title, what else is known about it, and its text; pictures follow. */
function readable(data: Json | undefined): UserMessage['parts'] {
  if (!isObject(data)) return [{ type: 'text', text: '' }]
  const { title, context, source } = data
  const content = isObject(source) ? source.content : data.content
  const blocks = Array.isArray(content) ? content.filter(isObject) : []
  const texts = Array.isArray(content) ? blocks.map((block) => block.text) : [content]
  const text = [title, context, source, ...texts].filter((one) => typeof one === 'string' && one !== '').join('\n')
  return [{ type: 'text', text }, ...blocks.flatMap(picture)]
}

function picture({ type, source }: JsonObject): UserMessage['parts'] {
  if (type !== 'image' || !isObject(source)) return []
  const { media_type: mediaType, data, url } = source
  if (typeof mediaType === 'string' && typeof data === 'string')
    return [{ type: 'media', mediaType, data: { kind: 'base64', base64: data } }]
  return typeof url === 'string' ? [{ type: 'media', mediaType: 'image/jpeg', data: { kind: 'url', url } }] : []
}
