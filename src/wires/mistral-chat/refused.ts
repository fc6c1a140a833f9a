// Requests that Mistral refuses.

import type { Json, JsonObject } from '../../core/json.ts'
import { clockInput, put, refused, type RefusedCheck } from '../shared/refused-check.ts'

const user: JsonObject = { role: 'user', content: 'Say ok.' }

function tool(name: string, parameters: Json = clockInput): JsonObject {
  return { type: 'function', function: { name, parameters } }
}

function toolCall(id: string, name = 'clock'): JsonObject {
  return { id, type: 'function', function: { name, arguments: '{"zone":"UTC"}' } }
}

function assistantWith(...calls: JsonObject[]): JsonObject {
  return { role: 'assistant', content: '', tool_calls: calls }
}

function result(id: string): JsonObject {
  return { role: 'tool', tool_call_id: id, name: 'clock', content: '12:00' }
}

function messages(...list: JsonObject[]): RefusedCheck['change'] {
  return put({ messages: list, tools: [tool('clock')] })
}

export const refusedRequests: readonly RefusedCheck[] = [
  refused('T-schema', 'a field that does not exist', put({ mood: 'good' })),
  refused('T-1', 'a tool result after the user', messages(user, result('abcdefgh1'))),
  refused('T-3', 'the assistant has the last word', put({ messages: [user, { role: 'assistant', content: 'Ok.' }] })),
  refused(
    'T-4',
    'one result of two calls',
    messages(user, assistantWith(toolCall('abcdefgh1'), toolCall('abcdefgh2')), result('abcdefgh1')),
  ),
  refused('T-5', 'a call id of six characters', messages(user, assistantWith(toolCall('call_1')), result('call_1'))),
  refused('T-7', 'a result of another call', messages(user, assistantWith(toolCall('abcdefgh1')), result('abcdefgh2'))),
  refused('T-8', 'a reply of nothing', put({ messages: [user, { role: 'assistant', content: '' }, user] })),
  refused('T-10', 'no messages', put({ messages: [] })),
  refused(
    'T-11',
    'a prefix that is not the last message',
    put({ messages: [user, { role: 'assistant', content: 'Ok.', prefix: true }, user] }),
  ),
  refused('T-12', 'a tool whose name has a space', put({ tools: [tool('the clock')] })),
  refused(
    'T-13',
    'a schema with a type that does not exist',
    put({ tools: [tool('clock', { type: 'object', properties: { zone: { type: 'text' } } })] }),
  ),
]
