// What Cohere refuses, in its words.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Json, JsonObject } from '../../../src/core/json.ts'
import { cohereChat } from '../../../src/wires/cohere-chat/index.ts'

const user: JsonObject = { role: 'user', content: 'Hello' }
const called = (id: string, name = 'clock'): JsonObject => ({
  id,
  type: 'function',
  function: { name, arguments: '{}' },
})
const calling = (...calls: JsonObject[]): JsonObject => ({ role: 'assistant', tool_calls: calls })
const result = (id: string): JsonObject => ({ role: 'tool', tool_call_id: id, content: '12:00' })
const tool = (name: string, parameters: Json = { type: 'object', properties: {} }): JsonObject => ({
  type: 'function',
  function: { name, parameters },
})

const body: JsonObject = { model: 'command-a-03-2025', messages: [user] }

const cases: [rule: string, changes: JsonObject, words: RegExp][] = [
  [
    'CO-1',
    { messages: [user, calling(called('a'), called('b')), result('a')] },
    /^invalid request: An assistant message with 'tool_calls' must be followed .* did not have response messages: b$/,
  ],
  ['CO-2', { mood: 'good' }, /^unknown field: parameter 'mood' is not a valid field\.$/],
  ['CO-4', { tools: [] }, /at least one tool/],
  ['CO-5', { tool_choice: 'auto', tools: [tool('clock')] }, /REQUIRED, NONE/],
  ['CO-5', { tool_choice: 'REQUIRED' }, /tools must be specified/],
  [
    'CO-9',
    { messages: [user, calling(called('a')), { ...result('a'), content: [{ type: 'image_url', image_url: {} }] }] },
    /not valid for role tool/,
  ],
  ['CO-10', { tools: [tool('fs-read')] }, /\(provided name: 'fs-read'\)\.$/],
  ['CO-11', { messages: [user, result('a')] }, /^tool call id not found in previous tool calls$/],
  ['CO-11', { messages: [user, calling(called('a'), called('a')), result('a')] }, /^cannot have duplicate tool ids$/],
  ['CO-11', { messages: [user, { role: 'tool', content: 'x' }] }, /^tool call id must be provided with tool message$/],
  ['CO-12', { messages: [user, { role: 'assistant', content: '' }, user] }, /^message must not be empty in a turn$/],
  ['CO-13', { temperature: 1.1 }, /^invalid request: temperature must be between 0 and 1\.0 inclusive\.$/],
  ['CO-13', { stop_sequences: ['a', 'b', 'c', 'd', 'e', 'f'] }, /at most 5/],
  ['CO-14', { tools: [tool('clock', { type: 'string' })] }, /^schema must be an object$/],
  [
    'CO-15',
    { response_format: { type: 'json_object' }, documents: ['One.'] },
    /^invalid request: response_format is not supported with RAG\.$/,
  ],
]

for (const [rule, changes, words] of cases) {
  test(`${rule}: ${Object.keys(changes).join(', ')}`, () => {
    assert.deepEqual(cohereChat.refuse(body), [])
    const issues = cohereChat.refuse({ ...body, ...changes })
    assert.deepEqual(
      issues.map((issue) => issue.rule),
      [rule],
    )
    assert.match(issues[0]?.message ?? '', words)
    assert.equal(issues[0]?.status, rule === 'CO-2' ? 422 : 400)
  })
}
