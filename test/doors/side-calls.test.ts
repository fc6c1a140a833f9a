// Requests that clients make for their own purposes: they are answered, but they are no conversations of the user.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import OpenAI from 'openai'
import { serving, type Serving } from '../server/serving.ts'

const model = 'anthropic/claude-opus-5'
const tools = [{ type: 'function' as const, function: { name: 'ls', parameters: { type: 'object' } } }]

function agentAt({ url }: Serving, agent: string): OpenAI {
  const defaultHeaders = { 'user-agent': agent }
  return new OpenAI({ apiKey: 'placeholder', baseURL: `${url}/v1`, maxRetries: 0, defaultHeaders })
}

async function listed({ api }: Serving, query = ''): Promise<string[]> {
  const { body } = await api('GET', `/api/conversations${query}`)
  return (body['items'] as { id: string }[]).map(({ id }) => id)
}

test('a title is answered and logged, but only listed under its label', async (t) => {
  const server = await serving(t)
  const openai = agentAt(server, 'opencode/1.18.33')
  const messages = [{ role: 'user' as const, content: 'Hello there' }]
  await openai.chat.completions.create({ model, messages, tools })
  const title = [{ role: 'system' as const, content: 'You are a title generator.' }, ...messages]
  const { response } = await openai.chat.completions.create({ model, messages: title }).withResponse()
  assert.equal((await listed(server)).length, 1)
  assert.equal((await server.store.conversations('local')).items.length, 2)
  assert.deepEqual(await listed(server, '?label=side-call'), [response.headers.get('x-synapse-conversation')])
})

test('the title that interactive Codex asks for with all of its tools is not listed', async (t) => {
  const server = await serving(t)
  const properties = { title: { type: 'string', minLength: 1 } }
  const schema = { type: 'object', properties, required: ['title'], additionalProperties: false }
  const request = {
    model,
    tools: [{ type: 'function' as const, name: 'shell', parameters: { type: 'object' }, strict: false }],
    input: [
      { role: 'user' as const, content: '<environment_context>\n</environment_context>' },
      { role: 'user' as const, content: 'Generate a concise, single-line task title.\n\nUser prompt:\nHello' },
    ],
    text: { format: { type: 'json_schema' as const, name: 'codex_output_schema', strict: true, schema } },
  }
  await agentAt(server, 'codex-tui/0.169.0').responses.create(request)
  assert.deepEqual(await listed(server), [])
  await agentAt(server, 'OpenAI/JS 7').responses.create(request)
  assert.equal((await listed(server)).length, 1)
})

test('a history that is first seen in a side call is continued in a conversation that is listed', async (t) => {
  const server = await serving(t)
  const openai = agentAt(server, 'GeminiCLI-tui/0.61.0/gemini-3.1-pro-preview')
  const messages: OpenAI.ChatCompletionMessageParam[] = [
    { role: 'user', content: 'What is 1 + 25?' },
    { role: 'assistant', content: 'Another service answered: 26.' },
    { role: 'user', content: 'What did I say first?' },
  ]
  const routing = [{ role: 'system' as const, content: 'You are a Task Routing AI.' }, ...messages]
  const side = await openai.chat.completions.create({ model, messages: routing }).withResponse()
  const answer = await openai.chat.completions.create({ model, messages, tools }).withResponse()
  const [sideId, id] = [side, answer].map(({ response }) => response.headers.get('x-synapse-conversation'))
  assert.notEqual(id, sideId)
  assert.deepEqual(await listed(server), [id])
})

test('a program without tools is a conversation like any other', async (t) => {
  const server = await serving(t)
  await agentAt(server, 'OpenAI/JS 7').chat.completions.create({
    model,
    messages: [{ role: 'user', content: 'Hello' }],
  })
  assert.equal((await listed(server)).length, 1)
})

test('a title that a program asks for is not listed, and a conversation about titles is', async (t) => {
  const server = await serving(t)
  const openai = agentAt(server, 'OpenAI/JS 7')
  const title = [{ role: 'user' as const, content: 'Generate a concise, 3-5 word title for this chat: Hello' }]
  await openai.chat.completions.create({ model, messages: title })
  assert.deepEqual(await listed(server), [])
  await openai.chat.completions.create({ model, messages: title, tools })
  const reply = { role: 'assistant' as const, content: 'Greetings' }
  await openai.chat.completions.create({ model, messages: [...title, reply, ...title, reply, ...title] })
  assert.equal((await listed(server)).length, 2)
})

test('an agent that reads the conversation with another task is a branch, and not where it continues', async (t) => {
  const server = await serving(t)
  const openai = agentAt(server, 'QwenCode/0.24.4')
  const main = { role: 'system' as const, content: `You are Qwen Code, an interactive agent. ${'x'.repeat(80)}` }
  const messages: OpenAI.ChatCompletionMessageParam[] = [main, { role: 'user', content: 'Remember the word apple.' }]
  const first = await openai.chat.completions.create({ model, messages, tools }).withResponse()
  const id = first.response.headers.get('x-synapse-conversation') ?? ''
  const head = (await server.store.conversation('local', id))?.head
  messages.push({ role: 'assistant', content: first.data.choices[0]?.message.content ?? '' })
  const memory: OpenAI.ChatCompletionMessageParam[] = [
    { role: 'system', content: 'You are now acting as the managed memory extraction subagent for an AI coding agent.' },
    ...messages.slice(1),
    { role: 'user', content: 'Extract memories.' },
  ]
  const side = await openai.chat.completions.create({ model, messages: memory, tools }).withResponse()
  assert.equal(side.response.headers.get('x-synapse-conversation'), id)
  assert.equal((await server.store.conversation('local', id))?.head, head)
})
