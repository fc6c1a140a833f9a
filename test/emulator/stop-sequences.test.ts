// Stop sequences end an answer on every wire that has them, and say so where the wire can.

import assert from 'node:assert/strict'
import test from 'node:test'
import type { Json } from '../../src/core/json.ts'
import { replay } from '../../src/index.ts'
import { textOf } from '../../src/core/message.ts'
import { createEmulator } from '../../src/testing.ts'

const chat = { messages: [{ role: 'user', content: 'Count to 20' }], stream: true }

const requests: [string, string, { [field: string]: Json }][] = [
  ['openai-chat', '/openai/v1/chat/completions', { ...chat, model: 'gpt-4o', stop: ' 7' }],
  ['openai-chat', '/groq/openai/v1/chat/completions', { ...chat, model: 'llama-3.3-70b-versatile', stop: ['x', ' 7'] }],
  ['mistral-chat', '/mistral/v1/chat/completions', { ...chat, model: 'mistral-large-latest', stop: [' 7', ' 9'] }],
  [
    'anthropic-messages',
    '/anthropic/v1/messages',
    { ...chat, model: 'claude-sonnet-4-5', max_tokens: 100, stop_sequences: [' 9', ' 7'] },
  ],
  ['ollama-chat', '/ollama/api/chat', { ...chat, model: 'llama3.3', options: { stop: [' 7'] } }],
  [
    'gemini-generate',
    '/google/v1beta/models/gemini-2.5-flash:streamGenerateContent?alt=sse',
    {
      contents: [{ role: 'user', parts: [{ text: 'Count to 20' }] }],
      generationConfig: { stopSequences: [' 7'] },
    },
  ],
]

for (const [protocol, path, body] of requests) {
  test(`${path} stops before the sequence`, async () => {
    const { fetch } = createEmulator({ requireKey: false })
    const response = await fetch(`http://emulator${path}`, {
      method: 'POST',
      headers: { 'anthropic-version': '2023-06-01' },
      body: JSON.stringify(body),
    })
    const text = await response.text()
    assert.equal(response.status, 200, text)
    const { reply } = replay(protocol, text)
    assert.equal(textOf(reply.parts), '[offline emulator] 1 2 3 4 5 6')
    assert.equal(reply.stop.reason, 'done')
    if (protocol === 'anthropic-messages') {
      assert.deepEqual(reply.stop, { reason: 'done', raw: 'stop_sequence', sequence: ' 7' })
    }
  })
}

test('a sequence that does not come changes nothing', async () => {
  const { fetch } = createEmulator({ requireKey: false })
  const body = { ...chat, stream: false, model: 'claude-sonnet-4-5', max_tokens: 100, stop_sequences: ['never'] }
  const response = await fetch('http://emulator/anthropic/v1/messages', {
    method: 'POST',
    headers: { 'anthropic-version': '2023-06-01' },
    body: JSON.stringify(body),
  })
  const whole = (await response.json()) as Record<string, Json>
  assert.deepEqual([whole['stop_reason'], whole['stop_sequence']], ['end_turn', null])
})
