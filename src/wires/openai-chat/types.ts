// The wire of `POST /chat/completions`, as far as it is written and read here. Dozens of servers speak it, each with
// fields of its own, so messages and content parts are open objects and only what is used has a name.

import type { JsonObject } from '../../core/json.ts'
import type { IdGrammar } from '../shared/ids.ts'

export const protocolId = 'openai-chat'

/** OpenAI has refused more than 40 characters (C4); some models take 64 or more, but nothing says which (checked 2026-11). */
export const callIdGrammar: IdGrammar = { prefix: 'call_', length: 24, fits: /^[^]{1,40}$/ }

export const toolNamePattern = /^[a-zA-Z0-9_-]+$/
export const toolNameLength = 64

/** A piece of content: text, refusal, image_url, file, input_audio, and what hosts have added. */
export type ContentPart = JsonObject

export type WireMessage = JsonObject

/** Fields of an assistant message that carry reasoning; which of them a host reads and writes is a quirk. */
export const reasoningFields = ['reasoning_content', 'reasoning', 'reasoning_details'] as const

/**
 * Fields that a reply has and that a request may not have. `audio` is taken back by its id alone (checked 2026-11).
 * The others are: what OpenAI cites, what Groq and the Vercel gateway tell about their own work, what clients add.
 */
export const replyOnlyFields: ReadonlySet<string> = new Set([
  'annotations',
  'channel',
  'executed_tools',
  'parsed',
  'provider_metadata',
  'provider_specific_fields',
])

export function textPart(text: string): { type: 'text'; text: string } {
  return { type: 'text', text }
}

/** How the kind of an opaque part begins that represents a call which is no function's: no one here can answer it. */
export const foreignCall = `${protocolId}/call:`
