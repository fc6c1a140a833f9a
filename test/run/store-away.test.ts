// A store that fails at one moment of a run and works at the next.

import assert from 'node:assert/strict'
import test from 'node:test'
import { SynapseError } from '../../src/core/error.ts'
import { textOf } from '../../src/core/message.ts'
import { openMemoryStore } from '../../src/store/memory.ts'
import { collect, only, outcomeOf, start } from './chatting.ts'

const model = 'anthropic/claude-opus-5'
const away = () => new SynapseError({ kind: 'storage', code: 'unavailable', message: 'The database is away.' })

test('a run that could not give its lease back has ended as it did, once, and the next one continues', async () => {
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

test('a reply that came whole is kept, also if what was kept of it on the way could not be written', async () => {
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
