// Items of the Responses wire: as they arrive in a body, and as a server stores them.

import type { JsonObject } from '../../core/json.ts'
import { objectsIn, textIn } from '../shared/json-fields.ts'

export function ownItems(body: JsonObject): JsonObject[] {
  if (typeof body.input === 'string') return [{ type: 'message', role: 'user', content: body.input }]
  return objectsIn(body.input)
}

/** Items get an id when they are stored; a message given as a string is stored in its full form. */
export function withItemId(item: JsonObject, seed: string): JsonObject {
  const type = textIn(item.type) || 'message'
  const prefix = itemPrefixes[type] ?? 'item'
  const part = item.role === 'assistant' ? 'output_text' : 'input_text'
  const content = typeof item.content === 'string' ? [{ type: part, text: item.content }] : item.content
  return {
    ...item,
    type,
    id: item.id ?? `${prefix}_${seed.replace(/^[a-z]+_/, '')}`,
    ...(content !== undefined && { content }),
    ...(type === 'message' && { status: 'completed' }),
  }
}

const itemPrefixes: Record<string, string> = {
  message: 'msg',
  function_call: 'fc',
  function_call_output: 'fco',
  reasoning: 'rs',
  compaction: 'cmp',
}
