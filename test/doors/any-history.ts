// Any history of any wire, through any door, to any provider: the provider accepts the request, the client gets an answer in
// the form of its API, and the same request is the same bytes to the provider.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '../../src/core/json.ts'
import type { Message, Part } from '../../src/core/message.ts'
import { prepare } from '../../src/index.ts'
import { loadWire } from '../../src/wires/list.ts'
import { anyHistory } from '../arbitrary.ts'
import fc from '../property.ts'
import { serving, type Serving } from '../server/serving.ts'
import { tools } from '../targets.ts'

interface Door {
  protocol: string
  provider: string
  model: string
  path(model: string): string
}

export const doors: Door[] = [
  { protocol: 'openai-chat', provider: 'openai', model: 'gpt-4o', path: () => '/v1/chat/completions' },
  { protocol: 'openai-responses', provider: 'openai', model: 'gpt-5.6', path: () => '/v1/responses' },
  { protocol: 'anthropic-messages', provider: 'anthropic', model: 'claude-opus-5', path: () => '/v1/messages' },
  {
    protocol: 'gemini-generate',
    provider: 'google',
    model: 'gemini-3-flash-preview',
    path: (model) => `/v1beta/models/${model}:generateContent`,
  },
  {
    protocol: 'gemini-interactions',
    provider: 'google',
    model: 'gemini-3-flash-preview',
    path: () => '/v1beta/interactions',
  },
  {
    protocol: 'mistral-chat',
    provider: 'mistral',
    model: 'mistral-large-latest',
    path: () => '/mistral/v1/chat/completions',
  },
  { protocol: 'ollama-chat', provider: 'ollama', model: 'llama3.2', path: () => '/ollama/api/chat' },
]

export const providers = [
  'openai/gpt-5.6',
  'anthropic/claude-opus-5',
  'google/gemini-3-flash-preview',
  'mistral/mistral-large-latest',
  'deepseek/deepseek-chat',
  'groq/llama-3.3-70b-versatile',
  'ollama/llama3.2',
]

/** `count` histories for each door and provider. */
export function acceptsAnyHistory(door: Door, model: string, count: number): void {
  test(`any history through the door of ${door.protocol} is accepted by ${model}`, async (t) => {
    const server = await serving(t)
    for (const messages of fc.sample(anyHistory, { numRuns: count, seed: 20261115 })) {
      await assertAnswered(server, door, model, messages)
    }
  })
}

async function assertAnswered(
  { api, emulator }: Serving,
  door: Door,
  model: string,
  messages: Message[],
): Promise<void> {
  const { path, ...target } = door
  const { protocol } = door
  const said: Message[] = [...messages, { role: 'user', parts: [{ type: 'text', text: 'And then?' }] }]
  const { body } = prepare({ ...target, messages: said, tools, policy: 'full' })
  const asked: JsonObject = 'model' in body ? { ...body, model } : body
  const ask = async () => {
    emulator.reset()
    const answer = await api('POST', path(model), protocol === 'gemini-generate' ? asked : { ...asked, stream: false })
    assert.equal(answer.status, 200, answer.text)
    const sent = emulator.requests.map(({ status, body: bytes }) => ({ status, bytes: JSON.stringify(bytes) }))
    assert.ok(sent.length > 0 && sent.every(({ status }) => status === 200))
    assert.ok((await readReply(door, answer.body)).length > 0, answer.text)
    return sent.at(-1)?.bytes
  }
  const first = await ask()
  assert.equal(await ask(), first)
}

/** The parts of an answer, as they are read from the provider of the API. */
async function readReply({ protocol, provider, model }: Door, whole: JsonObject): Promise<Part[]> {
  const { split, decoder } = await loadWire(protocol)
  const reading = decoder({ protocol, provider, model })
  const events = [...split(whole).flatMap((chunk) => reading.push(chunk)), ...reading.end()]
  return events.flatMap((event) => (event.type === 'part-end' ? [event.part] : []))
}
