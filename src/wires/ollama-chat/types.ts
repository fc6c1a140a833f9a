// The wire of Ollama's own `POST /api/chat`: newline-delimited JSON, arguments as an object, images as bare base64 on
// the message. Content is always one string; there are no content parts.

import type { JsonObject } from '../../core/json.ts'
import type { IdGrammar } from '../shared/ids.ts'

export const protocolId = 'ollama-chat'

/** The server generates `call_` and eight letters, and accepts any string. */
export const callIdGrammar: IdGrammar = { prefix: 'call_', length: 8, fits: /^[\s\S]{1,64}$/ }

export type WireMessage = {
  role: 'system' | 'user' | 'assistant' | 'tool'
  content: string
  thinking?: string
  images?: string[]
  tool_calls?: JsonObject[]
  tool_name?: string
  tool_call_id?: string
}

/** The levels of `think` besides true and false (checked 2026-11). */
export const thinkLevels = ['low', 'medium', 'high', 'max'] as const
