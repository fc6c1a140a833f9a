// Everything of a request but the items: system, tools, options, state.

import assert from 'node:assert/strict'
import test from 'node:test'
import type { JsonObject } from '../../../src/core/json.ts'
import type { Options } from '../../../src/settings/options.ts'
import type { Capabilities } from '../../../src/wires/wire.ts'
import { result, user } from '../../histories.ts'
import { called, encoded, native, reasoning, textItem, short } from './target.ts'

const clock = { name: 'clock', description: 'Tells the time.', input: { type: 'object', properties: {} } }
const system = [{ type: 'text' as const, text: 'Be kind.' }]

test('the whole body of a small request', () => {
  const { path, body } = encoded([user('Hi')], {}, { system, tools: [clock] })
  assert.equal(path, '/responses')
  assert.deepEqual(body, {
    model: 'gpt-5.5',
    instructions: 'Be kind.',
    input: [{ type: 'message', role: 'user', content: 'Hi' }],
    tools: [
      {
        type: 'function',
        name: 'clock',
        description: 'Tells the time.',
        parameters: { type: 'object', properties: {} },
        strict: false,
      },
    ],
    store: false,
    include: ['reasoning.encrypted_content'],
  })
})

test('a provider that requires the system prompt as an item gets it first', () => {
  const { body } = encoded([user('Hi')], { quirks: { systemInInput: true } }, { system })
  assert.equal(body.instructions, undefined)
  assert.deepEqual(body.input, [
    { type: 'message', role: 'system', content: 'Be kind.' },
    { type: 'message', role: 'user', content: 'Hi' },
  ])
})

test('a system item can be the end of the cached prefix', () => {
  const quirks = { systemInInput: true }
  const { body } = encoded([user('Hi')], { quirks, capabilities: { cacheMarks: true } }, { system, cacheAfter: [-1] })
  assert.deepEqual(Array.isArray(body.input) && body.input[0], {
    type: 'message',
    role: 'system',
    content: [{ type: 'input_text', text: 'Be kind.', prompt_cache_breakpoint: { mode: 'explicit' } }],
  })
})

test('encrypted reasoning is not requested from a model that does not reason', () => {
  assert.equal(encoded([user('Hi')], { capabilities: { efforts: [] } }).body.include, undefined)
})

test('tool names are mapped to valid ones, in tools and calls', () => {
  const tools = [{ name: 'fs.read file', input: { type: 'object' } }]
  const { body, toolNames } = encoded([user('Hi')], { options: { toolChoice: { tool: 'fs.read file' } } }, { tools })
  assert.deepEqual(toolNames, { fs_read_file: 'fs.read file' })
  assert.deepEqual(body.tools, [
    { type: 'function', name: 'fs_read_file', parameters: { type: 'object', properties: {} }, strict: false },
  ])
  assert.deepEqual(body.tool_choice, { type: 'function', name: 'fs_read_file' })
})

test('more tools than the wire supports are left out with a note', () => {
  const tools = Array.from({ length: 130 }, (_, i) => ({ ...clock, name: `t${i}` }))
  const { body, notes } = encoded([user('Hi')], {}, { tools })
  assert.equal(Array.isArray(body.tools) && body.tools.length, 128)
  assert.deepEqual(notes.map(short), ['dropped 2 of 130 tools (C10)'])
})

const open = { type: 'object', properties: { a: { type: 'string' } } }
const closed = { ...open, required: ['a'], additionalProperties: false }

const table: [Options, fields: JsonObject, notes?: string[], capabilities?: Partial<Capabilities>][] = [
  [{ effort: 'high' }, { reasoning: { effort: 'high' } }],
  [{ effort: 'max' }, { reasoning: { effort: 'high' } }, ['changed effort max to high (C17)']],
  [{ effort: 'minimal' }, { reasoning: { effort: 'low' } }, ['changed effort minimal to low (C17)']],
  [{ effort: 'low' }, {}, ['dropped effort low'], { efforts: [] }],
  [{ maxOutput: 500 }, { max_output_tokens: 500 }],
  [{ maxOutput: 5 }, { max_output_tokens: 16 }, ['changed maxOutput 5 to 16']],
  [{ maxOutput: 500 }, { max_output_tokens: 100 }, ['changed maxOutput 500 to 100'], { maxOutput: 100 }],
  [
    { temperature: 0.2, topP: 0.9 },
    { temperature: 0.2, top_p: 0.9 },
  ],
  [{ temperature: 0.2, topP: 0.9 }, {}, ['dropped temperature (C16)', 'dropped topP (C16)'], { sampling: false }],
  [{ stop: ['END'] }, {}, ['dropped stop sequences']],
  [
    { toolChoice: 'auto', parallelTools: false },
    { tool_choice: 'auto', parallel_tool_calls: false },
  ],
  [{ toolChoice: 'required' }, {}, ['dropped forced tool choice'], { forcedTool: false }],
  [{ toolChoice: { tool: 'clock' } }, { tool_choice: { type: 'function', name: 'clock' } }],
  [{ toolChoice: { tool: 'lock' } }, {}, ['dropped tool choice']],
  [{ answerSchema: open }, { text: { format: { type: 'json_schema', name: 'answer', schema: open, strict: false } } }],
  [
    { answerSchema: closed },
    { text: { format: { type: 'json_schema', name: 'answer', schema: closed, strict: true } } },
  ],
  [{ cacheKey: 'chat-1' }, { prompt_cache_key: 'chat-1' }],
  [
    { cacheKey: 'k'.repeat(65) },
    { prompt_cache_key: 'f39cdc2584758c99cf81c1f41d2572f54e17066afffc9d187aeafe5f7cbe2122' },
    ['changed cache key to its hash (C18)'],
  ],
  [{ store: true }, { store: true, include: undefined }],
  [{ stream: true }, { stream: true }],
  [{ extra: { service_tier: 'flex', store: true } }, { service_tier: 'flex', store: true }],
]

for (const [options, fields, notes = [], capabilities = {}] of table) {
  test(`${JSON.stringify(options).slice(0, 60)} is requested as ${JSON.stringify(fields).slice(0, 60)}`, () => {
    const plain = encoded([user('Hi')], { capabilities }, { tools: [clock] }).body
    const told = encoded([user('Hi')], { options, capabilities }, { tools: [clock] })
    const expected = Object.entries({ ...plain, ...fields }).filter(([, value]) => value !== undefined)
    assert.deepEqual(told.body, Object.fromEntries(expected))
    assert.deepEqual(told.notes.map(short), notes)
  })
}

test('a chain gets its id, the new items and the instructions again', () => {
  const long = `call_${'x'.repeat(80)}`
  const messages = [user('a'), native([reasoning, called(long)]), result(long, '12:00'), user('b')]
  const state = { kind: 'response-chain' as const, id: 'resp_1', covers: 2 }
  const { body, notes } = encoded(messages, {}, { system, state })
  assert.deepEqual(body, {
    model: 'gpt-5.5',
    instructions: 'Be kind.',
    input: [
      { type: 'function_call_output', call_id: long, output: '12:00' },
      { type: 'message', role: 'user', content: 'b' },
    ],
    previous_response_id: 'resp_1',
    store: true,
  })
  assert.deepEqual(notes, [])
})

test('a conversation gets its id; a chain that has everything an empty list', () => {
  const messages = [user('a'), native([textItem('b')])]
  const { body } = encoded(messages, {}, { state: { kind: 'conversation', id: 'conv_1', covers: 2 } })
  assert.deepEqual(body, { model: 'gpt-5.5', input: [], conversation: 'conv_1', store: true })
})

test('a chain does not get the system prompt twice if that is an item', () => {
  const state = { kind: 'response-chain' as const, id: 'resp_1', covers: 2 }
  const messages = [user('a'), native([textItem('b')]), user('c')]
  const { body } = encoded(messages, { quirks: { systemInInput: true } }, { system, state })
  assert.deepEqual(body.input, [{ type: 'message', role: 'user', content: 'c' }])
})

test('state of another wire is not used', () => {
  const { body } = encoded([user('a')], {}, { state: { kind: 'thread', id: 't', covers: 1 } })
  assert.deepEqual(body.input, [{ type: 'message', role: 'user', content: 'a' }])
})
