// Deleting an item of a conversation of OpenAI's API: later items stay, under their ids, wherever the server stops in
// between, and however many are deleted at once.

import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import OpenAI from 'openai'
import { reads } from '../../src/store/failpoint.ts'
import { openMemoryStore } from '../../src/store/memory.ts'
import type { Store } from '../../src/store/store.ts'
import { kinds, newStore, reasonToSkip } from '../crash/stores.ts'
import { serving } from '../server/serving.ts'

interface Failing {
  store: Store
  /** The n-th write from now on fails, before or after it was made, and so do all that follow. */
  failAt(n: number, when: 'before' | 'after'): void
  /** Writes succeed again. Returns whether one has failed. */
  recover(): boolean
}

/** A store that stops in the middle, as if its process had ended. */
function failing(base: Store): Failing {
  let left = Infinity
  let isAfter = false
  const stopped = () => new Error('The process has ended.')
  return {
    store: counted(base),
    failAt(n, when) {
      left = n
      isAfter = when === 'after'
    },
    recover() {
      const hasFailed = left <= 0
      left = Infinity
      return hasFailed
    },
  }

  function counted(store: Store): Store {
    return new Proxy(store, {
      get(target, name: keyof Store) {
        const method: unknown = target[name]
        if (name === 'within') return target.within && ((ms: number) => counted(target.within?.(ms) ?? target))
        if (typeof method !== 'function' || reads.has(name)) return method
        return async (...values: unknown[]): Promise<unknown> => {
          left--
          if (left < 0 || (left === 0 && !isAfter)) throw stopped()
          const result: unknown = await Reflect.apply(method, target, values)
          if (left === 0) throw stopped()
          return result
        }
      },
    })
  }
}

for (const kind of ['memory', ...kinds] as const) {
  const skip = reasonToSkip(kind)

  test(`a server that stops while it deletes an item leaves all of the others, ${kind}`, { skip }, async (t) => {
    const { store, failAt, recover } = failing(await newStore(t, kind))
    const { openai, id, listed } = await conversationOn(t, store)
    for (const when of ['before', 'after'] as const) {
      const items = await listed()
      const [, deleted] = items
      assert.ok(deleted?.id)
      const rest = items.filter((item) => item !== deleted)
      let tries = 0
      for (let isDone = false; !isDone; tries++) {
        failAt(tries + 1, when)
        await openai.conversations.items.delete(deleted.id, { conversation_id: id }).catch(() => {})
        isDone = !recover()
        const now = await listed()
        if (now.length === items.length) assert.deepEqual(now, items)
        else assert.deepEqual(now, rest)
      }
      assert.ok(tries > 1, 'it failed at least once')
      assert.deepEqual(await listed(), rest)
    }
  })

  test(`items that are deleted at once are all gone, and only those, ${kind}`, { skip }, async (t) => {
    const { openai, id, listed } = await conversationOn(t, await newStore(t, kind))
    const items = await listed()
    const deleted = items.filter((_, i) => i % 2 === 0)
    await Promise.all(deleted.map((item) => openai.conversations.items.delete(item.id ?? '', { conversation_id: id })))
    assert.deepEqual(
      await listed(),
      items.filter((_, i) => i % 2 === 1),
    )
  })
}

test('only the ids of items that were written again are stored, and all stay when another one is deleted', async (t) => {
  const store = openMemoryStore()
  const { openai, id, listed } = await conversationOn(t, store)
  const storedIds = async () => {
    const { items } = await store.records('local', 'door-conversation')
    return Object.values(items[0]?.data['keys'] ?? {}).length
  }
  const items = await listed()
  const remove = async (i: number) => openai.conversations.items.delete(items[i]?.id ?? '', { conversation_id: id })
  await remove(5)
  assert.equal(await storedIds(), 2, 'those of the two items after it')
  await remove(4)
  assert.equal(await storedIds(), 2)
  await remove(6)
  assert.equal(await storedIds(), 1)
  assert.deepEqual(
    await listed(),
    items.filter((_, i) => i < 4 || i === 7),
  )
})

test('calls keep their results when another item of their reply was deleted', async (t) => {
  const { url, emulator } = await serving(t)
  const openai = new OpenAI({ apiKey: 'any', baseURL: `${url}/v1`, maxRetries: 0 })
  const called = (of: string) => ({
    type: 'function_call' as const,
    call_id: `call_${of}`,
    name: 'clock',
    arguments: JSON.stringify({ of }),
  })
  const result = (of: string) => ({ type: 'function_call_output' as const, call_id: `call_${of}`, output: of })
  const places = ['1', '2', '3']
  const { id } = await openai.conversations.create({
    items: [
      { role: 'user', content: 'Three clocks.' },
      { role: 'assistant', content: 'I look.' },
      ...places.map(called),
      ...places.map(result),
    ],
  })
  const remove = async (of: (item: OpenAI.Conversations.ConversationItem) => boolean) => {
    const item = (await openai.conversations.items.list(id, { order: 'asc' })).data.find(of)
    await openai.conversations.items.delete(item?.id ?? '', { conversation_id: id })
  }
  const pairs = async () => {
    await openai.responses.create({ model: 'mistral/mistral-large-latest', conversation: id, input: 'Thanks.' })
    const sent = emulator.requests.at(-1)?.body as unknown as OpenAI.ChatCompletionCreateParams
    const { messages } = sent
    const calls = messages.flatMap((message) => ('tool_calls' in message ? (message.tool_calls ?? []) : []))
    const results = messages.filter((message) => message.role === 'tool')
    return results.map(({ tool_call_id, content }) => {
      const call = calls.find((one) => one.id === tool_call_id)
      return [call?.type === 'function' && JSON.parse(call.function.arguments), content]
    })
  }
  await remove((item) => item.type === 'message' && item.role === 'assistant')
  assert.deepEqual(await pairs(), [
    [{ of: '1' }, '1'],
    [{ of: '2' }, '2'],
    [{ of: '3' }, '3'],
  ])
  await remove((item) => item.type === 'function_call' && item.call_id === 'call_2')
  await remove((item) => item.type === 'function_call_output' && item.call_id === 'call_2')
  assert.deepEqual(await pairs(), [
    [{ of: '1' }, '1'],
    [{ of: '3' }, '3'],
  ])
})

test('items are neither added nor deleted while a model answers in the conversation', async (t) => {
  const store = openMemoryStore()
  const { openai, id, listed } = await conversationOn(t, store)
  const [conversation] = (await store.conversations('local')).items
  assert.ok(conversation)
  const { epoch } = await store.takeLease('local', conversation.id, { holder: 'another server', ttlMs: 60_000 })
  const [first] = await listed()
  const locked = { status: 409, code: 'conversation_locked' }
  await assert.rejects(openai.conversations.items.delete(first?.id ?? '', { conversation_id: id }), locked)
  await assert.rejects(openai.conversations.items.create(id, { items: [{ role: 'user', content: 'More.' }] }), locked)
  await openai.conversations.update(id, { metadata: { a: 'b' } })
  await store.releaseLease('local', conversation.id, epoch)
  await openai.conversations.items.delete(first?.id ?? '', { conversation_id: id })
  assert.equal((await listed()).length, 7)
})

/** A conversation of eight messages. */
async function conversationOn(t: TestContext, store: Store) {
  const { url } = await serving(t, { store })
  const openai = new OpenAI({ apiKey: 'any', baseURL: `${url}/v1`, maxRetries: 0 })
  const items = Array.from({ length: 8 }, (_, i) => ({ role: 'user' as const, content: `Message ${i}.` }))
  const { id } = await openai.conversations.create({ items })
  const listed = async () => (await openai.conversations.items.list(id, { order: 'asc', limit: 100 })).data
  return { openai, id, listed }
}
