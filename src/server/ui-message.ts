// A message of the AI SDK's user interface, as `useChat` sends it.

import type { JsonObject } from '../core/json.ts'
import type { MediaPart, TextPart } from '../core/message.ts'

export interface UiMessage {
  id: string
  role: 'system' | 'user' | 'assistant'
  parts: JsonObject[]
}

/** Its texts and files. Tool calls and results are already in the log. */
export function uiMessageParts({ parts }: UiMessage): (TextPart | MediaPart)[] {
  return parts.flatMap((part): (TextPart | MediaPart)[] => {
    const { type, text, mediaType, url, filename } = part
    if (type === 'text' && typeof text === 'string' && text !== '') return [{ type: 'text', text }]
    if (type !== 'file' || typeof mediaType !== 'string' || typeof url !== 'string') return []
    const [, base64] = /^data:[^,]*;base64,(.*)$/s.exec(url) ?? []
    const name = typeof filename === 'string' ? { name: filename } : {}
    if (base64 !== undefined) return [{ type: 'media', mediaType, data: { kind: 'base64', base64 }, ...name }]
    return /^https?:\/\//.test(url) ? [{ type: 'media', mediaType, data: { kind: 'url', url }, ...name }] : []
  })
}
