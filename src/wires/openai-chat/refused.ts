// Requests that the chat wire refuses, at OpenAI or at one of the many hosts that speak it.

import type { Json, JsonObject } from '../../core/json.ts'
import { clockInput, longText, put, refused, type RefusedCheck } from '../shared/refused-check.ts'

const user: JsonObject = { role: 'user', content: 'Say ok.' }

function tool(name: string, parameters: Json = clockInput): JsonObject {
  return { type: 'function', function: { name, parameters } }
}

function toolCall(id: string, name = 'clock'): JsonObject {
  return { id, type: 'function', function: { name, arguments: '{"zone":"UTC"}' } }
}

function assistantWith(...calls: JsonObject[]): JsonObject {
  return { role: 'assistant', content: null, tool_calls: calls }
}

function result(id: string, content: Json = '12:00'): JsonObject {
  return { role: 'tool', tool_call_id: id, content }
}

/** The list of messages, with a tool for its calls. */
function messages(...list: JsonObject[]): RefusedCheck['change'] {
  return put({ messages: list, tools: [tool('clock')] })
}

export const refusedRequests: readonly RefusedCheck[] = [
  refused('C1', 'a call without its result', messages(user, assistantWith(toolCall('call_1')), user)),
  refused('D3', 'a call without its result', messages(user, assistantWith(toolCall('call_1')), user)),
  refused('C2', 'a result without its call', messages(user, result('call_1'))),
  refused(
    'C3',
    'two results of one call',
    messages(user, assistantWith(toolCall('call_1')), result('call_1'), result('call_1')),
  ),
  refused('C4', 'a call id of 65 characters', messages(user, assistantWith(toolCall(longText)), result(longText))),
  refused(
    'C5',
    'an empty list of calls',
    put({ messages: [user, { role: 'assistant', content: 'Ok.', tool_calls: [] }, user] }),
  ),
  refused('C6', 'a reply of nothing', put({ messages: [user, { role: 'assistant', content: null }, user] })),
  refused('C7', 'no messages', put({ messages: [] })),
  refused(
    'C8',
    'a call of a tool whose name has a space',
    messages(user, assistantWith(toolCall('call_1', 'the clock')), result('call_1')),
  ),
  refused('C9', 'a tool whose name has a space', put({ tools: [tool('the clock')] })),
  refused('C13', 'a tool with an effort', put({ tools: [tool('clock')], reasoning_effort: 'low' })),
  refused('C14', 'a tool with an effort', put({ tools: [tool('clock')], reasoning_effort: 'low' })),
  refused('C15', 'max_tokens', put({ max_completion_tokens: undefined, max_tokens: 16 })),
  refused('C16', 'a temperature', put({ temperature: 0.5, reasoning_effort: 'low' })),
  refused('C17', 'an effort that does not exist', put({ reasoning_effort: 'extreme' })),
  refused('C18', 'a cache key of 65 characters', put({ prompt_cache_key: longText })),
  refused(
    'D1',
    'a tool turn without its reasoning',
    put({
      messages: [user, assistantWith(toolCall('call_1')), result('call_1')],
      tools: [tool('clock')],
      thinking: { type: 'enabled' },
    }),
  ),
  refused('D2', 'the role developer', put({ messages: [{ role: 'developer', content: 'Be brief.' }, user] })),
  refused('D4', 'an empty list of tools', put({ tools: [] })),
  refused('tool-schema', 'a tool whose input is not an object', put({ tools: [tool('clock', { type: 'string' })] })),
  refused(
    'answer-format',
    'an answer in JSON that the prompt does not speak of',
    put({ response_format: { type: 'json_object' } }),
  ),
  refused('shape', 'a role that does not exist', put({ messages: [{ role: 'robot', content: 'Say ok.' }] })),
  refused('groq-fields', 'a field that does not exist', put({ messages: [{ ...user, mood: 'good' }] })),
  refused(
    'groq-results',
    'a result that is a list',
    messages(user, assistantWith(toolCall('call_1')), result('call_1', [{ type: 'text', text: '12:00' }])),
  ),
  refused(
    'cerebras-fields',
    'reasoning in the history',
    put({ messages: [user, { role: 'assistant', content: 'Ok.', reasoning_content: 'Say it.' }, user] }),
  ),
  refused('empty-content', 'an empty message', put({ messages: [{ role: 'user', content: '' }] })),
]
