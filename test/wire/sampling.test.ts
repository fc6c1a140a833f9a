// Options of sampling that only some wires have: which name they get, and which are left out.

import assert from 'node:assert/strict'
import test from 'node:test'
import type { JsonObject } from '../../src/core/json.ts'
import { prepare } from '../../src/index.ts'
import type { Options } from '../../src/settings/options.ts'
import { loadService } from '../../src/wires/list.ts'
import { valueAt } from '../../src/wires/shared/json-fields.ts'

const all: Options = { topK: 40, seed: 7, presencePenalty: 0.5, frequencyPenalty: 0.25 }
const snake = { presence_penalty: 0.5, frequency_penalty: 0.25 }

interface Row {
  model: string
  wire: string
  /** Where the fields are in the body. */
  at?: string
  sent: JsonObject
}

const rows: Row[] = [
  { model: 'openai/gpt-4.1', wire: 'openai-chat', sent: { seed: 7, ...snake } },
  { model: 'openai/gpt-5.6', wire: 'openai-chat', sent: { seed: 7 } },
  { model: 'openai/gpt-4.1', wire: 'openai-responses', sent: {} },
  { model: 'openrouter/meta-llama/llama-4-scout', wire: 'openai-chat', sent: { top_k: 40, seed: 7, ...snake } },
  { model: 'openrouter/google/gemini-3.8-flash', wire: 'openai-chat', sent: { top_k: 40, seed: 7 } },
  { model: 'vllm/any', wire: 'openai-chat', sent: { top_k: 40, seed: 7, ...snake } },
  { model: 'cerebras/gpt-oss-120b', wire: 'openai-chat', sent: { seed: 7 } },
  { model: 'xai/grok-4.3', wire: 'openai-chat', sent: { seed: 7 } },
  { model: 'deepseek/deepseek-chat', wire: 'openai-chat', sent: snake },
  { model: 'anthropic/claude-sonnet-4-5', wire: 'anthropic-messages', sent: { top_k: 40 } },
  { model: 'anthropic/claude-opus-5', wire: 'anthropic-messages', sent: {} },
  {
    model: 'google/gemini-2.0-flash',
    wire: 'gemini-generate',
    at: 'generationConfig',
    sent: { topK: 40, seed: 7, presencePenalty: 0.5, frequencyPenalty: 0.25 },
  },
  { model: 'google/gemini-3-flash', wire: 'gemini-generate', at: 'generationConfig', sent: { topK: 40, seed: 7 } },
  { model: 'google/gemini-3.8-flash', wire: 'gemini-interactions', at: 'generation_config', sent: { seed: 7 } },
  { model: 'mistral/mistral-large-latest', wire: 'mistral-chat', sent: { random_seed: 7, ...snake } },
  { model: 'ollama/llama3.2', wire: 'ollama-chat', at: 'options', sent: { top_k: 40, seed: 7, ...snake } },
  { model: 'cohere/command-a-03-2025', wire: 'cohere-chat', sent: { k: 40, seed: 7, ...snake } },
  { model: 'bedrock/amazon.nova-pro-v1:0', wire: 'bedrock-converse', at: 'inferenceConfig', sent: {} },
]

const fields = new Set([
  'topK',
  'top_k',
  'k',
  'seed',
  'random_seed',
  'presencePenalty',
  'frequencyPenalty',
  ...Object.keys(snake),
])

function bodyFor({ model, wire }: Row, options: Options) {
  const [provider = '', ...rest] = model.split('/')
  const messages = [{ role: 'user' as const, parts: [{ type: 'text' as const, text: 'Hi' }] }]
  return prepare({ provider, model: rest.join('/'), protocol: wire, messages, options, policy: 'full' })
}

function samplingIn(body: JsonObject, at?: string): JsonObject {
  const place = at === undefined ? body : (valueAt(body, at) ?? {})
  return Object.fromEntries(Object.entries(place).filter(([name]) => fields.has(name)))
}

for (const row of rows) {
  test(`${row.model} on ${row.wire} gets the options of sampling that it supports, and the others are noted`, async () => {
    const { body, notes } = bodyFor(row, all)
    assert.deepEqual(samplingIn(body, row.at), row.sent)
    const left = notes.filter(({ kind, what }) => kind === 'dropped' && what in all)
    assert.equal(left.length, Object.keys(all).length - Object.keys(row.sent).length)
    const provider = row.model.split('/', 1)[0] ?? ''
    const read = (await loadService(row.wire)).options(body, provider)
    const values = [read.topK, read.seed, read.presencePenalty, read.frequencyPenalty]
    assert.deepEqual(new Set(values.filter((value) => value !== undefined)), new Set(Object.values(row.sent)))
  })

  test(`${row.model} on ${row.wire} gets no penalty of 0, and no note about it`, () => {
    const without = bodyFor(row, {})
    const { body, notes } = bodyFor(row, { presencePenalty: 0, frequencyPenalty: 0 })
    assert.deepEqual(body, without.body)
    assert.deepEqual(notes, without.notes)
  })
}

test('a value beyond what a wire accepts becomes the nearest that it accepts, with a note', () => {
  const cohere = { model: 'cohere/command-a-03-2025', wire: 'cohere-chat', sent: {} }
  const { body, notes } = bodyFor(cohere, { topK: 1000, seed: -1, presencePenalty: -1, frequencyPenalty: 2 })
  assert.deepEqual(samplingIn(body), { k: 500, seed: 0, presence_penalty: 0, frequency_penalty: 1 })
  assert.equal(notes.filter(({ kind }) => kind === 'changed').length, 4)
})

test('top_k is not sent together with thinking, and the note says so', () => {
  const claude = { model: 'anthropic/claude-sonnet-4-5', wire: 'anthropic-messages', sent: {} }
  const { body, notes } = bodyFor(claude, { topK: 40, effort: 'high' })
  assert.equal(body.top_k, undefined)
  assert.equal(notes.find(({ what }) => what === 'topK')?.why, 'it does not go with thinking')
})
