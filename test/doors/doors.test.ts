// The official clients, unchanged, through every door, with other providers answering.

import assert from 'node:assert/strict'
import { describe, test, type TestContext } from 'node:test'
import Anthropic from '@anthropic-ai/sdk'
import { GoogleGenAI } from '@google/genai'
import OpenAI from 'openai'
import { serving, type Serving } from '../server/serving.ts'

const models = [
  'anthropic/claude-opus-5',
  'openai/gpt-5.6',
  'google/gemini-3-flash-preview',
  'mistral/mistral-large-latest',
]
const question = 'What is 17 + 25?'
const schema = {
  type: 'object' as const,
  properties: { a: { type: 'number' as const }, b: { type: 'number' as const } },
  required: ['a', 'b'],
}

interface Client extends Serving {
  openai: OpenAI
  anthropic: Anthropic
  google: GoogleGenAI
}

async function clients(t: TestContext, options: Parameters<typeof serving>[1] = {}): Promise<Client> {
  const server = await serving(t, options)
  const { url } = server
  return {
    ...server,
    openai: new OpenAI({ apiKey: 'placeholder', baseURL: `${url}/v1`, maxRetries: 0 }),
    anthropic: new Anthropic({ apiKey: 'placeholder', baseURL: url, maxRetries: 0 }),
    google: new GoogleGenAI({ apiKey: 'placeholder', httpOptions: { baseUrl: url } }),
  }
}

/** One conversation is stored, and its roles are these. */
async function assertStored({ store }: Client, roles: string[]): Promise<void> {
  const { items } = await store.conversations('local')
  assert.equal(items.length, 1)
  const [conversation] = items
  assert.ok(conversation?.head)
  const path = await store.history('local', conversation.head)
  assert.deepEqual(
    path.map(({ message }) => message.role),
    roles,
  )
  assert.equal(typeof conversation.settings['client'], 'string')
}

const loop = ['user', 'assistant', 'tool', 'assistant']

describe('a tool loop of the client, over each provider', () => {
  for (const model of models) {
    for (const stream of [false, true]) {
      const how = `${model}${stream ? ', streamed' : ''}`

      test(`chat completions over ${how}`, async (t) => {
        const client = await clients(t)
        const messages: OpenAI.ChatCompletionMessageParam[] = [{ role: 'user', content: question }]
        const tools: OpenAI.ChatCompletionTool[] = [
          { type: 'function', function: { name: 'add', description: 'Adds two numbers.', parameters: schema } },
        ]
        const ask = async () => {
          if (!stream) return client.openai.chat.completions.create({ model, messages, tools })
          const body = { model, messages, tools, stream: true as const, stream_options: { include_usage: true } }
          return client.openai.chat.completions.stream(body).finalChatCompletion()
        }
        const first = await ask()
        const message = first.choices[0]?.message
        const call = message?.tool_calls?.[0]
        assert.ok(message && call?.type === 'function')
        assert.equal(first.choices[0]?.finish_reason, 'tool_calls')
        assert.deepEqual([call.function.name, JSON.parse(call.function.arguments)], ['add', { a: 17, b: 25 }])
        messages.push(message, { role: 'tool', tool_call_id: call.id, content: '42' })
        const second = await ask()
        assert.match(second.choices[0]?.message.content ?? '', /42/)
        assert.equal(second.choices[0]?.finish_reason, 'stop')
        assert.ok((second.usage?.prompt_tokens ?? 0) > 0 && (second.usage?.completion_tokens ?? 0) > 0)
        await assertStored(client, loop)
      })

      test(`responses over ${how}`, async (t) => {
        const client = await clients(t)
        const input: OpenAI.Responses.ResponseInput = [{ role: 'user', content: question }]
        const tools: OpenAI.Responses.Tool[] = [
          { type: 'function', name: 'add', description: 'Adds two numbers.', parameters: schema, strict: false },
        ]
        const ask = async () => {
          if (!stream) return client.openai.responses.create({ model, input, tools })
          return client.openai.responses.stream({ model, input, tools }).finalResponse()
        }
        const first = await ask()
        const call = first.output.find((item) => item.type === 'function_call')
        assert.ok(call?.type === 'function_call')
        assert.deepEqual([call.name, JSON.parse(call.arguments)], ['add', { a: 17, b: 25 }])
        input.push(...(first.output as OpenAI.Responses.ResponseInput), {
          type: 'function_call_output',
          call_id: call.call_id,
          output: '42',
        })
        const second = await ask()
        assert.match(second.output_text, /42/)
        assert.equal(second.status, 'completed')
        assert.ok((second.usage?.input_tokens ?? 0) > 0 && (second.usage?.output_tokens ?? 0) > 0)
        await assertStored(client, loop)
      })

      test(`messages over ${how}`, async (t) => {
        const client = await clients(t)
        const messages: Anthropic.MessageParam[] = [{ role: 'user', content: question }]
        const tools: Anthropic.Tool[] = [{ name: 'add', description: 'Adds two numbers.', input_schema: schema }]
        const ask = async () => {
          const body = { model, messages, tools, max_tokens: 4000 }
          return stream ? client.anthropic.messages.stream(body).finalMessage() : client.anthropic.messages.create(body)
        }
        const first = await ask()
        const use = first.content.find((block) => block.type === 'tool_use')
        assert.ok(use)
        assert.equal(first.stop_reason, 'tool_use')
        assert.deepEqual([use.name, use.input], ['add', { a: 17, b: 25 }])
        messages.push(
          { role: 'assistant', content: first.content },
          { role: 'user', content: [{ type: 'tool_result', tool_use_id: use.id, content: '42' }] },
        )
        const second = await ask()
        assert.match(second.content.map((block) => (block.type === 'text' ? block.text : '')).join(''), /42/)
        assert.equal(second.stop_reason, 'end_turn')
        assert.ok(second.usage.input_tokens > 0 && second.usage.output_tokens > 0)
        await assertStored(client, loop)
      })

      test(`Gemini over ${how}`, async (t) => {
        const client = await clients(t)
        const contents = [{ role: 'user', parts: [{ text: question }] }] as NonNullable<
          Extract<Parameters<GoogleGenAI['models']['generateContent']>[0]['contents'], { parts?: unknown }[]>
        >
        const functionDeclarations = [{ name: 'add', description: 'Adds two numbers.', parametersJsonSchema: schema }]
        const ask = async () => {
          const request = { model, contents, config: { tools: [{ functionDeclarations }] } }
          if (!stream) {
            const { candidates, usageMetadata } = await client.google.models.generateContent(request)
            return { parts: candidates?.[0]?.content?.parts ?? [], usageMetadata }
          }
          const parts = []
          let usageMetadata
          for await (const chunk of await client.google.models.generateContentStream(request)) {
            parts.push(...(chunk.candidates?.[0]?.content?.parts ?? []))
            usageMetadata = chunk.usageMetadata ?? usageMetadata
          }
          return { parts: parts.filter((part) => part.text !== ''), usageMetadata }
        }
        const first = await ask()
        const call = first.parts.find((part) => part.functionCall)?.functionCall
        assert.deepEqual([call?.name, call?.args], ['add', { a: 17, b: 25 }])
        contents.push(
          { role: 'model', parts: first.parts },
          { role: 'user', parts: [{ functionResponse: { name: 'add', response: { result: 42 } } }] },
        )
        const second = await ask()
        assert.match(second.parts.map(({ text }) => text ?? '').join(''), /42/)
        assert.ok((second.usageMetadata?.promptTokenCount ?? 0) > 0)
        await assertStored(client, loop)
      })
    }
  }
})

for (const [context, title] of [
  ['<environment_context>\n  <cwd>/app</cwd>\n</environment_context>', question],
  ['# AGENTS.md instructions for /app', question],
  [`<current_datetime>2026-11-19</current_datetime>\n\nAn earlier question.`, 'An earlier question.'],
  ['An earlier question.', 'An earlier question.'],
] as const) {
  test(`a conversation that begins with ${context.slice(0, 21)} has the title ${title}`, async (t) => {
    const { openai, store } = await clients(t)
    const input = [context, question].map((content) => ({ role: 'user' as const, content }))
    await openai.responses.create({ model: 'anthropic/claude-opus-5', input })
    assert.equal((await store.conversations('local')).items[0]?.title, title)
  })
}

test('a conversation has its title from the only text, even if that is in a tag', async (t) => {
  const { anthropic, store } = await clients(t)
  const messages = [{ role: 'user' as const, content: '<b>What does this do?</b>' }]
  await anthropic.messages.create({ model: 'openai/gpt-5.6', max_tokens: 100, messages })
  assert.equal((await store.conversations('local')).items[0]?.title, '<b>What does this do?</b>')
})

test("OpenAI's client adds up a stream with reasoning of any provider", async (t) => {
  const { openai } = await clients(t)
  for (const model of ['deepseek/deepseek-chat', 'openai/gpt-5.6', 'anthropic/claude-opus-5', 'ollama/qwen3']) {
    const stream = openai.responses.stream({ model, input: 'Hello', reasoning: { effort: 'high', summary: 'auto' } })
    const { output, output_text: text } = await stream.finalResponse()
    assert.ok(text.length > 0, model)
    assert.equal(output.at(-1)?.type, 'message', model)
  }
})

test("a client that asks for a summary of the reasoning gets another provider's reasoning as that", async (t) => {
  const { openai } = await clients(t)
  for (const model of ['anthropic/claude-opus-5', 'deepseek/deepseek-reasoner']) {
    for (const summary of ['auto', null] as const) {
      const request = { model, input: 'Hello', reasoning: { effort: 'high', summary } } as const
      const stream = openai.responses.stream(request)
      const summaries: string[] = []
      stream.on('response.reasoning_summary_text.done', ({ text }) => summaries.push(text))
      const streamed = await stream.finalResponse()
      const whole = await openai.responses.create(request)
      for (const { id, output } of [streamed, whole, await openai.responses.retrieve(whole.id)]) {
        const item = output.find(({ type }) => type === 'reasoning')
        assert.ok(item?.type === 'reasoning', `${model} ${id}`)
        const [summaryTexts, contents] = [item.summary, item.content ?? []].map((list) => list.map(({ text }) => text))
        assert.match((summary === null ? contents : summaryTexts)?.join() ?? '', /The last question/)
        assert.equal(item.summary.length + (item.content ?? []).length, 1)
      }
      assert.equal(summaries.length, summary === null ? 0 : 1)
    }
  }
})

test('reasoning has a status, as xAI’s clients require, and can be sent back with it to any provider', async (t) => {
  const { openai, emulator } = await clients(t)
  const begun: unknown[] = []
  const done: unknown[] = []
  const input: OpenAI.Responses.ResponseInput = [{ role: 'user', content: 'Hello' }]
  const stream = await openai.responses.create({ model: 'deepseek/deepseek-chat', input, stream: true })
  for await (const event of stream) {
    if (event.type === 'response.output_item.added' && event.item.type === 'reasoning') begun.push(event.item.status)
    if (event.type === 'response.output_item.done' && event.item.type === 'reasoning') done.push(event.item.status)
  }
  assert.deepEqual([begun, done], [['in_progress'], ['completed']])
  const { output } = await openai.responses.create({ model: 'deepseek/deepseek-chat', input })
  assert.partialDeepStrictEqual(output, [{ type: 'reasoning', status: 'completed' }])
  for (const model of ['openai/gpt-5.6', 'deepseek/deepseek-chat']) {
    const next = [...input, ...output, { role: 'user' as const, content: 'More.' }] as typeof input
    await openai.responses.create({ model, input: next })
  }
  assert.ok(emulator.requests.every(({ status }) => status === 200))
})

test('a list of instructions alone is a question, over each provider', async (t) => {
  const { openai, emulator } = await clients(t)
  for (const model of [...models, 'deepseek/deepseek-chat', 'ollama/qwen3']) {
    const messages = [{ role: 'system' as const, content: 'Say hello.' }]
    const { choices } = await openai.chat.completions.create({ model, messages })
    assert.ok(choices[0]?.message.content, model)
    assert.match(JSON.stringify(emulator.requests.at(-1)?.body), /Say hello/)
    const { output_text: text } = await openai.responses.create({ model, input: messages, previous_response_id: null })
    assert.ok(text.length > 0, model)
  }
})

test("the server itself can be the base URL of OpenAI's client", async (t) => {
  const { url } = await clients(t)
  const openai = new OpenAI({ apiKey: 'placeholder', baseURL: url, maxRetries: 0 })
  const model = 'mistral/mistral-large-latest'
  const { choices } = await openai.chat.completions.create({ model, messages: [{ role: 'user', content: 'Hello' }] })
  assert.ok(choices[0]?.message.content)
  const { id } = await openai.responses.create({ model, input: 'Hello' })
  assert.equal((await openai.responses.retrieve(id)).id, id)
  assert.ok((await openai.models.list()).data.length > 0)
})

test("a tool in the form of OpenAI's other API is understood", async (t) => {
  const { url } = await clients(t)
  const clock = {
    name: 'clock',
    description: 'Tells the current time.',
    parameters: { type: 'object', properties: {} },
  }
  const flat = [{ type: 'function', ...clock }]
  const nested = [{ type: 'function', function: clock }]
  const content = 'What time is it?'
  const messages = [{ role: 'user', content }]
  const called = async (path: string, body: object) => {
    const headers = { 'content-type': 'application/json' }
    const response = await fetch(url + path, { method: 'POST', headers, body: JSON.stringify(body) })
    return response.text()
  }
  for (const model of [
    'openai/gpt-5.6',
    'anthropic/claude-opus-5',
    'mistral/mistral-large-latest',
    'ollama/llama3.2',
  ]) {
    const answers = [
      await called('/v1/responses', { model, input: content, tools: nested }),
      await called('/v1/chat/completions', { model, messages, tools: flat }),
      await called('/mistral/v1/chat/completions', { model, messages, tools: flat }),
      await called('/ollama/api/chat', { model, messages, tools: flat, stream: false }),
    ]
    for (const answer of answers) assert.match(answer, /function_call|tool_calls/, model)
  }
})

test('slashes at the end of a path, and two in a row, do not matter', async (t) => {
  const { url } = await clients(t)
  const model = 'mistral/mistral-large-latest'
  const messages = [{ role: 'user', content: 'Hello' }]
  const requests: [path: string, body?: object][] = [
    ['/v1/chat/completions/', { model, messages }],
    ['/v1//chat/completions', { model, messages }],
    ['//v1/messages', { model, messages, max_tokens: 100 }],
    ['/responses/', { model, input: 'Hello' }],
    ['/v1beta/models/mistral/mistral-large-latest:generateContent/', { contents: [{ parts: [{ text: 'Hello' }] }] }],
    ['/ollama/api/chat/', { model, messages }],
    ['/v1/models/'],
    ['/api/tags/'],
  ]
  for (const [path, body] of requests) {
    const headers = { 'content-type': 'application/json' }
    const response = await fetch(url + path, body ? { method: 'POST', headers, body: JSON.stringify(body) } : {})
    assert.equal(response.status, 200, `${path}: ${await response.text()}`)
  }
})

test('a completion has the fields that stricter clients than OpenAI’s require', async (t) => {
  const { openai } = await clients(t)
  const messages = [{ role: 'user' as const, content: 'Hello' }]
  const { system_fingerprint } = await openai.chat.completions.create({ model: 'anthropic/claude-opus-5', messages })
  // OpenRouter's.
  assert.equal(typeof system_fingerprint, 'string')
})

test('lists and errors under /v1 have the format of the API that the client speaks', async (t) => {
  const { url } = await clients(t)
  const anthropic = { headers: { 'anthropic-version': '2023-06-01' } }
  const google = { headers: { 'x-goog-api-key': 'any' } }
  for (const base of ['/v1', '/ollama/v1']) {
    const openai = await fetch(`${url}${base}/models`)
    assert.partialDeepStrictEqual(await openai.json(), { object: 'list' })
    const listed = await fetch(`${url}${base}/models`, anthropic)
    assert.partialDeepStrictEqual(await listed.json(), { has_more: false })
    const unknown = await fetch(`${url}${base}/nothing`, anthropic)
    assert.equal(unknown.status, 404)
    assert.partialDeepStrictEqual(await unknown.json(), { type: 'error', error: { type: 'not_found_error' } })
    const models = await fetch(`${url}${base}/models`, google)
    assert.partialDeepStrictEqual(await models.json(), {
      models: [{ supportedGenerationMethods: ['generateContent'] }],
    })
    const files = await fetch(`${url}${base}/files`, google)
    assert.equal(files.status, 404)
    assert.partialDeepStrictEqual(await files.json(), { error: { code: 404, status: 'NOT_FOUND' } })
  }
})

test('a Gemini client may name the model of another provider with or without `models/`', async (t) => {
  const { url, emulator } = await clients(t)
  const bases = ['/v1beta/models', '/v1beta', '/google/v1beta', '/google/v1beta/models', '/google']
  for (const base of bases) {
    for (const method of ['generateContent', 'streamGenerateContent', 'countTokens']) {
      const response = await fetch(`${url}${base}/anthropic/claude-opus-5:${method}?alt=sse`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ contents: [{ role: 'user', parts: [{ text: 'Hello' }] }] }),
      })
      assert.equal(response.status, 200, `${base} ${method}: ${await response.text()}`)
      assert.equal(emulator.requests.at(-1)?.path, '/anthropic/v1/messages', base)
    }
  }
})
