// Requests that Cohere refuses.

import type { JsonObject } from '../../core/json.ts'
import { clockInput, put, refused, type RefusedCheck } from '../shared/refused-check.ts'

const user: JsonObject = { role: 'user', content: 'Say ok.' }

function tool(name: string): JsonObject {
  return { type: 'function', function: { name, description: 'Tells the time.', parameters: clockInput } }
}

function toolCall(id: string): JsonObject {
  return { id, type: 'function', function: { name: 'clock', arguments: '{"zone":"UTC"}' } }
}

function result(id: string): JsonObject {
  return { role: 'tool', tool_call_id: id, content: '12:00' }
}

function messages(...list: JsonObject[]): RefusedCheck['change'] {
  return put({ messages: list, tools: [tool('clock')] })
}

export const refusedRequests: readonly RefusedCheck[] = [
  refused(
    'CO-1',
    'one result of two calls',
    messages(user, { role: 'assistant', tool_calls: [toolCall('clock_1'), toolCall('clock_2')] }, result('clock_1')),
  ),
  refused('CO-2', 'a field that does not exist', put({ mood: 'good' })),
  refused('CO-10', 'a tool whose name has a hyphen', put({ tools: [tool('the-clock')] })),
  refused('CO-11', 'a result without a call', messages(user, result('clock_1'))),
  refused('CO-12', 'a reply of nothing', put({ messages: [user, { role: 'assistant', content: '' }, user] })),
  refused('CO-13', 'a temperature of 1.5', put({ temperature: 1.5 })),
  refused(
    'CO-14',
    'a tool whose input is no object',
    put({ tools: [{ type: 'function', function: { name: 'clock', parameters: { type: 'string' } } }] }),
  ),
]
