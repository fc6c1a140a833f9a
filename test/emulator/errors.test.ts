// What the emulator refuses with is what the product understands: its words, read back by the product's own reader.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Json } from '../../src/core/json.ts'
import { readFailure } from '../../src/wires/shared/failure.ts'
import { rows } from '../../src/providers/rows.ts'
import { createEmulator, type EmulatorOptions } from '../../src/testing.ts'

const requests: Record<string, (content: string) => { path: string; body: object }> = {
  'openai-chat': (content) => ({
    path: '/v1/chat/completions',
    body: { model: 'a-model', messages: [{ role: 'user', content }] },
  }),
  'mistral-chat': (content) => ({
    path: '/v1/chat/completions',
    body: { model: 'a-model', messages: [{ role: 'user', content }] },
  }),
  'openai-responses': (input) => ({ path: '/v1/responses', body: { model: 'a-model', input } }),
  'anthropic-messages': (content) => ({
    path: '/v1/messages',
    body: { model: 'claude-opus-5', max_tokens: 10, messages: [{ role: 'user', content }] },
  }),
  'gemini-generate': (text) => ({
    path: '/v1beta/models/gemini-3.8-flash:generateContent',
    body: { contents: [{ role: 'user', parts: [{ text }] }] },
  }),
  'gemini-interactions': (input) => ({ path: '/v1beta/interactions', body: { model: 'gemini-3.8-flash', input } }),
  'bedrock-converse': (text) => ({
    path: '/model/us.amazon.nova-2-lite-v1%3A0/converse',
    body: { messages: [{ role: 'user', content: [{ text }] }] },
  }),
  'cohere-chat': (content) => ({ path: '/v2/chat', body: { model: 'a-model', messages: [{ role: 'user', content }] } }),
  'ollama-chat': (content) => ({
    path: '/api/chat',
    body: { model: 'a-model', truncate: false, messages: [{ role: 'user', content }] },
  }),
}

async function failureOf(
  provider: string,
  protocol: string,
  content: string,
  rest: { options?: EmulatorOptions; key?: string; fault?: object } = {},
) {
  const { path, body } = requests[protocol]?.(content) ?? { path: '', body: {} }
  const emulator = createEmulator(rest.options)
  const response = await emulator.fetch(`http://127.0.0.1/${provider}${path}`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${rest.key ?? 'any'}`,
      ...(rest.fault && { 'x-synapse-fault': JSON.stringify(rest.fault) }),
    },
    body: JSON.stringify(body),
  })
  const said = (await response.json()) as Json
  assert.ok(response.status >= 400, JSON.stringify(said))
  return readFailure({ status: response.status, body: said, provider })
}

const wires = rows.flatMap((row) => row.wires.map((wire) => [row.id, wire.protocol] as const))

describe('every provider, on every wire', () => {
  for (const [provider, protocol] of wires) {
    test(`${provider} ${protocol}: a prompt too long, a wrong key, a limit, an overload`, async () => {
      const long = await failureOf(provider, protocol, 'x'.repeat(8000), { options: { contextWindow: 100 } })
      assert.equal(long.kind, 'context-overflow', long.message)
      assert.equal((await failureOf(provider, protocol, 'Hi', { key: 'wrong' })).kind, 'auth')
      assert.equal((await failureOf(provider, protocol, 'Hi', { fault: { status: 429 } })).kind, 'rate-limit')
      assert.equal((await failureOf(provider, protocol, 'Hi', { fault: { status: 503 } })).kind, 'overloaded')
    })
  }
})

test('deleted state is recognised', async () => {
  const emulator = createEmulator()
  const lost: [path: string, body: object][] = [
    ['/openai/v1/responses', { model: 'gpt-5.6', input: 'Hi', previous_response_id: 'resp_1' }],
    ['/xai/v1/responses', { model: 'grok-4.7', input: 'Hi', previous_response_id: 'resp_1' }],
    ['/openai/v1/responses', { model: 'gpt-5.6', input: 'Hi', conversation: 'conv_1' }],
    ['/google/v1beta/interactions', { model: 'gemini-3.8-flash', input: 'Hi', previous_interaction_id: 'v1_1' }],
    [
      '/anthropic/v1/messages',
      {
        model: 'claude-opus-5',
        max_tokens: 10,
        messages: [{ role: 'user', content: 'Hi' }],
        thread: { type: 'continue', previous_message_id: 'msg_1' },
      },
    ],
    ['/mistral/v1/conversations/conv_1', { inputs: 'Hi' }],
  ]
  for (const [path, body] of lost) {
    const response = await emulator.fetch(`http://127.0.0.1${path}`, {
      method: 'POST',
      headers: { authorization: 'Bearer any', 'anthropic-beta': 'message-threads-2026-08-12' },
      body: JSON.stringify(body),
    })
    const failure = readFailure({ status: response.status, body: (await response.json()) as Json })
    assert.equal(failure.kind, 'state-lost', `${path}: ${failure.message}`)
  }
})

test('a body of more than 32 MB is too large for Anthropic', async () => {
  const failure = await failureOf('anthropic', 'anthropic-messages', 'x'.repeat(33 * 1024 * 1024))
  assert.equal(failure.kind, 'too-large')
})
