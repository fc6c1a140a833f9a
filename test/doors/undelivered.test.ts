// An answer that was complete but did not reach its client is given to the client that asks again.

import assert from 'node:assert/strict'
import test from 'node:test'
import { setImmediate } from 'node:timers/promises'
import OpenAI from 'openai'
import { trackDelivery } from '../../src/server/doors/undelivered.ts'
import type { Store } from '../../src/store/store.ts'
import { openMemoryStore } from '../../src/store/memory.ts'
import { gate, serving, type ServingOptions } from '../server/serving.ts'
import { testRetriesOfLost } from './lost-answers.ts'

const headers = { 'content-type': 'application/json' }

/** What the next request of the same kind gets, whose client leaves again. */
async function given(store: Store, owner: string) {
  const next = trackDelivery(store, owner, 'key')
  try {
    return await next.earlier()
  } finally {
    next.lost()
  }
}

test('an answer is found again by its owner once its client is gone, until it was delivered', async () => {
  const store = openMemoryStore()
  const { id: conversationId } = await store.createConversation('a')
  const about = { conversationId, entryId: 'e', exchangeId: 'x', replyId: 'r' }
  const first = trackDelivery(store, 'a', 'key')
  await store.putRecords([first.record(about)])
  assert.equal(await given(store, 'a'), undefined, 'it is still on its way')
  first.lost()
  assert.equal(await given(store, 'b'), undefined, 'another owner')
  assert.deepEqual(await given(store, 'a'), about)
  const [again, another] = [trackDelivery(store, 'a', 'key'), trackDelivery(store, 'a', 'key')]
  assert.deepEqual(await Promise.all([again.earlier(), another.earlier()]), [undefined, undefined], 'whose is it?')
  another.lost()
  assert.deepEqual(await again.earlier(), about, 'the client before has not received it either')
  again.done()
  assert.equal(await given(store, 'a'), undefined, 'it is being forgotten')
  await setImmediate()
  assert.equal(await given(store, 'a'), undefined, 'it was delivered')
})

test('an answer that was delivered is not returned while it is being forgotten', async () => {
  const store = openMemoryStore()
  const { id: conversationId } = await store.createConversation('a')
  const slow: Store = {
    ...store,
    async deleteRecord(...args) {
      await setImmediate()
      return store.deleteRecord(...args)
    },
  }
  const delivery = trackDelivery(slow, 'a', 'key')
  await store.putRecords([delivery.record({ conversationId, entryId: 'e', exchangeId: 'x', replyId: 'r' })])
  delivery.done()
  assert.equal(await given(store, 'a'), undefined)
  await setImmediate()
  await setImmediate()
  assert.equal(await store.record('a', 'door-answer', 'key'), undefined)
})

test('of two answers to the same request, one that was delivered is not returned, and the other one is', async () => {
  const store = openMemoryStore()
  const { id: conversationId } = await store.createConversation('a')
  const about = (exchangeId: string) => ({ conversationId, entryId: 'e', exchangeId, replyId: 'r' })
  const [one, two] = [trackDelivery(store, 'a', 'key'), trackDelivery(store, 'a', 'key')]
  await store.putRecords([one.record(about('first'))])
  one.done()
  one.lost()
  await setImmediate()
  assert.equal(await given(store, 'a'), undefined, 'the other one is still on its way')
  await store.putRecords([two.record(about('second'))])
  const three = trackDelivery(store, 'a', 'key')
  three.done()
  await setImmediate()
  assert.equal(await given(store, 'a'), undefined, 'it is still on its way')
  two.lost()
  assert.deepEqual(await given(store, 'a'), about('second'))
})

test('a delivered answer is not returned again', async (t) => {
  const { url, emulator } = await serving(t)
  const asked = JSON.stringify({ model: 'mistral/mistral-large-latest', input: 'Hi' })
  for (const count of [1, 2, 3]) {
    await fetch(`${url}/v1/responses`, { method: 'POST', headers, body: asked }).then((answer) => answer.text())
    assert.equal(emulator.requests.length, count)
  }
})

testRetriesOfLost(false)

/** Until the only exchange of the store is over. */
async function ended(store: Store): Promise<void> {
  for (;;) {
    const [conversation] = (await store.conversations('local')).items
    const [exchange] = (await store.exchanges('local', conversation?.id ?? '')).items
    if (exchange?.outcome === 'cancelled') return
    await setImmediate()
  }
}

for (const model of ['openai/gpt-5.6', 'anthropic/claude-opus-5']) {
  test(`an answer that its client cut off is requested again by the same request, ${model}`, async (t) => {
    const { between, held, open } = gate(6)
    const { url, emulator, store } = await serving(t, { between })
    const body = JSON.stringify({ model, input: 'Please count to 50.', stream: true })
    const cut = new AbortController()
    const answer = await fetch(`${url}/v1/responses`, { method: 'POST', headers, body, signal: cut.signal })
    await answer.body?.getReader().read()
    await held
    cut.abort()
    await ended(store)
    open()
    const again = await fetch(`${url}/v1/responses`, { method: 'POST', headers, body })
    assert.match(await again.text(), /response\.completed/)
    assert.equal(emulator.requests.length, 2)
  })
}

test('an answer whose client leaves after its last event was delivered, though the provider has not closed the stream', async (t) => {
  let requests = 0
  const between: ServingOptions['between'] = () => async () => {
    requests++
    const choice = { index: 0, delta: { content: 'Hello.' }, finish_reason: 'stop' }
    const text = `data: ${JSON.stringify({ id: 'c1', choices: [choice] })}\n\ndata: [DONE]\n\n`
    const body = new ReadableStream({ start: (controller) => controller.enqueue(Buffer.from(text)) })
    return new Response(body, { headers: { 'content-type': 'text/event-stream' } })
  }
  const { url } = await serving(t, { between })
  const openai = new OpenAI({ apiKey: 'any', baseURL: `${url}/v1`, maxRetries: 0 })
  for (const count of [1, 2, 3]) {
    const messages = [{ role: 'user' as const, content: 'Hi' }]
    for await (const chunk of await openai.chat.completions.create({ model: 'gpt-4.1', stream: true, messages }))
      assert.equal(chunk.id, 'c1')
    assert.equal(requests, count)
  }
})
