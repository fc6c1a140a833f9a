// Many messages that are appended at once, as a client with a long history does: one transaction, as short as it can be.

import assert from 'node:assert/strict'
import { join } from 'node:path'
import { DatabaseSync, StatementSync } from 'node:sqlite'
import test, { type TestContext } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { openSqliteStore } from '../../src/store/sqlite.ts'
import { user } from './messages.ts'
import { tempFolder } from './temp.ts'

const owner = 'someone'
const many = 1500
const entries = Array.from({ length: many }, (_, i) => ({ message: user(`zebra number${i}`) }))

test('many messages at once need one statement each', async (t) => {
  const { store, id } = await given(t)
  const { mock } = t.mock.method(StatementSync.prototype, 'run')
  await store.appendAll(owner, id, entries)
  assert.ok(mock.callCount() < many + 20, `${mock.callCount()} statements`)
  mock.restore()
  const conversation = await store.conversation(owner, id)
  assert.equal(conversation?.entries, many)
  assert.equal((await store.history(owner, conversation.head ?? '')).length, many)
})

test('the time of a conversation is that of its latest message, in whichever order they are appended', async (t) => {
  const { store, id } = await given(t)
  const at = ['2200-01-01T00:00:00.000Z', '2300-01-01T00:00:00.000Z', '2100-01-01T00:00:00.000Z']
  await store.appendAll(
    owner,
    id,
    at.map((time) => ({ message: user('zebra'), at: time })),
  )
  assert.equal((await store.conversation(owner, id))?.updatedAt, at[1])
})

test('many messages at once are indexed afterwards, in several transactions, and found all the time', async (t) => {
  const { store, id, path } = await given(t)
  const other = new DatabaseSync(path)
  t.after(() => other.close())
  const indexed = () => Number(other.prepare('SELECT n FROM search_upto').get()?.['n'])
  const found = async (i: number) => (await store.search(owner, { text: `number${i}` })).items.length
  await store.appendAll(owner, id, entries)
  const steps = [indexed()]
  while ((steps.at(-1) ?? 0) < many - 64) {
    assert.deepEqual([await found(0), await found(many - 1)], [1, 1])
    steps.push(indexed())
    await nextTurn()
  }
  const most = Math.max(...steps.map((n, i) => n - (steps[i - 1] ?? 0)))
  // Two steps may have been made between two looks.
  assert.ok(most <= many / 2, `${most} entries in one transaction`)
  assert.deepEqual([await found(0), await found(many - 1)], [1, 1])
})

test('many messages that a process did not index before its end are indexed after a search', async (t) => {
  const { store, id, path } = await given(t)
  await store.appendAll(owner, id, entries)
  await store.close()
  const next = await openSqliteStore(path)
  const other = new DatabaseSync(path)
  t.after(() => [other.close(), next.close()])
  const indexed = () => Number(other.prepare('SELECT n FROM search_upto').get()?.['n'])
  const atStart = indexed()
  assert.ok(atStart <= many / 2, `${atStart} are indexed`)
  assert.equal((await next.search(owner, { text: 'number0' })).items.length, 1)
  while (indexed() < many) await nextTurn()
  for (const i of [0, many - 1]) assert.equal((await next.search(owner, { text: `number${i}` })).items.length, 1)
})

async function given(t: TestContext) {
  const path = join(tempFolder(t), 'log.db')
  const store = await openSqliteStore(path)
  t.after(() => store.close())
  const { id } = await store.createConversation(owner)
  return { store, id, path }
}
