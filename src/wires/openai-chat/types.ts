// The wire of `POST /chat/completions`, as far as it is written and read here. Dozens of servers implement it, each
// with additional fields, so messages and content parts are open objects and only used fields are declared.

import type { JsonObject } from '../../core/json.ts'
import type { IdGrammar } from '../shared/ids.ts'

export const protocolId = 'openai-chat'

/**
 * OpenAI has refused more than 40 characters (C4); some models accept 64 or more, but this is not documented (checked
 * 2026-11).
 */
export const callIdGrammar: IdGrammar = { prefix: 'call_', length: 24, fits: /^[^]{1,40}$/ }

export const toolNamePattern = /^[a-zA-Z0-9_-]+$/
export const toolNameLength = 64

/** A piece of content: text, refusal, image_url, file, input_audio, and additions of hosts. */
export type ContentPart = JsonObject

/** Assistant fields with reasoning; which of them a host uses is a quirk. */
export const reasoningFields = ['reasoning_content', 'reasoning', 'reasoning_details'] as const

/**
 * Fields that a reply has and that a request may not have. `audio` is accepted back only by its id (checked 2026-11).
 * The others are: OpenAI's citations, reports of Groq and the Vercel gateway about their own work, additions of
 * clients.
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

/** The prefix of the kind of an opaque part for a call that is not a function's: nothing here can answer it. */
export const foreignCall = `${protocolId}/call:`
