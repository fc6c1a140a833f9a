// The shapes of the Interactions API, as far as they are written or read here. A conversation is a flat list of steps;
// texts and calls of a model are separate steps, and there are no roles.

import { isObject, type Json, type JsonObject } from '../../core/json.ts'

export const protocolId = 'gemini-interactions'

/** Distinguishes opaque content from opaque steps. */
export const contentKind = `${protocolId}/content.`

/** Has a `type`; `user_input` and `model_output` hold a list of content, the others their own fields. */
export type Step = JsonObject

/** Text, image, audio, video or document. */
export type Content = JsonObject

export function textContent(text: string): Content {
  return { type: 'text', text }
}

export function userInput(content: Content[]): Step {
  return { type: 'user_input', content }
}

/** The name of a media type here; the API has none for other kinds. */
export function mediaKind(mediaType: string): 'image' | 'audio' | 'video' | 'document' | undefined {
  const [kind] = mediaType.split('/')
  if (kind === 'image' || kind === 'audio' || kind === 'video') return kind
  return kind === 'application' || kind === 'text' ? 'document' : undefined
}

/** The tool of a server tool step: `google_search_call` → `google_search`, call. */
export function serverToolOf(step: JsonObject): { name: string; side: 'call' | 'result' } | undefined {
  const match = typeof step.type === 'string' ? /^(.+)_(call|result)$/.exec(step.type) : null
  if (!match?.[1] || match[1] === 'function') return undefined
  // An MCP server's tool has its own name.
  const name = match[1] === 'mcp_server_tool' && typeof step.name === 'string' ? step.name : match[1]
  return { name, side: match[2] === 'call' ? 'call' : 'result' }
}

export function isStep(value: Json | undefined, type: string): value is JsonObject {
  return isObject(value) && value.type === type
}

/** A non-empty signature: the API also sends empty ones, which are meaningless. */
export function hasSignature(step: JsonObject): boolean {
  return typeof step.signature === 'string' && step.signature !== ''
}
