// Two calls of one reply may have the same id, in every format: their results are paired in order.

import assert from 'node:assert/strict'
import test from 'node:test'
import type { Json } from '../../src/core/json.ts'
import { callsOf } from '../../src/core/message.ts'
import { prepare, readTranscript } from '../../src/index.ts'

const id = 'abcdefghi'
const cities = ['Paris', 'Rome'] as const

const transcripts: Record<string, Json> = {
  'openai-responses': {
    input: [
      { type: 'message', role: 'user', content: 'Go.' },
      ...cities.map((city) => ({
        type: 'function_call',
        call_id: id,
        name: 'weather',
        arguments: `{"city":"${city}"}`,
      })),
      ...cities.map((city) => ({ type: 'function_call_output', call_id: id, output: `in ${city}` })),
    ],
  },
  'openai-chat': [
    { role: 'user', content: 'Go.' },
    {
      role: 'assistant',
      content: null,
      tool_calls: cities.map((city) => ({
        id: 'call_1',
        type: 'function',
        function: { name: 'weather', arguments: `{"city":"${city}"}` },
      })),
    },
    ...cities.map((city) => ({ role: 'tool', tool_call_id: 'call_1', content: `in ${city}` })),
  ],
  'mistral-chat': [
    { role: 'user', content: 'Go.' },
    {
      role: 'assistant',
      content: '',
      tool_calls: cities.map((city) => ({ id, function: { name: 'weather', arguments: `{"city":"${city}"}` } })),
    },
    ...cities.map((city) => ({ role: 'tool', name: 'weather', tool_call_id: id, content: `in ${city}` })),
  ],
  'anthropic-messages': [
    { role: 'user', content: 'Go.' },
    { role: 'assistant', content: cities.map((city) => ({ type: 'tool_use', id, name: 'weather', input: { city } })) },
    { role: 'user', content: cities.map((city) => ({ type: 'tool_result', tool_use_id: id, content: `in ${city}` })) },
  ],
  'gemini-generate': [
    { role: 'user', parts: [{ text: 'Go.' }] },
    { role: 'model', parts: cities.map((city) => ({ functionCall: { id, name: 'weather', args: { city } } })) },
    {
      role: 'user',
      parts: cities.map((city) => ({ functionResponse: { id, name: 'weather', response: { output: `in ${city}` } } })),
    },
  ],
  'gemini-interactions': {
    input: [
      { type: 'user_input', content: [{ type: 'text', text: 'Go.' }] },
      ...cities.map((city) => ({ type: 'function_call', id, name: 'weather', arguments: { city } })),
      ...cities.map((city) => ({ type: 'function_result', call_id: id, name: 'weather', result: `in ${city}` })),
    ],
  },
  'ollama-chat': [
    { role: 'user', content: 'Go.' },
    {
      role: 'assistant',
      content: '',
      tool_calls: cities.map((city) => ({ id, function: { name: 'weather', arguments: { city } } })),
    },
    ...cities.map((city) => ({ role: 'tool', tool_name: 'weather', tool_call_id: id, content: `in ${city}` })),
  ],
}

for (const [format, value] of Object.entries(transcripts)) {
  test(`${format}: the results of two calls with one id are paired in order, also in a request`, () => {
    const read = readTranscript(JSON.stringify(value))
    assert.equal(read.format, format)
    const results = new Map(
      read.messages.flatMap((message) =>
        message.role === 'tool' ? message.parts.map((part) => [part.callId, JSON.stringify(part.output)] as const) : [],
      ),
    )
    const calls = read.messages.flatMap((message) => (message.role === 'assistant' ? callsOf(message) : []))
    assert.equal(calls.length, 2)
    for (const [i, { callId, input }] of calls.entries()) {
      assert.deepEqual(input, { city: cities[i] })
      assert.ok(results.get(callId)?.includes(`in ${cities[i]}`))
    }
    const { body, notes } = prepare({ provider: 'anthropic', messages: read.messages })
    assert.deepEqual(
      notes.filter((note) => note.rule === 'pair'),
      [],
    )
    const texts = JSON.stringify(body)
    assert.ok(texts.indexOf('in Paris') < texts.indexOf('in Rome'))
  })
}
