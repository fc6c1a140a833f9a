// Settings that only some providers have: they pass through to those, and are noted where a translation leaves them out.

import assert from 'node:assert/strict'
import test from 'node:test'
import type { JsonObject } from '../../src/core/json.ts'
import { loadService, wireIds } from '../../src/wires/list.ts'
import { serving } from '../server/serving.ts'
import { watching } from './watching.ts'

test('settings that only some providers have pass through, and are noted when a translation leaves them out', async (t) => {
  const { api, store, seen } = await watching(t)
  const settings = { logit_bias: { 50256: -100 }, seed: 7, logprobs: true, presence_penalty: 0.5 }
  const notesFor = async (model: string) => {
    const { headers } = await api('POST', '/v1/chat/completions', {
      model,
      messages: [{ role: 'user', content: 'Hi' }],
      ...settings,
    })
    const exchange = await store.exchange('local', headers.get('x-synapse-exchange') ?? '')
    return exchange?.notes.filter(({ kind }) => kind === 'dropped').map(({ what }) => what)
  }
  assert.deepEqual(await notesFor('openai/gpt-4.1'), [])
  assert.match(seen[0]?.body ?? '', /"seed":7/)
  const left = await notesFor('anthropic/claude-opus-5')
  assert.deepEqual(left?.toSorted(), ['logit_bias', 'logprobs', 'presencePenalty', 'seed'])
  assert.deepEqual((await notesFor('mistral/mistral-large-latest'))?.toSorted(), ['logit_bias', 'logprobs'])
  const { random_seed: seed, presence_penalty: penalty } = JSON.parse(seen.at(-1)?.body ?? '') as JsonObject
  assert.deepEqual({ seed, penalty }, { seed: 7, penalty: 0.5 })
})

test("Anthropic's context management passes through to Anthropic, and is noted when another provider answers", async (t) => {
  const { api, store, seen } = await watching(t)
  const notesFor = async (model: string) => {
    const messages = [{ role: 'user', content: 'Hi' }]
    const context_management = { edits: [{ type: 'clear_tool_uses_20250919' }] }
    const beta = { 'anthropic-version': '2023-06-01', 'anthropic-beta': 'context-management-2025-06-27' }
    const { headers } = await api(
      'POST',
      '/v1/messages',
      { model, max_tokens: 100, messages, context_management },
      beta,
    )
    const exchange = await store.exchange('local', headers.get('x-synapse-exchange') ?? '')
    return exchange?.notes.filter(({ at }) => at === '$.context_management').length
  }
  assert.equal(await notesFor('anthropic/claude-opus-5'), 0)
  assert.match(seen[0]?.body ?? '', /"context_management"/)
  assert.equal(await notesFor('openai/gpt-5.6'), 1)
})

const messages = [{ role: 'user', content: 'Hi' }]
const contents = [{ role: 'user', parts: [{ text: 'Hi' }] }]

/** Of each API: a request with settings that are its own, that are not set and that are unknown to it, and the places of the first. */
const requests: Record<string, [path: string, body: JsonObject, places: string[]]> = {
  'anthropic-messages': [
    '/anthropic/v1/messages',
    { messages, max_tokens: 100, mcp_servers: [], container: null, safe_prompt: true },
    ['mcp_servers'],
  ],
  'cohere-chat': ['/cohere/v2/chat', { messages, safety_mode: 'NONE', logprobs: true }, ['logprobs', 'safety_mode']],
  'gemini-generate': [
    '/v1beta/models/MODEL:generateContent',
    { contents, safety_settings: [], generation_config: { speech_config: {}, mediaResolution: null } },
    ['generationConfig.speechConfig', 'safetySettings'],
  ],
  'gemini-interactions': [
    '/google/v1beta/interactions',
    { input: 'Hi', response_modalities: ['text'], generation_config: { speech_config: [] } },
    ['generation_config.speech_config', 'response_modalities'],
  ],
  'mistral-chat': [
    '/mistral/v1/chat/completions',
    { messages, guardrails: [], safe_prompt: true, logit_bias: {} },
    ['guardrails', 'safe_prompt'],
  ],
  'ollama-chat': [
    '/ollama/api/chat',
    { messages, stream: false, options: { min_p: 0.1, num_ctx: 4096 }, top_logprobs: 2 },
    ['options.min_p', 'top_logprobs'],
  ],
  'openai-chat': [
    '/v1/chat/completions',
    { messages, logit_bias: {}, prediction: null, min_p: 0.1, mcp_servers: [] },
    ['logit_bias', 'min_p'],
  ],
  'openai-responses': ['/v1/responses', { input: 'Hi', top_logprobs: 2, logit_bias: {} }, ['top_logprobs']],
}

test('each API has such settings, which are noted by their places in its own requests', async (t) => {
  const services = await Promise.all(wireIds.map(async (id) => ({ id, ...(await loadService(id)) })))
  const ofClients = services.filter(({ door }) => door).map(({ id }) => id)
  assert.deepEqual(Object.keys(requests), ofClients.toSorted())
  const { api, store } = await serving(t)
  for (const [wire, [path, body, places]] of Object.entries(requests)) {
    const model = wire === 'anthropic-messages' ? 'openai/gpt-5.6' : 'anthropic/claude-opus-5'
    const at = path.replace('MODEL', encodeURIComponent(model))
    const { headers, text } = await api('POST', at, { ...(at === path && { model }), ...body })
    const exchange = await store.exchange('local', headers.get('x-synapse-exchange') ?? '')
    const left = exchange?.notes.filter(({ why }) => why.includes('no counterpart')).map(({ at: place }) => place)
    assert.deepEqual(
      left?.toSorted(),
      places.map((place) => `$.${place}`),
      `${wire}: ${text}`,
    )
  }
})
