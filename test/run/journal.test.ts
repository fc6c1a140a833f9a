// The journal of a streaming reply: batches, order, and failed writes.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SynapseError } from '../../src/core/error.ts'
import type { ReplyEvent } from '../../src/core/event.ts'
import { journaling } from '../../src/run/request/journal.ts'
import { openMemoryStore } from '../../src/store/memory.ts'
import type { Store } from '../../src/store/store.ts'
import { clock, outcomeOf, start } from './chatting.ts'

const away = () => new SynapseError({ kind: 'storage', code: 'unavailable', message: 'The database is away.' })
const batch = { type: 'part-delta', index: 0, text: 'x'.repeat(5000) } as const

test('after a batch that could not be written the journal accepts no more events', async () => {
  const journal = journaling(() => Promise.reject(away()))
  journal.push(batch)
  await journal.close()
  assert.throws(() => journal.push(batch), /The database is away/)
})

test('a run whose reply cannot be journaled stops reading it and fails', async () => {
  const store = openMemoryStore()
  let journaled = 0
  const failing = {
    ...store,
    journal: () => {
      journaled++
      return Promise.reject(away())
    },
  }
  const { chat } = await start({ model: 'anthropic/claude-opus-5', tools: [] }, { store: failing })
  assert.match(await outcomeOf(chat.send('Count to 3000.')), /^failed: .*The database is away/)
  assert.equal(journaled, 1)
})

test('every event is journaled once and in order, and fragments of one text as one event', async () => {
  const written: [number, ReplyEvent[]][] = []
  const journal = journaling(async (from, events) => void written.push([from, [...events]]))
  const part = { type: 'text', text: '' } as const
  journal.push({ type: 'part-start', index: 0, part })
  journal.push({ type: 'part-delta', index: 0, text: 'a' })
  journal.push({ type: 'part-delta', index: 0, text: 'b' })
  journal.push({ type: 'part-start', index: 1, part })
  journal.push({ ...batch, index: 1 })
  await journal.close()
  assert.deepEqual(written, [
    [
      0,
      [
        { type: 'part-start', index: 0, part },
        { type: 'part-delta', index: 0, text: 'ab' },
        { type: 'part-start', index: 1, part },
        { ...batch, index: 1 },
      ],
    ],
  ])
})

test('each batch begins where the one before it ended', async () => {
  const written: [number, number][] = []
  const journal = journaling(async (from, events) => void written.push([from, events.length]))
  for (let i = 0; i < 3; i++) {
    await journal.push(batch)
    await new Promise(setImmediate)
  }
  await journal.close()
  assert.deepEqual(written, [
    [0, 1],
    [1, 1],
    [2, 1],
  ])
})

test('a journal that is closed writes nothing more, and waits unless the store writes in order', async () => {
  for (const isOrdered of [false, true]) {
    const written: number[] = []
    const first = Promise.withResolvers<void>()
    const journal = journaling((from) => {
      written.push(from)
      return first.promise
    }, isOrdered)
    journal.push(batch)
    assert.deepEqual(written, [0], 'before the reply can be committed')
    journal.push({ ...batch, text: 'y'.repeat(100_000) })
    let isClosed = false
    const closing = journal.close().then(() => (isClosed = true))
    await new Promise(setImmediate)
    assert.equal(isClosed, isOrdered)
    first.resolve()
    await closing
    await new Promise(setImmediate)
    assert.deepEqual(written, [0])
  }
})

test('a tool whose start cannot be recorded is not run, and the run fails', async () => {
  const failing = { ...openMemoryStore(), startTool: () => Promise.reject(away()) }
  let runs = 0
  const tool = { ...clock, run: () => ++runs }
  const { chat } = await start({ model: 'anthropic/claude-opus-5', tools: [tool] }, { store: failing })
  assert.match(await outcomeOf(chat.send('What time is it?')), /^failed: .*The database is away/)
  assert.equal(runs, 0)
})

test('nothing of a reply is journaled after the reply itself is stored', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const inner = openMemoryStore()
  const written: string[] = []
  const store: Store = {
    ...inner,
    journal: (...given) => (written.push('journal'), inner.journal(...given)),
    finishExchange: (...given) => (written.push('reply'), inner.finishExchange(...given)),
  }
  const { chat } = await start({ model: 'anthropic/claude-opus-5', tools: [] }, { store })
  assert.equal((await chat.send('Hello.').ended).outcome, 'done')
  t.mock.timers.tick(10_000)
  await new Promise(setImmediate)
  assert.equal(written.at(-1), 'reply')
})

test('a batch that is written because of its size is not followed by an empty one', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const sizes: number[] = []
  const journal = journaling(async (_, events) => sizes.push(events.length))
  void journal.push({ type: 'part-delta', index: 1, text: 'x' })
  void journal.push(batch)
  t.mock.timers.tick(1000)
  await new Promise(setImmediate)
  assert.deepEqual(sizes, [2])
  await journal.close()
})
