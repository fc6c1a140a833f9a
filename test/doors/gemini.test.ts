// Gemini's API at the door as its documentation, its older programs and clients of its OpenAI-compatible API use it, over
// other providers.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { GoogleGenAI, Type } from '@google/genai'
import OpenAI from 'openai'
import { isObject, type Json, type JsonObject } from '../../src/core/json.ts'
import { valueAt } from '../../src/wires/shared/json-fields.ts'
import { serving } from '../server/serving.ts'

const models = ['anthropic/claude-opus-5', 'openai/gpt-5.6', 'mistral/mistral-large-latest']
const [claude = ''] = models
const said = (text: string) => ({ contents: [{ parts: [{ text }] }] })

function partsOf(body: Json): JsonObject[] {
  const [candidate] = (isObject(body) && Array.isArray(body.candidates) ? body.candidates : []) as JsonObject[]
  return valueAt(candidate, 'content', 'parts') as JsonObject[]
}

describe('snake_case, which the API accepts too', () => {
  const lights = {
    function_declarations: [
      { name: 'enable_lights', parameters: { type: 'object' } },
      {
        name: 'set_light_color',
        parameters_json_schema: {
          type: 'object',
          properties: { rgb_hex: { type: 'string' } },
          required: ['rgb_hex'],
        },
      },
    ],
  }

  for (const model of [...models, 'google/gemini-3-flash-preview']) {
    test(`settings hold over ${model}`, async (t) => {
      const { api } = await serving(t)
      const ask = async (body: JsonObject) =>
        partsOf((await api('POST', `/v1beta/models/${model}:generateContent`, body)).body)
      const purple = { contents: { role: 'user', parts: { text: 'Make this place PURPLE!' } }, tools: [lights] }
      const config = { mode: 'any', allowed_function_names: ['set_light_color'] }
      const [call] = await ask({ ...purple, tool_config: { function_calling_config: config } })
      assert.equal(valueAt(call, 'functionCall', 'name'), 'set_light_color')
      const [none] = await ask({
        ...said('use the tool enable_lights with {}'),
        tools: [lights],
        tool_config: { function_calling_config: { mode: 'none' } },
      })
      assert.equal(typeof none?.text, 'string')
      const [answer] = await ask({
        ...said('List a few popular cookie recipes.'),
        generation_config: {
          response_mime_type: 'application/json',
          response_schema: { type: 'OBJECT', properties: { name: { type: 'STRING' } }, required: ['name'] },
        },
      })
      assert.deepEqual(JSON.parse(String(answer?.text)), { name: '' })
    })
  }

  test('reaches the provider as the settings that it stands for', async (t) => {
    const { api, emulator } = await serving(t)
    const generation_config = {
      max_output_tokens: 50,
      stop_sequences: ['x'],
      thinking_config: { thinking_level: 'low' },
    }
    await api('POST', `/v1beta/models/${claude}:generateContent`, { ...said('Hello'), generation_config })
    const body = emulator.requests.at(-1)?.body as JsonObject
    assert.deepEqual([body.max_tokens, body.stop_sequences], [50, ['x']])
    assert.equal(valueAt(body, 'output_config', 'effort'), 'low')
    const several = { ...said('Hello'), generation_config: { candidate_count: 2 } }
    assert.equal((await api('POST', `/v1beta/models/${claude}:generateContent`, several)).status, 400)
    const inner = { generate_content_request: { model: claude, ...said('Hello') } }
    const counted = await api('POST', `/v1beta/models/${claude}:countTokens`, inner)
    assert.ok(Number(counted.body.totalTokens) > 0)
  })
})

describe('a stream without alt=sse', () => {
  for (const model of [claude, 'gemini-3-flash-preview']) {
    test(`is one JSON array over ${model}`, async (t) => {
      const { api } = await serving(t)
      const stream = await api('POST', `/v1beta/models/${model}:streamGenerateContent`, said('What is 1 + 1?'))
      assert.equal(stream.headers.get('content-type'), 'application/json')
      const chunks = JSON.parse(stream.text) as JsonObject[]
      assert.ok(chunks.length > 1)
      assert.match(chunks.flatMap((chunk) => partsOf(chunk).map(({ text }) => text)).join(''), /1 \+ 1 = 2/)
      assert.ok(Number(valueAt(chunks.at(-1), 'usageMetadata', 'totalTokenCount')) > 0)
    })
  }

  test('that fails in the middle ends with the error, and is still an array', async (t) => {
    const { api, emulator } = await serving(t)
    emulator.order({ errorAt: 5 })
    const { text } = await api('POST', `/v1beta/models/${claude}:streamGenerateContent`, said('Hello'))
    const chunks = JSON.parse(text) as JsonObject[]
    assert.equal(valueAt(chunks.at(-1), 'error', 'status'), 'UNAVAILABLE')
  })
})

describe('an answer that is a list', () => {
  const recipes = { type: Type.ARRAY, items: { type: Type.OBJECT, properties: { name: { type: Type.STRING } } } }
  const config = { responseMimeType: 'application/json', responseSchema: recipes }
  const list = '[{"name":"a}"},{"name":"b"}]'

  for (const model of [
    ...models,
    'google/gemini-3-flash-preview',
    'deepseek/deepseek-chat',
    'cohere/command-a-03-2025',
  ]) {
    test(`is one over ${model}, which gets the schema of an object, whole and streamed`, async (t) => {
      const isWrapped = (body: JsonObject) => /"value"|\\"value\\"/.test(JSON.stringify(body))
      const { url, store, emulator } = await serving(t, {
        emulation: {
          reply: ({ body }) => ({ parts: [{ type: 'text', text: isWrapped(body) ? `{ "value": ${list} }\n` : list }] }),
        },
      })
      const ai = new GoogleGenAI({ apiKey: 'any', httpOptions: { baseUrl: url } })
      const chat = ai.chats.create({ model, config })
      assert.equal((await chat.sendMessage({ message: 'List cookies.' })).text, list)
      let text = ''
      for await (const chunk of await chat.sendMessageStream({ message: 'More.' })) text += chunk.text ?? ''
      assert.equal(text, list)
      const { items } = await store.conversations('local')
      assert.deepEqual(
        items.map(({ entries }) => entries),
        [4],
      )
      assert.ok(emulator.requests.every(({ status }) => status === 200))
    })
  }
})

test('an answer that does not fit its schema is sent and stored as it is', async (t) => {
  const { api, store, emulator } = await serving(t, {
    emulation: { reply: () => ({ parts: [{ type: 'text', text: 'I cannot.' }] }) },
  })
  const generationConfig = { responseMimeType: 'application/json', responseSchema: { type: 'OBJECT' } }
  const body = { ...said('List cookies.'), generationConfig }
  const answer = await api('POST', '/v1beta/models/deepseek/deepseek-chat:generateContent', body)
  assert.deepEqual(partsOf(answer.body), [{ text: 'I cannot.' }])
  const { items } = await store.conversations('local')
  assert.deepEqual([items[0]?.entries, emulator.requests.length], [2, 1])
})

test('reasoning is sent only if it is requested', async (t) => {
  const { url } = await serving(t)
  const ai = new GoogleGenAI({ apiKey: 'any', httpOptions: { baseUrl: url } })
  for (const isRequested of [false, true]) {
    const ask = {
      model: 'deepseek/deepseek-reasoner',
      contents: `Think about ${isRequested}.`,
      config: { thinkingConfig: { includeThoughts: isRequested } },
    }
    const { candidates, usageMetadata } = await ai.models.generateContent(ask)
    assert.equal(
      candidates?.[0]?.content?.parts?.some(({ thought }) => thought),
      isRequested,
    )
    assert.ok((usageMetadata?.thoughtsTokenCount ?? 0) > 0)
    let thoughts = 0
    for await (const chunk of await ai.models.generateContentStream({ ...ask, contents: `Think of ${isRequested}.` }))
      thoughts += chunk.candidates?.[0]?.content?.parts?.filter(({ thought }) => thought).length ?? 0
    assert.equal(thoughts > 0, isRequested)
  }
})

test('cached content is refused where it cannot be sent, instead of being left out', async (t) => {
  const { api, emulator } = await serving(t)
  const body = { ...said('Hello'), cachedContent: 'cachedContents/abc' }
  const refused = await api('POST', `/v1beta/models/${claude}:generateContent`, body)
  assert.equal(refused.status, 400)
  assert.match(refused.text, /cachedContent names content that only google has/)
  assert.equal(emulator.requests.length, 0)
  await api('POST', '/v1beta/models/gemini-3-flash-preview:generateContent', body)
  assert.deepEqual(emulator.requests.at(-1)?.body, body)
})

test('clients of its OpenAI-compatible API, and of that of Cohere, get their models and errors in that form', async (t) => {
  const { url } = await serving(t)
  for (const [path, model] of [
    ['/v1beta/openai', 'gemini-3-flash-preview'],
    ['/google/v1beta/openai', 'gemini-3-flash-preview'],
    ['/cohere/compatibility/v1', 'command-a-03-2025'],
  ] as const) {
    const openai = new OpenAI({ apiKey: 'any', baseURL: url + path, maxRetries: 0 })
    const { data } = await openai.models.list()
    assert.ok(data.some(({ id }) => id === model))
    const messages = [{ role: 'user' as const, content: 'What is 1 + 1?' }]
    const { choices } = await openai.chat.completions.create({ model, messages })
    assert.match(choices[0]?.message.content ?? '', /1 \+ 1 = 2/)
    await assert.rejects(openai.chat.completions.create({ model: 'nothing', messages }), { code: 'model_not_found' })
  }
})
