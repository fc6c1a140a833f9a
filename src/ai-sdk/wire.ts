// The wire between Synapse and a model of the AI SDK in the same process: a call and its stream parts as JSON. Dates,
// bytes and URLs are text on it, and are restored on the other side.

import type { JsonObject } from '../core/json.ts'

export const protocolId = 'ai-sdk'

/** A message of a prompt of the AI SDK, as JSON. */
export interface WireMessage {
  role: 'system' | 'user' | 'assistant' | 'tool'
  content: string | JsonObject[]
}
