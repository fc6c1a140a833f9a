// Bodies of requests in short, and what the API refuses in them.

import type { Json, JsonObject } from '../../../src/core/json.ts'
import { anthropicMessages } from '../../../src/wires/anthropic-messages/index.ts'

export const hi = { role: 'user', content: 'hi' }
export const use = (id: string, input: Json = {}): JsonObject => ({ type: 'tool_use', id, name: 'f', input })
export const out = (id: string, more: JsonObject = {}): JsonObject => ({
  type: 'tool_result',
  tool_use_id: id,
  content: 'ok',
  ...more,
})
export const says = (...content: JsonObject[]) => ({ role: 'assistant', content })
export const asks = (...content: JsonObject[]) => ({ role: 'user', content })
export const tool = { name: 'f', input_schema: { type: 'object' } }
export const body = (messages: Json[], more: JsonObject = {}): JsonObject => ({
  model: 'claude-haiku-4-5',
  max_tokens: 2000,
  messages,
  tools: [tool],
  ...more,
})

export function refused(given: Json, model?: string): [string, string][] {
  return anthropicMessages
    .refuse(given, model === undefined ? {} : { model })
    .map(({ rule, message }) => [rule, message])
}
