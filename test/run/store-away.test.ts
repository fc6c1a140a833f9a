// A store that fails at one moment of a run and works at the next.

import assert from 'node:assert/strict'
import test from 'node:test'
import { SynapseError } from '../../src/core/error.ts'
import { textOf } from '../../src/core/message.ts'
import { openMemoryStore } from '../../src/store/memory.ts'
import { openSqliteStore } from '../../src/store/sqlite.ts'
import type { Outage, Store } from '../../src/store/store.ts'
import { collect, only, outcomeOf, start } from './chatting.ts'

const model = 'anthropic/claude-opus-5'
const away = () => new SynapseError({ kind: 'storage', code: 'unavailable', message: 'The database is away.' })

test('a run that could not release its lease has one end, and the next one continues', async () => {
  const store = { ...openMemoryStore(), releaseLease: () => Promise.reject(away()) }
  const { chat } = await start({ model }, { store })
  const run = chat.send('What time is it?')
  const ends = only(await collect(run), 'run-end')
  assert.deepEqual(
    ends.map(({ outcome }) => outcome),
    ['done'],
  )
  assert.equal(await outcomeOf(run), 'done')
  assert.equal(await outcomeOf(chat.send('And now?')), 'done')
})

test('a complete reply is stored, even if its journal could not be written', async () => {
  const kept = openMemoryStore()
  const journal = Promise.withResolvers<number>()
  const { chat } = await start({ model, tools: [] }, { store: { ...kept, journal: () => journal.promise } })
  const run = chat.send('Count to 3000.')
  for await (const event of run) {
    if (event.type === 'reply-event' && event.event.type === 'reply-end') journal.reject(away())
  }
  assert.equal(await outcomeOf(run), 'done')
  const { message } = (await chat.history()).at(-1) ?? assert.fail()
  assert.match(textOf(message.parts), /3000/)
})

for (const ordered of [false, true]) {
  for (const [write, requests] of [
    ['append', 0],
    ['updateConversation', 0],
    ['openExchange', 0],
    ['finishExchange', 1],
    ['startTool', 1],
    ['finishTool', 1],
  ] as const) {
    test(`a run whose ${write} fails ends once and sends nothing more (${ordered ? 'written in order' : 'one by one'})`, async () => {
      const kept = ordered ? await openSqliteStore(':memory:') : openMemoryStore()
      const failing: Store = { ...kept, [write]: () => Promise.reject(away()) }
      const { chat, emulator } = await start({ model }, { store: failing })
      const run = chat.send('What time is it?')
      const events = await collect(run)
      assert.equal(await outcomeOf(run), 'failed: The database is away.')
      assert.equal(only(events, 'run-end').length, 1)
      assert.equal(events.at(-1)?.type, 'run-end')
      assert.equal(emulator.requests.length, requests)
      assert.equal(
        events.some(({ type }) => type === 'tool-start'),
        write === 'finishTool',
      )
      assert.equal(
        events.some(({ type }) => type === 'tool-end'),
        false,
      )
      // What is reported is stored.
      const log = new Set((await chat.history()).map(({ id }) => id))
      assert.deepEqual(
        only(events, 'message').filter(({ entryId }) => !log.has(entryId)),
        [],
      )
      await kept.close()
    })
  }
}

test('a run says that it waits for the database, and that it is back', async () => {
  const kept = openMemoryStore()
  const since = new Date().toISOString()
  const listeners = new Set<(outage: Outage | undefined) => void>()
  const tell = (outage: Outage | undefined) => {
    for (const listener of listeners) listener(outage)
  }
  const store: Store = {
    ...kept,
    outages: {
      current: () => undefined,
      watch(listener) {
        listeners.add(listener)
        return () => listeners.delete(listener)
      },
    },
    async finishTool(...given) {
      tell({ since, failure: away().failure })
      const finished = await kept.finishTool(...given)
      tell(undefined)
      return finished
    },
  }
  const { chat } = await start({ model }, { store })
  const events = await collect(chat.send('What time is it?'))
  const types = events.map(({ type }) => type).filter((type) => type !== 'reply-event')
  const waits = types.indexOf('store-waiting')
  assert.ok(waits > types.indexOf('tool-start') && waits < types.indexOf('tool-end'), types.join(' '))
  assert.equal(types[waits + 1], 'store-back')
  assert.deepEqual(
    only(events, 'store-waiting').map((event) => [event.since, event.failure.code]),
    [[since, 'unavailable']],
  )
  assert.equal(events.at(-1)?.type, 'run-end')
  assert.equal(listeners.size, 0, 'nobody listens after the end')
})

test('a run that begins while the database is away says so first, and how long it was', async () => {
  const kept = openMemoryStore()
  let tell: (outage: Outage | undefined) => void = () => {}
  const since = new Date(Date.now() - 5000).toISOString()
  const store: Store = {
    ...kept,
    outages: {
      current: () => ({ since, failure: away().failure }),
      watch(listener) {
        tell = listener
        return () => {}
      },
    },
    async append(...given) {
      const entry = await kept.append(...given)
      tell(undefined)
      tell(undefined)
      return entry
    },
  }
  const { chat } = await start({ model, tools: [] }, { store })
  const events = await collect(chat.send('Hello.'))
  assert.equal(events[0]?.type, 'store-waiting')
  const back = only(events, 'store-back')
  assert.equal(back.length, 1)
  assert.ok(back[0] && back[0].waitedMs >= 5000 && back[0].waitedMs < 60_000, `${back[0]?.waitedMs}`)
})
