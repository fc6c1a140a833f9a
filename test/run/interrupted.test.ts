// What a process that was killed leaves in the store, closed by its successor.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { ReplyEvent } from '../../src/core/event.ts'
import { callsOf, textOf, type Message, type Reply, type ToolMessage } from '../../src/core/message.ts'
import type { Tool } from '../../src/core/tool.ts'
import { noUsage } from '../../src/core/usage.ts'
import { argsHashOf } from '../../src/run/tools/approval.ts'
import { closeInterrupted, stepBack } from '../../src/run/log/close-interrupted.ts'
import { openMemoryStore } from '../../src/store/memory.ts'
import type { Store } from '../../src/store/store.ts'
import { clock, start } from './chatting.ts'

const owner = 'ada'
const origin = { provider: 'openai', protocol: 'openai-chat', model: 'gpt' }
const user = (text: string): Message => ({ role: 'user', parts: [{ type: 'text', text }] })
const calling = (...callIds: string[]): Reply => ({
  role: 'assistant',
  parts: callIds.map((callId) => ({ type: 'tool-call', callId, name: 'pay', input: {} })),
  origin,
  native: [],
  stop: { reason: 'tool-calls' },
})

async function killed(events: ReplyEvent[] = []) {
  const store = openMemoryStore()
  const { id: conversationId } = await store.createConversation(owner)
  const asked = await store.append(owner, conversationId, { message: user('Hello') })
  const opened = await store.openExchange(owner, conversationId, { ...origin, basedOn: asked.id, body: '{}' })
  if (events.length > 0) await store.journal(owner, opened.id, 0, events)
  const place = { store, owner, conversationId, write: () => ({}) }
  const head = async () => (await store.conversation(owner, conversationId))?.head
  return { ...place, place, asked, opened, head }
}

const begun: ReplyEvent[] = [
  { type: 'reply-start', origin },
  { type: 'part-start', index: 0, part: { type: 'text', text: '' } },
  { type: 'part-delta', index: 0, text: 'Half of' },
]
const ended: ReplyEvent[] = [
  ...begun,
  { type: 'part-end', index: 0, part: { type: 'text', text: 'Half of it.' } },
  { type: 'reply-end', origin, stop: { reason: 'done' }, native: [], usage: { ...noUsage, input: 3, output: 2 } },
]

test('a reply that was cut off is stored as far as it came, as interrupted, once', async () => {
  const { store, place, opened, head } = await killed(begun)
  assert.equal(await closeInterrupted(place, true), true)
  assert.equal((await store.exchange(owner, opened.id))?.outcome, 'interrupted')
  const entry = await store.entry(owner, (await head()) ?? '')
  assert.equal(entry?.message.role === 'assistant' && entry.message.stop.reason, 'interrupted')
  assert.equal(textOf(entry?.message.parts ?? []), 'Half of')
  assert.equal(await closeInterrupted(place, true), false)
  assert.equal((await store.outline(owner, place.conversationId)).length, 2)
})

test('a reply whose end was journaled is complete, with its usage', async () => {
  const { store, place, opened } = await killed(ended)
  await closeInterrupted(place, true)
  const closed = await store.exchange(owner, opened.id)
  assert.deepEqual([closed?.outcome, closed?.usage?.input, closed?.usage?.output], ['done', 3, 2])
})

test('a reply of a run without a journal is read from its stream, without the events of other requests', async () => {
  const { store, place, conversationId, opened, head } = await killed()
  const line = (event: ReplyEvent, exchangeId = opened.id) => JSON.stringify({ type: 'reply-event', exchangeId, event })
  const delta = (text: string): ReplyEvent => ({ type: 'part-delta', index: 0, text })
  const ofStreams: [string, string[]][] = [
    ['own', begun.map((event) => line(event))],
    ['other', begun.map((event) => line(event, 'another'))],
  ]
  for (const [streamId, events] of ofStreams) {
    const { epoch, next } = await store.openStream(owner, conversationId, streamId)
    const others = [
      JSON.stringify({ type: 'request', exchangeId: opened.id, event: delta(' not this') }),
      line(delta(` nor ${opened.id}`), 'another'),
    ]
    const lines = [...events, ...others, ...(streamId === 'own' ? [line(delta(' it'))] : [])]
    await store.appendStreams([{ owner, streamId, epoch, offset: next, events: lines }])
  }
  // In several parts.
  const short = {
    ...store,
    stream: (...[who, id, from]: Parameters<Store['stream']>) => store.stream(who, id, from, 2),
  }
  assert.equal(await closeInterrupted({ ...place, store: short }, true), true)
  const entry = await store.entry(owner, (await head()) ?? '')
  assert.equal(textOf(entry?.message.parts ?? []), 'Half of it')
  assert.equal((await store.exchange(owner, opened.id))?.outcome, 'interrupted')
})

test('an exchange without a reply ends, and writes no empty message', async () => {
  const { store, place, asked, opened, head } = await killed()
  assert.equal(await closeInterrupted(place, false), true)
  assert.equal((await store.exchange(owner, opened.id))?.outcome, 'interrupted')
  assert.equal(await head(), asked.id)
})

test('a conversation that was continued elsewhere keeps its head when an old reply is closed', async () => {
  const { store, place, conversationId, asked, head } = await killed(begun)
  const other = await store.append(owner, conversationId, {
    message: user('Another way'),
    parentId: null,
    head: 'move',
  })
  await closeInterrupted(place, true)
  assert.equal(await head(), other.id)
  assert.equal((await store.children(owner, conversationId, asked.id)).length, 1)
})

async function withTools(...repeatable: boolean[]) {
  const store = openMemoryStore()
  const { id: conversationId } = await store.createConversation(owner)
  await store.append(owner, conversationId, { message: user('Pay.') })
  const reply = await store.append(owner, conversationId, { message: calling(...repeatable.map((_, i) => `c${i}`)) })
  for (const [i, again] of repeatable.entries()) {
    const run = { callId: `c${i}`, entryId: reply.id, name: 'pay', argsSha256: 'x', repeatable: again }
    await store.startTool(owner, conversationId, run)
  }
  return { store, reply, place: { store, owner, conversationId, write: () => ({}) } }
}

test('a call that may not be repeated gets the result that its effect is not known; one that may waits for its repetition', async () => {
  const { store, place } = await withTools(false, true)
  assert.equal(await closeInterrupted(place, false), true)
  const runs = await store.toolRuns(owner, place.conversationId)
  assert.deepEqual(
    runs.map(({ outcome }) => outcome),
    ['unknown', undefined],
  )
  const head = await store.entry(owner, (await store.conversation(owner, place.conversationId))?.head ?? '')
  const [result] = head?.message.role === 'tool' ? head.message.parts : []
  assert.deepEqual([result?.callId, result?.failed], ['c0', true])
  assert.match(textOf(result?.output ?? []), /whether it had any effect is not known/)
})

test('after a new message of the user no interrupted call is repeated', async () => {
  const { store, place } = await withTools(true)
  await closeInterrupted(place, true)
  assert.equal((await store.toolRuns(owner, place.conversationId))[0]?.outcome, 'unknown')
})

test('the result of an interrupted call of another branch is written there, and the head stays', async () => {
  const { store, place, reply } = await withTools(false)
  const { conversationId } = place
  const other = await store.append(owner, conversationId, { message: user('Never mind'), parentId: null, head: 'move' })
  await closeInterrupted(place, true)
  assert.equal((await store.conversation(owner, conversationId))?.head, other.id)
  assert.equal((await store.children(owner, conversationId, reply.id))[0]?.message.role, 'tool')
})

test('the result of an interrupted call of another branch follows what came after the call there', async () => {
  const { store, place, reply } = await withTools(false, false)
  const { conversationId } = place
  const end = (callId: string): Message => ({
    role: 'tool',
    parts: [{ type: 'tool-result', callId, name: 'pay', output: [{ type: 'text', text: 'paid' }] }],
  })
  const { entry } = await store.finishTool(owner, conversationId, 'c0', {
    outcome: 'done',
    result: { message: end('c0') as ToolMessage },
  })
  await store.append(owner, conversationId, { message: user('Never mind'), parentId: null, head: 'move' })
  await closeInterrupted(place, true)
  assert.equal((await store.children(owner, conversationId, reply.id)).length, 1)
  const [after] = await store.children(owner, conversationId, entry.id)
  assert.equal(after?.message.role === 'tool' && after.message.parts[0]?.callId, 'c1')
})

test('an interrupted reply is requested again from where it began; a complete one is not', async () => {
  const half = await killed(begun)
  await closeInterrupted(half.place, false)
  assert.equal(await stepBack(half.place), true)
  assert.equal(await half.head(), half.asked.id)
  assert.equal(await stepBack(half.place), false)

  const whole = await killed(ended)
  await closeInterrupted(whole.place, false)
  assert.equal(await stepBack(whole.place), false)
  assert.notEqual(await whole.head(), whole.asked.id)
})

test('an interrupted reply on a branch is requested again on that branch', async () => {
  const { store, place, conversationId, asked, head } = await killed(begun)
  await store.nameBranch(owner, conversationId, 'idea', asked.id)
  await store.setHead(owner, conversationId, { branch: 'idea' })
  await closeInterrupted(place, false)
  assert.notEqual(await head(), asked.id)
  assert.equal(await stepBack(place), true)
  const stored = await store.conversation(owner, conversationId)
  assert.deepEqual([stored?.head, stored?.branch], [asked.id, 'idea'])
})

describe('a run after a crash', () => {
  const lookAgain = (runs: string[], repeatable: boolean): Tool => ({
    ...clock,
    name: 'pay',
    input: { type: 'object' },
    repeatable,
    run: () => (runs.push('pay'), 'paid'),
  })

  /** A conversation whose last reply calls a tool that had started when its process was killed. */
  async function duringCall(repeatable: boolean) {
    const runs: string[] = []
    const store = openMemoryStore()
    const { chat } = await start(
      { model: 'openai/gpt-5.6', tools: [lookAgain(runs, repeatable)] },
      { store, emulation: { reply: () => ({ parts: [{ type: 'text', text: 'Done.' }] }) } },
    )
    await store.append('local', chat.id, { message: user('Pay.') })
    const reply = await store.append('local', chat.id, { message: calling('c0') })
    const [call] = callsOf(reply.message)
    assert.ok(call)
    const run = { callId: 'c0', entryId: reply.id, name: 'pay', argsSha256: argsHashOf(call), repeatable }
    await store.startTool('local', chat.id, run)
    return { chat, store, runs }
  }

  test('runs an interrupted call again if it may and nothing new was asked', async () => {
    for (const [repeatable, message, times] of [
      [true, undefined, 1],
      [false, undefined, 0],
      [true, 'Something else.', 0],
    ] as const) {
      const { chat, runs } = await duringCall(repeatable)
      const { outcome } = await (message === undefined ? chat.resume() : chat.send(message)).ended
      assert.deepEqual([outcome, runs.length], ['done', times], `${repeatable} ${message}`)
    }
  })

  /** A conversation with a reply of which only a part arrived. */
  async function duringReply() {
    const store = openMemoryStore()
    const { chat } = await start(
      { model: 'openai/gpt-5.6', tools: [] },
      { store, emulation: { reply: () => ({ parts: [{ type: 'text', text: 'All of it.' }] }) } },
    )
    const asked = await store.append('local', chat.id, { message: user('Hello') })
    const opened = await store.openExchange('local', chat.id, { ...origin, basedOn: asked.id, body: '{}' })
    await store.journal('local', opened.id, 0, begun)
    const texts = async () => (await chat.history()).map(({ message }) => textOf(message.parts))
    return { chat, texts }
  }

  test('requests an interrupted reply again, and leaves it in place before a new message', async () => {
    const resumed = await duringReply()
    assert.equal((await resumed.chat.resume().ended).outcome, 'done')
    assert.deepEqual(await resumed.texts(), ['Hello', 'All of it.'])
    assert.equal((await resumed.chat.tree()).length, 3, 'the partial reply is a branch')
    const continued = await duringReply()
    assert.equal((await continued.chat.send('Continue.').ended).outcome, 'done')
    assert.deepEqual(await continued.texts(), ['Hello', 'Half of', 'Continue.', 'All of it.'])
  })
})
