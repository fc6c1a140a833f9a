// Requests that Anthropic's Messages API refuses.

import type { Json, JsonObject } from '../../core/json.ts'
import { clockInput, put, refused, type RefusedCheck } from '../shared/refused-check.ts'

const user: JsonObject = { role: 'user', content: 'Say ok.' }

function tool(name: string, schema: Json = clockInput): JsonObject {
  return { name, input_schema: schema }
}

function call(id: string, input: Json = {}): JsonObject {
  return { type: 'tool_use', id, name: 'clock', input }
}

function assistantWith(...calls: JsonObject[]): JsonObject {
  return { role: 'assistant', content: calls }
}

function result(id: string, fields: JsonObject = {}): JsonObject {
  return { role: 'user', content: [{ type: 'tool_result', tool_use_id: id, content: '12:00', ...fields }] }
}

function messages(...list: JsonObject[]): RefusedCheck['change'] {
  return put({ messages: list, tools: [tool('clock')] })
}

const marked: JsonObject = { type: 'text', text: 'Say ok.', cache_control: { type: 'ephemeral' } }

export const refusedRequests: readonly RefusedCheck[] = [
  refused('R-1', 'a call without its result', messages(user, assistantWith(call('toolu_1')), user)),
  refused('R-3', 'a result without its call', messages(user, result('toolu_1'))),
  refused(
    'R-4',
    'one call id twice',
    messages(user, assistantWith(call('toolu_1'), call('toolu_1')), result('toolu_1')),
  ),
  refused('R-5', 'a call id with a dot', messages(user, assistantWith(call('toolu.1')), result('toolu.1'))),
  refused(
    'R-6',
    'an input that is not an object',
    messages(user, assistantWith(call('toolu_1', 'UTC')), result('toolu_1')),
  ),
  refused(
    'R-7',
    'a failed result without content',
    messages(user, assistantWith(call('toolu_1')), result('toolu_1', { content: [], is_error: true })),
  ),
  refused('R-8', 'an empty text', put({ messages: [{ role: 'user', content: [{ type: 'text', text: '' }] }] })),
  refused('R-9', 'a message without content', put({ messages: [{ role: 'user', content: [] }, user] })),
  refused('R-10', 'no messages', put({ messages: [] })),
  refused('R-14', 'an answer that is begun', put({ messages: [user, { role: 'assistant', content: 'O' }] })),
  refused(
    'R-18',
    'thinking with an empty signature',
    put({
      messages: [
        user,
        {
          role: 'assistant',
          content: [
            { type: 'thinking', thinking: 'Say it.', signature: '' },
            { type: 'text', text: 'Ok.' },
          ],
        },
        user,
      ],
    }),
  ),
  refused('R-20', 'a budget of thinking that is too small', put({ thinking: { type: 'enabled', budget_tokens: 10 } })),
  refused(
    'R-22',
    'a history with calls, and no tools',
    put({ messages: [user, assistantWith(call('toolu_1')), result('toolu_1')], tools: undefined }),
  ),
  refused('R-23', 'a tool whose name has a space', put({ tools: [tool('the clock')] })),
  refused('R-24', 'a tool whose input is not an object', put({ tools: [tool('clock', { type: 'string' })] })),
  refused(
    'R-26',
    'five cache marks',
    put({ messages: [{ role: 'user', content: [marked, marked, marked, marked, marked] }], system: undefined }),
  ),
  refused('R-29', 'a field that does not exist', put({ mood: 'good' })),
  refused('sampling', 'a temperature and a share of probability', put({ temperature: 0.5, top_p: 0.5 })),
  refused('shape', 'no limit of output', put({ max_tokens: undefined })),
]
