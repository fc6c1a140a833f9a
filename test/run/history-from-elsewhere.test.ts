// Conversations that begin with messages or transcripts of other tools.

import assert from 'node:assert/strict'
import test from 'node:test'
import type { Json } from '../../src/core/json.ts'
import type { Message } from '../../src/core/message.ts'
import { openStore, openSynapse, readTranscript } from '../../src/index.ts'
import { start } from './chatting.ts'

const chatMessages: Json[] = [
  { role: 'user', content: 'My name is Ada.' },
  { role: 'assistant', content: 'Hello Ada!' },
]

test('a conversation can begin with messages, and continues on any provider', async () => {
  const { messages } = readTranscript(chatMessages)
  const { synapse, emulator } = await start({ model: 'anthropic' })
  const chat = await synapse.start({ model: 'google', messages })
  assert.deepEqual(
    (await chat.history()).map(({ message }) => message),
    messages,
  )
  assert.equal((await chat.send('What is my name?').ended).outcome, 'done')
  assert.match(JSON.stringify(emulator.requests.at(-1)?.body), /My name is Ada\./)
})

test('a transcript in a known format is read, with its system prompt and its title', async () => {
  const { synapse } = await start({ model: 'anthropic' })
  const request = { model: 'claude-opus-5', system: 'You are Alice.', messages: chatMessages, max_tokens: 100 }
  for (const transcript of [request, JSON.stringify(request)]) {
    const chat = await synapse.start({ model: 'mistral', transcript })
    const { settings, title, entries } = await chat.info()
    assert.deepEqual([settings, title, entries], [{ model: 'mistral', system: 'You are Alice.' }, 'My name is Ada.', 2])
    assert.match(JSON.stringify((await chat.inspect()).body), /You are Alice/)
  }
  const own = await synapse.start({ model: 'mistral', transcript: request, system: 'You are Bob.' })
  assert.equal((await own.info()).settings['system'], 'You are Bob.')
})

test('a call that a transcript leaves open is never run', async () => {
  const { synapse } = await start({ model: 'anthropic' })
  let runs = 0
  const wipe = { name: 'wipe', input: { type: 'object' }, run: () => ++runs }
  const call = { id: 'a', type: 'function', function: { name: 'wipe', arguments: '{}' } }
  const transcript = [...chatMessages, { role: 'user', content: 'Wipe.' }, { role: 'assistant', tool_calls: [call] }]
  const chat = await synapse.start({ model: 'openai', transcript, tools: [wipe] })
  await chat.resume().ended
  await chat.send('Hello!').ended
  assert.equal(runs, 0)
})

test('an invalid message or transcript, or both, is refused, and leaves no conversation', async () => {
  const synapse = await openSynapse({ offline: true })
  const model = 'anthropic'
  const wrong = [{ role: 'user', content: 'Hi' }] as unknown as Message[]
  await assert.rejects(synapse.start({ model, messages: wrong }), /^SynapseError: messages\[0\]\.parts: must be a list/)
  await assert.rejects(synapse.start({ model, transcript: 'Hi' }), /This is not JSON/)
  await assert.rejects(synapse.start({ model, transcript: [], messages: [] }), /not both/)
  assert.deepEqual((await synapse.conversations()).items, [])
})

test('messages can be appended without asking a model', async () => {
  const { chat, emulator } = await start({ model: 'anthropic' })
  const said: Message = { role: 'user', parts: [{ type: 'text', text: 'My name is Ada.' }] }
  const [entry] = await chat.append(said)
  assert.equal(emulator.requests.length, 0)
  assert.equal((await chat.info()).head, entry?.id)
  await assert.rejects(chat.append({ role: 'robot' } as unknown as Message), /messages\[0\]\.role: must be/)
})

test('conversations are listed page by page', async () => {
  const synapse = await openSynapse({ offline: true })
  const made = new Set<string>()
  for (let i = 0; i < 7; i++) made.add((await synapse.start({ model: 'anthropic' })).id)
  const seen: string[] = []
  for (let cursor: string | undefined, pages = 0; pages < 3; pages++) {
    const { items, next } = await synapse.conversations({ limit: 3, ...(cursor !== undefined && { cursor }) })
    seen.push(...items.map(({ id }) => id))
    assert.equal(next === undefined, pages === 2)
    cursor = next
  }
  assert.deepEqual(new Set(seen), made)
  assert.equal(seen.length, 7)
})

test('a given store stays open, and several may share it', async () => {
  const store = await openStore()
  const tenants = await Promise.all(['a', 'b'].map((owner) => openSynapse({ store, owner, offline: true })))
  for (const tenant of tenants) await tenant.start({ model: 'anthropic' })
  await tenants[0]?.close()
  assert.equal((await tenants[1]?.conversations())?.items.length, 1)
  await store.close()
})

test('the estimate of a count is that of the request', async () => {
  const { chat } = await start({ model: 'anthropic/claude-opus-5', tools: [] })
  await chat.send('What is my name?').ended
  await chat.append({ role: 'user', parts: [{ type: 'text', text: 'And now?' }] })
  assert.equal((await chat.count()).estimate, (await chat.inspect()).estimate.input)
})
