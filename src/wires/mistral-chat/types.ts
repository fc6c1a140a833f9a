// The wire of Mistral's `POST /v1/chat/completions`, as far as it is written here. It looks like OpenAI's, but its body
// is closed: one unknown field, and the whole request is refused.

import type { JsonObject } from '../../core/json.ts'
import type { IdGrammar } from '../shared/ids.ts'

export const protocolId = 'mistral-chat'

/** Exactly nine letters or digits, on calls and results. */
export const callIdGrammar: IdGrammar = { prefix: '', length: 9, fits: /^[a-zA-Z0-9]{9}$/ }

export const toolNamePattern = /^[a-zA-Z0-9_-]{1,64}$/
export const toolNameLength = 64

/** A piece of content: text, image_url, document_url, input_audio, file, reference or thinking. */
export type Chunk = JsonObject

/** Thinking text, which precedes the answer in an assistant's content. */
export function thinkingChunk(text: string): Chunk {
  return { type: 'thinking', thinking: [{ type: 'text', text }], closed: true }
}

export function textChunk(text: string): Chunk {
  return { type: 'text', text }
}
