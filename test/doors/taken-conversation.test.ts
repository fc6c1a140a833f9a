// A conversation that another server begins to answer in, or has answered in, after this one has chosen it.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as after } from 'node:timers/promises'
import OpenAI from 'openai'
import type { Store } from '../../src/store/store.ts'
import { kinds, newStore, reasonToSkip } from '../crash/stores.ts'
import { openMemoryStore } from '../../src/store/memory.ts'
import { serving } from '../server/serving.ts'

const model = 'anthropic/claude-opus-5'
const locked = { status: 409, code: 'conversation_locked' }

function openaiAt(url: string, headers: Record<string, string> = {}): OpenAI {
  return new OpenAI({ apiKey: 'any', baseURL: `${url}/v1`, maxRetries: 0, defaultHeaders: headers })
}

/** A store in which something happens before the next look whether a conversation is free, which finds it free. */
function interposed(base: Store): {
  store: Store
  beforeLook(act: (conversationId: string) => Promise<unknown>): void
} {
  let next: ((conversationId: string) => Promise<unknown>) | undefined
  return {
    store: {
      ...base,
      async lease(owner, id) {
        const act = next
        next = undefined
        const lease = await base.lease(owner, id)
        await act?.(id)
        return lease
      },
    },
    beforeLook: (act) => (next = act),
  }
}

for (const kind of ['memory', ...kinds] as const) {
  const skip = reasonToSkip(kind)

  for (const stream of [false, true]) {
    const how = `${kind}${stream ? ', streamed' : ''}`
    test(`the request is answered in a copy of the conversation: ${how}`, { skip }, async (t) => {
      const { store, beforeLook } = interposed(await newStore(t, kind))
      const { url, emulator } = await serving(t, { store, emulation: { piece: 1000 } })
      const openai = openaiAt(url)
      const messages: OpenAI.ChatCompletionMessageParam[] = [{ role: 'user', content: 'My name is Ada.' }]
      const first = await openai.chat.completions.create({ model, messages }).withResponse()
      const id = first.response.headers.get('x-synapse-conversation') ?? ''
      const head = (await store.conversation('local', id))?.head
      messages.push({ role: 'assistant', content: first.data.choices[0]?.message.content ?? '' })
      messages.push({ role: 'user', content: 'What is my name?' })
      beforeLook((found) => store.takeLease('local', found, { holder: 'another server', ttlMs: 60_000 }))
      const response = await openai.chat.completions.create({ model, messages, stream }).asResponse()
      assert.match(await response.text(), /Ada/)
      const copy = response.headers.get('x-synapse-conversation') ?? ''
      assert.notEqual(copy, id)
      const end = (await store.conversation('local', copy))?.head ?? ''
      assert.deepEqual(
        (await store.history('local', end)).map(({ message }) => message.role),
        ['user', 'assistant', 'user', 'assistant'],
      )
      assert.equal((await store.conversation('local', id))?.head, head, 'nothing was written in the other')
      assert.equal((await store.exchanges('local', id)).items.length, 1)
      assert.equal(emulator.requests.length, 2)
    })
  }

  test(`a request that names the conversation is refused before anything is asked: ${kind}`, { skip }, async (t) => {
    const { store, beforeLook } = interposed(await newStore(t, kind))
    const { url, emulator } = await serving(t, { store })
    const openai = openaiAt(url)
    const { id: conversation } = await openai.conversations.create()
    beforeLook((found) => store.takeLease('local', found, { holder: 'another server', ttlMs: 60_000 }))
    await assert.rejects(openai.responses.create({ model, conversation, input: 'Hello' }), locked)
    assert.equal(emulator.requests.length, 0)
    assert.deepEqual((await openai.conversations.items.list(conversation)).data, [])
  })

  test(
    `a turn that was added while a request was read is not left out of its history: ${kind}`,
    { skip },
    async (t) => {
      const { store, beforeLook } = interposed(await newStore(t, kind))
      const { url, emulator } = await serving(t, { store })
      const openai = openaiAt(url)
      const { id: conversation } = await openai.conversations.create()
      const question = { model, conversation, input: 'What is my name?' }
      beforeLook(() => openai.responses.create({ model, conversation, input: 'My name is Ada.' }))
      await assert.rejects(openai.responses.create(question), locked)
      assert.equal(emulator.requests.length, 1)
      assert.match((await openai.responses.create(question)).output_text, /Ada/)
      assert.equal((await openai.conversations.items.list(conversation)).data.length, 4)
    },
  )
}

test('a client that leaves while its conversation is looked up gets no answer, and pays for none', async (t) => {
  const { store, beforeLook } = interposed(openMemoryStore())
  const { url, emulator } = await serving(t, { store })
  const openai = openaiAt(url)
  const messages: OpenAI.ChatCompletionMessageParam[] = [{ role: 'user', content: 'My name is Ada.' }]
  const first = await openai.chat.completions.create({ model, messages }).withResponse()
  const id = first.response.headers.get('x-synapse-conversation') ?? ''
  messages.push({ role: 'assistant', content: first.data.choices[0]?.message.content ?? '' })
  messages.push({ role: 'user', content: 'What is my name?' })
  const client = new AbortController()
  const { promise: looked, resolve } = Promise.withResolvers<void>()
  beforeLook(async () => {
    client.abort()
    await after(100)
    resolve()
  })
  await assert.rejects(openai.chat.completions.create({ model, messages }, { signal: client.signal }))
  await looked
  await after(100)
  assert.equal(emulator.requests.length, 1)
  assert.ok((await store.exchanges('local', id)).items.every(({ outcome }) => outcome !== 'open'))
})

test('a side call ends with the conversation where it was, whoever takes it next', async (t) => {
  const base = openMemoryStore()
  let isTaken = false
  const store: Store = {
    ...base,
    async releaseLease(owner, id, epoch) {
      await base.releaseLease(owner, id, epoch)
      if (isTaken) await base.takeLease(owner, id, { holder: 'another server', ttlMs: 60_000 })
    },
  }
  const { url } = await serving(t, { store })
  const openai = openaiAt(url, { 'user-agent': 'QwenCode/0.24.4' })
  const tools = [{ type: 'function' as const, function: { name: 'ls', parameters: { type: 'object' } } }]
  const messages: OpenAI.ChatCompletionMessageParam[] = [
    { role: 'system', content: 'You are an interactive agent.' },
    { role: 'user', content: 'Remember the word apple.' },
  ]
  const first = await openai.chat.completions.create({ model, messages, tools }).withResponse()
  const id = first.response.headers.get('x-synapse-conversation') ?? ''
  const head = (await store.conversation('local', id))?.head
  isTaken = true
  const side = await openai.chat.completions
    .create({
      model,
      tools,
      messages: [
        { role: 'system', content: 'You extract memories from a conversation.' },
        ...messages.slice(1),
        { role: 'assistant', content: first.data.choices[0]?.message.content ?? '' },
        { role: 'user', content: 'Extract memories.' },
      ],
    })
    .withResponse()
  assert.equal(side.response.headers.get('x-synapse-conversation'), id)
  assert.equal((await store.conversation('local', id))?.head, head)
})
