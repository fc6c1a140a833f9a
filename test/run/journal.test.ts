import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SynapseError } from '../../src/core/error.ts'
import { journaling } from '../../src/run/journal.ts'
import { openMemoryStore } from '../../src/store/memory.ts'
import { outcomeOf, start } from './chatting.ts'

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
