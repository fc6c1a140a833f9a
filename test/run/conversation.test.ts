// What can be done with a conversation besides chatting: going back, retrying, inspecting, counting, summarising.

import assert from 'node:assert/strict'
import test from 'node:test'
import type { RunEvent } from '../../src/core/event.ts'
import { isObject } from '../../src/core/json.ts'
import { textOf } from '../../src/core/message.ts'
import type { Tool } from '../../src/core/tool.ts'
import type { Conversation } from '../../src/run/conversation.ts'
import { openMemoryStore, openSqliteStore } from '../../src/index.ts'
import { clock, collect, only, start } from './chatting.ts'

const model = 'anthropic/claude-opus-5'
const other = 'openai/gpt-5.6'

async function said(chat: Conversation): Promise<string[]> {
  return (await chat.history()).flatMap(({ message }) => (message.role === 'user' ? [textOf(message.parts)] : []))
}

test('a retry answers the same question again, on another provider if requested, and keeps the first answer', async () => {
  const { chat } = await start({ model })
  await chat.send('What time is it?').ended
  const { reply } = await chat.retry({ model: other }).ended
  assert.equal(reply?.origin.provider, 'openai')
  assert.deepEqual(await said(chat), ['What time is it?'])
  assert.equal((await chat.history()).length, 4)
  assert.equal((await chat.tree()).length, 7)
})

test('an edited message replaces the old one, with a new answer', async () => {
  const { chat } = await start({ model, tools: [] })
  await chat.send('My name is Ada.').ended
  await chat.send('What is my name?').ended
  const [first] = await chat.history()
  await chat.edit(first?.id ?? '', 'My name is Bob.').ended
  assert.deepEqual(await said(chat), ['My name is Bob.'])
  assert.match(await chat.send('What is my name?').text(), /Bob/)
  assert.equal((await chat.tree()).length, 8)
  const reply = (await chat.history()).at(-1)
  const { outcome, failure } = await chat.edit(reply?.id ?? '', 'no').ended
  assert.deepEqual([outcome, failure?.kind], ['failed', 'bad-input'])
})

test('a fork continues from an earlier entry, and a named branch can be returned to', async () => {
  const { chat } = await start({ model, tools: [] })
  await chat.send('one').ended
  const [, answer] = await chat.history()
  await chat.fork(answer?.id ?? '', { name: 'plan b' })
  await chat.send('two').ended
  await chat.fork(answer?.id ?? '')
  await chat.send('three').ended
  assert.deepEqual(await said(chat), ['one', 'three'])
  await chat.checkout('plan b')
  assert.deepEqual(await said(chat), ['one', 'two'])
  assert.deepEqual(
    (await chat.branches()).map(({ name }) => name),
    ['plan b', undefined],
  )
  await assert.rejects(chat.fork('nowhere'), /no entry nowhere/)
})

test('a message sent during a run reaches the model with its next request', async () => {
  const steering: Tool = {
    ...clock,
    run() {
      run.steer('How many messages did you get?')
      return 'noon'
    },
  }
  const { chat, emulator } = await start({ model, tools: [steering] })
  const run = chat.send('What time is it?')
  const events = await collect(run)
  assert.deepEqual(await said(chat), ['What time is it?', 'How many messages did you get?'])
  assert.deepEqual(
    only(events, 'message').map(({ entryId }) => entryId),
    (await chat.history()).slice(1).map(({ id }) => id),
    'each message that is new to the caller is reported',
  )
  assert.deepEqual(
    (await chat.history()).map(({ message }) => message.role),
    ['user', 'assistant', 'tool', 'user', 'assistant'],
  )
  assert.equal(emulator.requests.length, 2)
})

test('a run says at which message it starts: the new one, or the last', async () => {
  for (const store of [await openMemoryStore(), await openSqliteStore(':memory:')]) {
    const { chat } = await start({ model, tools: [] }, { store })
    const started = async (run: AsyncIterable<RunEvent>) => only(await collect(run), 'run-start')[0]?.entryId
    assert.equal(await started(chat.send('One.')), (await chat.history())[0]?.id)
    assert.equal(await started(chat.send('Two.')), (await chat.history())[2]?.id)
    assert.equal(await started(chat.resume()), (await chat.history())[3]?.id)
    await store.close()
  }
})

test('a message that is sent during the last reply is answered in the same run', async () => {
  const { chat, emulator } = await start({ model: 'openai/gpt-5.6', tools: [] })
  const run = chat.send('One.')
  let isSent = false
  for await (const event of run) {
    if (event.type !== 'reply-event' || isSent) continue
    isSent = true
    run.steer('Two.')
  }
  assert.equal((await run.ended).outcome, 'done')
  assert.equal(emulator.requests.length, 2)
  assert.deepEqual(
    (await chat.history()).map(({ message }) => message.role),
    ['user', 'assistant', 'user', 'assistant'],
  )
})

test('settings can change while a run continues, from the next request on', async () => {
  const changing: Tool = {
    ...clock,
    run() {
      run.update({ model: other })
      return 'noon'
    },
  }
  const { chat, synapse } = await start({ model, tools: [changing] })
  const run = chat.send('What time is it?')
  await run.ended
  const { items } = await synapse.store.exchanges('local', chat.id)
  assert.deepEqual(
    items.map(({ provider }) => provider),
    ['openai', 'anthropic'],
  )
})

test('usage has tokens, cost and requests, in total and by model', async () => {
  const { chat } = await start({ model })
  const first = await chat.send('What time is it?').ended
  await chat.send('Hello', { model: other }).ended
  const usage = await chat.usage()
  assert.equal(usage.requests, 3)
  assert.deepEqual(usage.models.map((row) => `${row.provider}/${row.model} ${row.requests}`).sort(), [
    `${model} 2`,
    `${other} 1`,
  ])
  const anthropic = usage.models.find((row) => row.provider === 'anthropic')
  assert.equal(anthropic?.input, first.usage.input)
  assert.ok(Math.abs((anthropic?.cost ?? 0) - first.cost) < 1e-9 && first.cost > 0)
  assert.equal(usage.unpriced, 0)
})

test('inspect shows the body that would be sent, on any provider, and sends nothing', async () => {
  const { chat, emulator } = await start({ model, system: 'Be brief.' })
  await chat.send('What time is it?').ended
  const before = emulator.requests.length
  const shown = await chat.inspect({ model: other })
  assert.equal(emulator.requests.length, before)
  assert.equal(shown.provider, 'openai')
  assert.match(shown.url, /\/responses$/)
  assert.ok(isObject(shown.body) && JSON.stringify(shown.body).includes('What time is it?'))
  assert.ok(shown.estimate.input > 0)
})

test('a summary replaces the beginning of what is sent, and can be undone; the log does not change', async () => {
  const { chat, emulator } = await start({ model, tools: [], policy: { compaction: { native: false } } })
  for (const word of ['one', 'two', 'three', 'four', 'five']) await chat.send(`Remember the word ${word}.`).ended
  const made = await chat.compact()
  assert.equal(made?.by, 'model')
  await chat.send('Continue.').ended
  const body = JSON.stringify(emulator.requests.at(-1)?.body)
  assert.match(body, /Summary of/)
  assert.equal((await chat.history()).length, 12)
  await chat.undo(made?.overlay.id ?? '')
  const shown = await chat.inspect()
  assert.ok(JSON.stringify(shown.body).includes('Remember the word one.'))
  assert.equal((await chat.usage()).requests, 7)
})

test('too little to summarise is not changed', async () => {
  const { chat } = await start({ model, tools: [] })
  await chat.send('Hello').ended
  assert.equal(await chat.compact(), undefined)
})

test('an abort at any event leaves a conversation that continues, on this provider and on another', async () => {
  const whole = await start({ model: other })
  const count = (await collect(whole.chat.send('What time is it?'))).length
  assert.ok(count > 10)
  for (let at = 0; at < count; at++) {
    const { chat } = await start({ model: other })
    const run = chat.send('What time is it?')
    let seen = 0
    for await (const event of run) if (seen++ === at || event.type === 'run-end') run.abort()
    const { outcome } = await run.ended
    assert.ok(outcome === 'cancelled' || outcome === 'done', `event ${at}: ${outcome}`)
    for (const next of [other, model]) {
      const { outcome: after, failure } = await chat.send('What did I say first?', { model: next }).ended
      assert.equal(after, 'done', `event ${at} on ${next}: ${failure?.message}`)
    }
  }
})

test('a resumed run after an abort finishes what was asked', async () => {
  let started = 0
  const tool: Tool = {
    ...clock,
    repeatable: true,
    run: () => (++started === 1 ? new Promise(() => {}) : 'twelve'),
  }
  const { chat } = await start({ model, tools: [tool] })
  const run = chat.send('What time is it?')
  for await (const event of run) if (event.type === 'tool-start') run.abort()
  const events = await collect(chat.resume())
  assert.equal(only(events, 'run-end')[0]?.outcome, 'done')
})

test('an unknown policy and an invalid message are one sentence', async () => {
  const { chat } = await start({ model: 'openai/gpt-5.6' })
  assert.throws(() => chat.send('Hello', { policy: 'nope' as 'full' }), {
    kind: 'bad-input',
    message: 'policy: must be one of economy, classic, full, small, or a map of keys and values, not "nope"',
  })
  assert.throws(() => chat.send(undefined as unknown as string), /A message is a text or a list of parts/)
})

test('the next request is shown with the agents that the conversation can be handed to', async () => {
  const bob = { name: 'bob', settings: { model: 'mistral' } }
  const { chat } = await start({ model, tools: [], handoffs: [bob] })
  const { body } = await chat.inspect()
  assert.match(JSON.stringify(body['tools']), /"hand_off_to_bob"/)
})

test('only a user message of this conversation can be edited, and only an entry of it forked from', async () => {
  const { chat, synapse } = await start({ model: 'openai/gpt-5.6', tools: [] })
  await assert.rejects(chat.retry().text(), /There is no message to answer again/)
  await chat.send('One.').ended
  const [asked, answered] = (await chat.history()).map(({ id }) => id)
  const other = await synapse.start({ model: 'openai/gpt-5.6' })
  await other.send('Elsewhere.').ended
  const [elsewhere = ''] = (await other.history()).map(({ id }) => id)
  await assert.rejects(
    chat.edit(answered ?? '', 'Two.').text(),
    /is not a user message; only user messages can be edited/,
  )
  await assert.rejects(chat.edit(elsewhere, 'Two.').text(), { kind: 'not-found' })
  await assert.rejects(chat.fork(elsewhere), { kind: 'not-found' })
  assert.deepEqual(
    (await chat.history()).map(({ id }) => id),
    [asked, answered],
  )
  await chat.fork(asked ?? '', { name: 'again' })
  assert.equal((await chat.info()).branch, 'again')
  assert.equal((await chat.retry().ended).outcome, 'done')
  assert.equal((await chat.tree()).filter(({ parentId }) => parentId === asked).length, 2)
  await chat.fork(answered ?? '')
  assert.equal((await chat.info()).branch, undefined)
})

test('an empty conversation can be shown', async () => {
  const { chat } = await start({ model: 'openai/gpt-5.6' })
  assert.deepEqual([(await chat.info()).state, await chat.history(), await chat.approvals()], [[], [], []])
})
