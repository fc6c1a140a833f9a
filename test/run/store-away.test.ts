// A store that fails at one moment of a run and works at the next.

import assert from 'node:assert/strict'
import test from 'node:test'
import { SynapseError } from '../../src/core/error.ts'
import { textOf } from '../../src/core/message.ts'
import { openMemoryStore } from '../../src/store/memory.ts'
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
