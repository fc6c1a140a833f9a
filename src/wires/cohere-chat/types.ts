// The wire of Cohere's `POST /v2/chat`, as far as it is written here. Calls look like OpenAI's, content like
// Anthropic's, and text next to calls has a separate field, `tool_plan`.

import { isObject, type Json, type JsonObject } from '../../core/json.ts'
import type { IdGrammar } from '../shared/ids.ts'

export const protocolId = 'cohere-chat'

/** The service generates the name of the tool and twelve characters, and accepts any string. */
export const callIdGrammar: IdGrammar = { prefix: 'call_', length: 12, fits: /^[\s\S]{1,256}$/ }

export const toolNamePattern = /^[a-zA-Z_][a-zA-Z0-9_]*$/
/** No limit is documented; this one is common elsewhere. */
export const toolNameLength = 64

export const mostStopSequences = 5

/** A piece of content: text, thinking, image_url or document. */
export type Block = JsonObject

export function textBlock(text: string): Block {
  return { type: 'text', text }
}

export function thinkingBlock(text: string): Block {
  return { type: 'thinking', thinking: text }
}

export function isThinking(block: Json): boolean {
  return isObject(block) && block.type === 'thinking'
}

/** Whether it contains anything that the model is shown. */
export function hasWords(content: Json | undefined): boolean {
  if (typeof content === 'string') return content !== ''
  if (!Array.isArray(content)) return false
  return content.some((block) => !isThinking(block) && !(isObject(block) && block.type === 'text' && block.text === ''))
}
