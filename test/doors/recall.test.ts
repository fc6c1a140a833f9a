// What was folded is read again through a front door: the server answers `recall`, and unchanged clients never see it.

import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import Anthropic from '@anthropic-ai/sdk'
import { GoogleGenAI, type Content } from '@google/genai'
import { Ollama, type Message as OllamaMessage } from 'ollama'
import OpenAI from 'openai'
import type { Message } from '../../src/core/message.ts'
import type { EmulatorOptions } from '../../src/testing.ts'
import { serving, type Serving } from '../server/serving.ts'

const model = 'google/gemini-3-flash-preview'
const policy = { maxToolTurns: 1, step: 1 }
const schema = { type: 'object' as const, properties: { path: { type: 'string' as const } } }
const contentOf = (path: string) => `secret_of_${path} ${'word '.repeat(400)}`
const recallIt = 'use the tool recall with {"id":"2"}'

type Say = (text: string) => Promise<{ text: string; calls: string[]; body: unknown }>

interface Client {
  /** One request with everything said so far and these words; calls are answered until there are none. */
  say: Say
  /** All that the client has got. */
  got: unknown[]
}

function chatClient(url: string, stream: boolean): Client {
  const openai = new OpenAI({ apiKey: 'any', baseURL: `${url}/v1`, maxRetries: 0 })
  const messages: OpenAI.ChatCompletionMessageParam[] = []
  const tools: OpenAI.ChatCompletionTool[] = [{ type: 'function', function: { name: 'read', parameters: schema } }]
  const got: unknown[] = []
  const say: Say = async (words) => {
    messages.push({ role: 'user', content: words })
    const calls: string[] = []
    for (;;) {
      const body = stream
        ? await openai.chat.completions.stream({ model, messages, tools, stream: true }).finalChatCompletion()
        : await openai.chat.completions.create({ model, messages, tools })
      got.push(body)
      const message = body.choices[0]?.message
      assert.ok(message)
      messages.push(message)
      for (const call of message.tool_calls ?? []) {
        assert.ok(call.type === 'function')
        calls.push(call.function.name)
        const { path } = JSON.parse(call.function.arguments) as { path: string }
        messages.push({ role: 'tool', tool_call_id: call.id, content: contentOf(path) })
      }
      if (!message.tool_calls?.length) return { text: message.content ?? '', calls, body }
    }
  }
  return { say, got }
}

function anthropicClient(url: string, stream: boolean): Client {
  const anthropic = new Anthropic({ apiKey: 'any', baseURL: url, maxRetries: 0 })
  const messages: Anthropic.MessageParam[] = []
  const tools: Anthropic.Tool[] = [{ name: 'read', input_schema: schema }]
  const got: unknown[] = []
  const say: Say = async (words) => {
    messages.push({ role: 'user', content: words })
    const calls: string[] = []
    for (;;) {
      const request = { model, messages, tools, max_tokens: 4000 }
      const body = stream
        ? await anthropic.messages.stream(request).finalMessage()
        : await anthropic.messages.create(request)
      got.push(body)
      messages.push({ role: 'assistant', content: body.content })
      const uses = body.content.filter((block) => block.type === 'tool_use')
      const results = uses.map((use): Anthropic.ToolResultBlockParam => {
        calls.push(use.name)
        return { type: 'tool_result', tool_use_id: use.id, content: contentOf((use.input as { path: string }).path) }
      })
      if (results.length > 0) messages.push({ role: 'user', content: results })
      const text = body.content.map((block) => (block.type === 'text' ? block.text : '')).join('')
      if (uses.length === 0) return { text, calls, body }
    }
  }
  return { say, got }
}

function responsesClient(url: string, stream: boolean): Client {
  const openai = new OpenAI({ apiKey: 'any', baseURL: `${url}/v1`, maxRetries: 0 })
  const tools: OpenAI.Responses.Tool[] = [{ type: 'function', name: 'read', parameters: schema, strict: false }]
  const got: unknown[] = []
  let previous: string | undefined
  const say: Say = async (words) => {
    let input: OpenAI.Responses.ResponseInput = [{ role: 'user', content: words }]
    const calls: string[] = []
    for (;;) {
      const request = { model, input, tools, ...(previous !== undefined && { previous_response_id: previous }) }
      const body = stream
        ? await openai.responses.stream(request).finalResponse()
        : await openai.responses.create(request)
      got.push(body, await openai.responses.retrieve(body.id))
      got.push((await openai.responses.inputItems.list(body.id, { limit: 100 })).data)
      previous = body.id
      const uses = body.output.flatMap((item) => (item.type === 'function_call' ? [item] : []))
      input = uses.map(({ name, call_id, arguments: args }) => {
        calls.push(name)
        const output = contentOf((JSON.parse(args) as { path: string }).path)
        return { type: 'function_call_output' as const, call_id, output }
      })
      if (uses.length === 0) return { text: body.output_text, calls, body }
    }
  }
  return { say, got }
}

async function all<T>(stream: AsyncIterable<T>): Promise<T[]> {
  const items: T[] = []
  for await (const item of stream) items.push(item)
  return items
}

function geminiClient(url: string, stream: boolean): Client {
  const google = new GoogleGenAI({ apiKey: 'any', httpOptions: { baseUrl: url } })
  const contents: Content[] = []
  const config = { tools: [{ functionDeclarations: [{ name: 'read', parametersJsonSchema: schema }] }] }
  const got: unknown[] = []
  const say: Say = async (words) => {
    contents.push({ role: 'user', parts: [{ text: words }] })
    const calls: string[] = []
    for (;;) {
      const request = { model, contents, config }
      const answers = stream
        ? await all(await google.models.generateContentStream(request))
        : [await google.models.generateContent(request)]
      const parts = answers.flatMap(({ candidates }) => candidates?.[0]?.content?.parts ?? [])
      got.push(parts)
      contents.push({ role: 'model', parts })
      const uses = parts.flatMap(({ functionCall }) => (functionCall ? [functionCall] : []))
      const results = uses.map(({ id, name = '', args }) => {
        calls.push(name)
        const response = { output: contentOf(String(args?.['path'])) }
        return { functionResponse: { name, response, ...(id !== undefined && { id }) } }
      })
      if (results.length > 0) contents.push({ role: 'user', parts: results })
      const text = parts.map((part) => (part.thought ? '' : (part.text ?? ''))).join('')
      if (uses.length === 0) return { text, calls, body: parts }
    }
  }
  return { say, got }
}

function ollamaClient(url: string, stream: boolean): Client {
  const ollama = new Ollama({ host: `${url}/ollama` })
  const messages: OllamaMessage[] = []
  const tools = [{ type: 'function', function: { name: 'read', description: 'Reads.', parameters: schema } }]
  const got: unknown[] = []
  const say: Say = async (words) => {
    messages.push({ role: 'user', content: words })
    const calls: string[] = []
    for (;;) {
      const pieces = stream
        ? await all(await ollama.chat({ model, messages, tools, stream: true }))
        : [await ollama.chat({ model, messages, tools })]
      const content = pieces.map(({ message }) => message.content).join('')
      const uses = pieces.flatMap(({ message }) => message.tool_calls ?? [])
      got.push(pieces)
      messages.push({ role: 'assistant', content, ...(uses.length > 0 && { tool_calls: uses }) })
      for (const { function: use } of uses) {
        calls.push(use.name)
        messages.push({ role: 'tool', tool_name: use.name, content: contentOf(String(use.arguments['path'])) })
      }
      if (uses.length === 0) return { text: content, calls, body: pieces }
    }
  }
  return { say, got }
}

const clients = {
  'chat completions': chatClient,
  messages: anthropicClient,
  responses: responsesClient,
  Gemini: geminiClient,
  Ollama: ollamaClient,
}

/** The only conversation, as it is stored. */
async function stored({ store }: Serving): Promise<{ roles: string[]; text: string }> {
  const { items } = await store.conversations('local')
  assert.equal(items.length, 1)
  const path = await store.history('local', items[0]?.head ?? '')
  return { roles: path.map(({ message }) => message.role), text: JSON.stringify(path.map(({ message }) => message)) }
}

async function opened(t: TestContext, emulation: EmulatorOptions = {}): Promise<Serving> {
  return serving(t, { defaultPolicy: policy, emulation })
}

for (const [name, clientAt] of Object.entries(clients)) {
  for (const stream of [false, true]) {
    const how = `${name}${stream ? ', streamed' : ''}`

    test(`folded results are recalled by the server, and the client sees only the answer: ${how}`, async (t) => {
      const server = await opened(t)
      const { say, got } = clientAt(server.url, stream)
      for (const path of ['a.ts', 'b.ts', 'c.ts']) await say(`use the tool read with {"path":"${path}"}`)
      const { text, calls } = await say(recallIt)
      assert.match(text, /secret_of_a\.ts/)
      assert.deepEqual(calls, [])
      const next = await say('use the tool read with {"path":"d.ts"}')
      assert.deepEqual(next.calls, ['read'])
      assert.doesNotMatch(JSON.stringify(got), /"name":"recall"/)
      const { roles, text: log } = await stored(server)
      const turn = ['user', 'assistant', 'tool', 'assistant']
      assert.deepEqual(roles, [...turn, ...turn, ...turn, ...turn, ...turn])
      assert.match(log, /"name":"recall"/)
    })
  }

  test(`a reply with a client call and recall is answered by both: ${name}`, async (t) => {
    const server = await opened(t, { reply: both })
    const { say, got } = clientAt(server.url, true)
    for (const path of ['a.ts', 'b.ts', 'c.ts']) await say(`use the tool read with {"path":"${path}"}`)
    const { calls, text } = await say('Compare them.')
    assert.deepEqual(calls, ['read'])
    assert.equal(text, 'Compared.')
    await say('Thank you.')
    assert.doesNotMatch(JSON.stringify(got), /"name":"recall"/)
    const { roles } = await stored(server)
    const turn = ['user', 'assistant', 'tool', 'assistant']
    const mixed = ['user', 'assistant', 'tool', 'tool', 'assistant']
    assert.deepEqual(roles, [...turn, ...turn, ...turn, ...mixed, 'user', 'assistant'])
  })
}

const both: NonNullable<EmulatorOptions['reply']> = ({ messages }) => {
  const last = messages.at(-1)
  const [part] = last?.parts ?? []
  const asked = part?.type === 'text' ? part.text : ''
  const path = /"path":"([^"]+)"/.exec(asked)?.[1]
  const read = (file: string) => ({ type: 'tool-call' as const, callId: '', name: 'read', input: { path: file } })
  if (path !== undefined) return { parts: [read(path)] }
  if (asked === 'Compare them.') {
    const recall = { type: 'tool-call' as const, callId: '', name: 'recall', input: { id: '2' } }
    return { parts: [{ type: 'text', text: 'I look at both. ' }, recall, read('c.ts')] }
  }
  return { parts: [{ type: 'text', text: last?.role === 'tool' && isAfterRecall(messages) ? 'Compared.' : 'Fine.' }] }
}

function isAfterRecall(messages: readonly Message[]): boolean {
  return messages.some(({ parts }) => parts.some((part) => part.type === 'tool-call' && part.name === 'recall'))
}

test('a model that only recalls gets no more than a few answers, and then has to reply', async (t) => {
  const server = await opened(t, {
    reply: ({ messages, tools }) => {
      const canRecall = (tools ?? []).some(({ name }) => name === 'recall')
      const words = messages.at(-1)?.parts[0]
      if (words?.type === 'text' && words.text.includes('read')) {
        const path = /"path":"([^"]+)"/.exec(words.text)?.[1] ?? ''
        return { parts: [{ type: 'tool-call', callId: '', name: 'read', input: { path } }] }
      }
      const isAsked = messages.some(({ parts }) => parts.some((part) => part.type === 'text' && part.text === 'Look.'))
      if (canRecall && isAsked)
        return { parts: [{ type: 'tool-call', callId: '', name: 'recall', input: { id: '2' } }] }
      return { parts: [{ type: 'text', text: 'I give up.' }] }
    },
  })
  const { say } = chatClient(server.url, false)
  for (const path of ['a.ts', 'b.ts', 'c.ts']) await say(`use the tool read with {"path":"${path}"}`)
  const { text, calls } = await say('Look.')
  assert.equal(text, 'I give up.')
  assert.deepEqual(calls, [])
})

test('a client tool with that name is left to the client', async (t) => {
  const server = await opened(t)
  const openai = new OpenAI({ apiKey: 'any', baseURL: `${server.url}/v1`, maxRetries: 0 })
  const tools: OpenAI.ChatCompletionTool[] = [{ type: 'function', function: { name: 'recall', parameters: {} } }]
  const messages = [{ role: 'user' as const, content: recallIt }]
  const { choices } = await openai.chat.completions.create({ model, messages, tools })
  const call = choices[0]?.message.tool_calls?.[0]
  assert.equal(call?.type === 'function' && call.function.name, 'recall')
})
