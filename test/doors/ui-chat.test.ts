// The transport of `useChat` (AI SDK), unchanged, on a server of ours.

import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { AbstractChat, DefaultChatTransport, lastAssistantMessageIsCompleteWithApprovalResponses } from 'ai'
import type { ChatState, ChatStatus, UIMessage } from 'ai'
import { Ollama } from 'ollama'
import type { Log } from '../../src/server/log.ts'
import { createKey } from '../../src/server/keys.ts'
import { openMemoryStore } from '../../src/store/memory.ts'
import { gate, serving, type Serving, type ServingOptions } from '../server/serving.ts'

class State implements ChatState<UIMessage> {
  status: ChatStatus = 'ready'
  error: Error | undefined = undefined
  messages: UIMessage[] = []
  pushMessage = (message: UIMessage) => void this.messages.push(message)
  popMessage = () => void this.messages.pop()
  replaceMessage = (index: number, message: UIMessage) => void this.messages.splice(index, 1, message)
  snapshot = <T>(thing: T): T => structuredClone(thing)
}

/** What `useChat` is without React. */
class Chat extends AbstractChat<UIMessage> {}

function chatAt({ url }: Serving, id = 'chat-1', before: UIMessage[] = []): Chat {
  const state = new State()
  state.messages = before
  return new Chat({
    id,
    state,
    transport: new DefaultChatTransport({ api: `${url}/api/chat`, headers: { 'user-agent': 'my-app/1.0' } }),
    sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithApprovalResponses,
    onError: (error) => {
      throw error
    },
  })
}

async function opened(t: TestContext, options: ServingOptions = {}) {
  const server = await serving(t, options)
  return { ...server, chat: chatAt(server) }
}

function textOf(message: UIMessage | undefined): string {
  return (message?.parts ?? []).map((part) => (part.type === 'text' ? part.text : '')).join('')
}

async function branchesOf({ store }: Serving): Promise<{ id: string; roles: string[] }[]> {
  const { items } = await store.conversations('local')
  return Promise.all(
    items.map(async ({ id, head }) => {
      const path = head === null ? [] : await store.history('local', head)
      return { id, roles: path.map(({ message }) => message.role) }
    }),
  )
}

test('a chat is one conversation, with the tools of the server', async (t) => {
  const server = await opened(t)
  const { chat } = server
  await chat.sendMessage({ text: 'What is 1 + 1?' })
  assert.match(textOf(chat.messages.at(-1)), /1 \+ 1 = 2/)
  await chat.sendMessage({ text: 'What time is it?' })
  const last = chat.messages.at(-1)
  assert.ok(last?.parts.some((part) => part.type === 'dynamic-tool' && part.state === 'output-available'))
  assert.match(textOf(last), /12:00/)
  const [only, ...others] = await branchesOf(server)
  assert.deepEqual(only?.roles, ['user', 'assistant', 'user', 'assistant', 'tool', 'assistant'])
  assert.deepEqual(others, [])
})

test('a regenerated answer is an alternative to the first, and an edited message starts a branch', async (t) => {
  const server = await opened(t)
  const { chat, store } = server
  await chat.sendMessage({ text: 'What is 1 + 1?' })
  await chat.sendMessage({ text: 'What is 2 + 2?' })
  await chat.regenerate()
  assert.match(textOf(chat.messages.at(-1)), /2 \+ 2 = 4/)
  assert.equal(chat.messages.length, 4)
  const [one] = await branchesOf(server)
  assert.deepEqual(one?.roles, ['user', 'assistant', 'user', 'assistant'])
  assert.equal((await store.branches('local', one?.id ?? '')).length, 2)
  await chat.sendMessage({ text: 'What is 3 + 3?', messageId: chat.messages[2]?.id ?? '' })
  assert.match(textOf(chat.messages.at(-1)), /3 \+ 3 = 6/)
  assert.equal((await store.branches('local', one?.id ?? '')).length, 3)
  const path = await branchesOf(server)
  assert.deepEqual(path[0]?.roles, ['user', 'assistant', 'user', 'assistant'])
})

test('a page that is opened again in the middle of an answer gets all of it', async (t) => {
  const { between, open, held } = gate(2)
  const reading = Promise.withResolvers<void>()
  const log: Log = ({ path }) => path === '/api/chat/chat-1/stream' && reading.resolve()
  const server = await opened(t, { between, log })
  const { chat } = server
  const sent = chat.sendMessage({ text: 'Please tell me about the sea.' })
  await held
  const other = chatAt(server, 'chat-1', [...chat.messages])
  const read = other.resumeStream()
  await reading.promise
  open()
  await Promise.all([sent, read])
  assert.ok(textOf(chat.messages.at(-1)).length > 10)
  assert.equal(textOf(other.messages.at(-1)), textOf(chat.messages.at(-1)))
  const nothing = await server.api('GET', '/api/chat/chat-1/stream')
  assert.equal(nothing.status, 204)
})

/** Later requests pass. */
function onlyFirst(between: ServingOptions['between'] & {}): ServingOptions['between'] & {} {
  let count = 0
  return (next) => {
    const held = between(next)
    return (input, init) => (count++ === 0 ? held : next)(input, init)
  }
}

for (const how of ['sent', 'edited', 'regenerated'] as const) {
  test(`an answer that the client has stopped does not hold up the next one: ${how}`, async (t) => {
    const { between, held } = gate(8)
    const server = await opened(t, { between: onlyFirst(between) })
    const { chat, store } = server
    const sent = chat.sendMessage({ text: 'Tell me about the sea.' })
    await held
    await chat.stop()
    await sent
    if (how === 'regenerated') await chat.regenerate()
    else {
      const messageId = how === 'edited' ? chat.messages[0]?.id : undefined
      await chat.sendMessage({ text: 'What is 2 + 2?', ...(messageId !== undefined && { messageId }) })
    }
    assert.equal(chat.status, 'ready')
    assert.match(textOf(chat.messages.at(-1)), how === 'regenerated' ? /Tell me about the sea/ : /2 \+ 2 = 4/)
    const [one] = (await store.conversations('local')).items
    const { items } = await store.exchanges('local', one?.id ?? '')
    assert.deepEqual(items.map(({ outcome }) => outcome).toSorted(), ['cancelled', 'done'])
  })
}

const isAnswered =
  /^This conversation is still being answered: wait for that answer, or cancel its run [0-9a-f-]{36}\.$/

test('an answer that another tab reads is not stopped by a message, and the page shows why that is refused', async (t) => {
  const { between, open, held } = gate(2)
  const server = await opened(t, { between })
  const sent = server.chat.sendMessage({ text: 'count to 50' })
  await held
  const other = chatAt(server, 'chat-1', [...server.chat.messages])
  await assert.rejects(other.sendMessage({ text: 'Hello' }), { statusCode: 409, message: isAnswered })
  open()
  await sent
  assert.match(textOf(server.chat.messages.at(-1)), /49 50/)
})

test('of two messages at the same time one is answered, and the other is refused in the same words', async (t) => {
  const store = openMemoryStore()
  const server = await opened(t, { store })
  await server.chat.sendMessage({ text: 'Hello' })
  const appendAll = store.appendAll.bind(store)
  const { promise: bothAreThere, resolve } = Promise.withResolvers<void>()
  let count = 0
  store.appendAll = async (...args) => {
    if (++count === 2) resolve()
    await bothAreThere
    return appendAll(...args)
  }
  const both = [0, 1].map(() => chatAt(server, 'chat-1', [...server.chat.messages]))
  const sent = await Promise.allSettled(both.map((chat) => chat.sendMessage({ text: 'What is 1 + 1?' })))
  const [refused, ...others] = sent.flatMap((one) => (one.status === 'rejected' ? [String(one.reason.message)] : []))
  assert.match(`${refused}`, isAnswered)
  assert.deepEqual(others, [])
})

test('the page shows a sentence for every error, also for one of its key', async (t) => {
  const store = openMemoryStore()
  const { key } = await createKey(store, {})
  const server = await serving(t, { store, requireKeys: true })
  await assert.rejects(chatAt(server).sendMessage({ text: 'Hello' }), { statusCode: 401, message: /^[A-Z][^{}]+\.$/ })
  const { status, headers, text } = await server.api('POST', '/api/chat', {}, { authorization: `Bearer ${key}` })
  assert.equal(status, 400)
  assert.equal(headers.get('content-type'), 'text/plain; charset=utf-8')
  assert.match(text, /^The body is not valid: /)
})

test('a call that waits for a person is continued with the answer', async (t) => {
  const tool = {
    name: 'clock',
    description: 'Tells the current time.',
    input: { type: 'object' as const, properties: {} },
    ask: true,
    run: () => ({ time: '12:00' }),
  }
  const { chat } = await opened(t, { tools: [tool] })
  await chat.sendMessage({ text: 'What time is it?' })
  const waiting = chat.messages.at(-1)?.parts.find((part) => part.type === 'dynamic-tool')
  assert.equal(waiting?.state, 'approval-requested')
  const id = waiting?.state === 'approval-requested' ? waiting.approval.id : ''
  const count = chat.messages.length
  await chat.addToolApprovalResponse({ id, approved: true })
  const { promise: ready, resolve } = Promise.withResolvers<void>()
  const look = setInterval(() => chat.status === 'ready' && textOf(chat.messages.at(-1)) !== '' && resolve(), 10)
  await ready
  clearInterval(look)
  assert.match(textOf(chat.messages.at(-1)), /12:00/)
  assert.equal(chat.messages.length, count)
})

test('a chat of one owner is not that of another', async (t) => {
  const store = openMemoryStore()
  const [ann, ben] = [await createKey(store, { owner: 'ann' }), await createKey(store, { owner: 'ben' })]
  const { api } = await serving(t, { store, requireKeys: true })
  const body = { id: 'chat', messages: [{ id: 'm', role: 'user', parts: [{ type: 'text', text: 'Hello' }] }] }
  for (const { key } of [ann, ben]) {
    assert.equal((await api('POST', '/api/chat', body, { authorization: `Bearer ${key}` })).status, 200)
  }
  assert.equal((await api('POST', '/api/chat', body)).status, 401)
  assert.equal((await store.conversations('ann')).items.length, 1)
  assert.equal((await store.conversations('ben')).items.length, 1)
})

test('an Ollama client may have the server for its host', async (t) => {
  const { url, store } = await serving(t)
  const ollama = new Ollama({ host: url })
  const messages = [{ role: 'user', content: 'What is 1 + 1?' }]
  const { message } = await ollama.chat({ model: 'anthropic/claude-opus-5', messages })
  assert.match(message.content, /1 \+ 1 = 2/)
  assert.ok((await ollama.list()).models.length > 0)
  assert.equal((await store.conversations('local')).items.length, 1)
})
