// Requests that Ollama refuses: values of the wrong type.

import type { JsonObject } from '../../core/json.ts'
import { put, putIn, refused, type RefusedCheck } from '../shared/refused-check.ts'

const user: JsonObject = { role: 'user', content: 'Say ok.' }

export const refusedRequests: readonly RefusedCheck[] = [
  refused('O-1', 'messages that are no list', put({ messages: 'Say ok.' })),
  refused('O-2', 'no model', put({ model: '' })),
  refused(
    'O-3',
    'content that is a list',
    put({ messages: [{ role: 'user', content: [{ type: 'text', text: 'Say ok.' }] }] }),
  ),
  refused(
    'O-4',
    'arguments that are text',
    put({
      messages: [
        user,
        { role: 'assistant', content: '', tool_calls: [{ function: { name: 'clock', arguments: '{}' } }] },
      ],
    }),
  ),
  refused('O-5', 'an image by its address', put({ messages: [{ ...user, images: ['https://example.com/red.png'] }] })),
  refused('O-6', 'a level of thinking that does not exist', put({ think: 'extreme' })),
  refused('O-7', 'an option of another type', putIn('options', { num_ctx: 'large' })),
  refused(
    'O-8',
    'a schema that is true',
    put({
      tools: [
        { type: 'function', function: { name: 'clock', parameters: { type: 'object', properties: { zone: true } } } },
      ],
    }),
  ),
  refused('O-9', 'a format that does not exist', put({ format: 'yaml' })),
]
