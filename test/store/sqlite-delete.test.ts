// A long conversation is deleted from SQLite in several transactions. It is gone with the first of them, whatever
// happens to the process afterwards.

import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import test, { type TestContext } from 'node:test'
import { examine } from '../../src/store/doctor/doctor.ts'
import { openSqliteStore } from '../../src/store/sqlite.ts'
import type { Store } from '../../src/store/store.ts'
import { thorough } from '../thorough.ts'
import { call, reply, result, user } from './messages.ts'
import { startWorker } from './process.ts'
import { tempFolder } from './temp.ts'

const owner = 'ada'
const turns = 150
const tables = ['conversations', 'entries', 'exchanges', 'tool_runs', 'records', 'overlays', 'blobs', 'pieces']

test('others never see a part of a long conversation, and write while it is deleted', async (t) => {
  const { store, file, id, last } = await filled(t)
  const other = await openSqliteStore(file)
  t.after(() => other.close())
  const { id: mine } = await other.createConversation(owner)
  const state = { isDone: false }
  const seen: number[] = []
  const deleting = store.deleteConversation(owner, id).finally(() => (state.isDone = true))
  let writes = 0
  while (!state.isDone) {
    await other.append(owner, mine, { message: user('Meanwhile.') })
    writes++
    const [found, history] = [await other.conversation(owner, id), await other.history(owner, last)]
    if (!found) assert.equal(history.length, 0)
    seen.push(found?.entries ?? 0)
  }
  assert.equal(await deleting, true)
  assert.ok(writes > 3, `${writes} writes`)
  assert.deepEqual(
    [...new Set(seen)].filter((count) => count !== 0 && count !== 4 * turns),
    [],
  )
  assert.equal((await other.history(owner, (await other.conversation(owner, mine))?.head ?? '')).length, writes)
  assert.equal(await store.deleteConversation(owner, id), false)
  assert.deepEqual(counts(file), { ...nothing, conversations: 1, entries: writes })
})

test('a deletion that was killed is gone for everyone, and is finished when the file is opened next', async (t) => {
  for (const commit of thorough ? [1, 2, 4, 6] : [1, 4]) {
    const { store, file, id, last } = await filled(t)
    const { id: kept } = await store.createConversation(owner, { title: 'Kept' })
    await store.append(owner, kept, { message: user('This stays, word0 too.') })
    await store.close()
    const env = { SYNAPSE_FAILPOINT: `sqlite-commit:after@${commit}` }
    await startWorker(t, ['delete', file, id, owner], { env }).ended
    assert.equal(counts(file)['conversations'], 2, `killed after ${commit} commits`)
    const { findings } = await examine(file)
    assert.deepEqual(
      findings.filter(({ level }) => level !== 'fine'),
      [],
      `after ${commit} commits nothing is inconsistent`,
    )

    const next = await openSqliteStore(file)
    assert.equal(await next.conversation(owner, id), undefined)
    assert.equal(await next.entry(owner, last), undefined)
    assert.deepEqual(
      (await next.search(owner, { text: 'word0' })).items.map((hit) => hit.conversationId),
      [kept],
    )
    while ((counts(file)['conversations'] ?? 0) > 1) await next.append(owner, kept, { message: user('Waiting.') })
    await next.close()
    const { entries, ...rest } = counts(file)
    assert.deepEqual(rest, { ...withoutEntries, conversations: 1 })
    const again = await openSqliteStore(file)
    assert.equal((await again.conversation(owner, kept))?.entries, entries)
    await again.close()
  }
})

test('a number that is in use again is not deleted with the conversation that had it before', async (t) => {
  const { store, file, id } = await filled(t)
  const other = await openSqliteStore(file)
  t.after(() => other.close())
  const [one, two] = [store.deleteConversation(owner, id), other.deleteConversation(owner, id)]
  const made: string[] = []
  const state = { isDone: false }
  const both = Promise.all([one, two]).finally(() => (state.isDone = true))
  while (!state.isDone) {
    const { id: next } = await store.createConversation(owner)
    await store.append(owner, next, { message: user('New.') })
    made.push(next)
  }
  assert.deepEqual((await both).toSorted(), [false, true])
  for (const next of made) assert.equal((await store.conversation(owner, next))?.entries, 1)
})

const nothing = Object.fromEntries(tables.map((table) => [table, 0])) as Record<string, number>
const { entries: _entries, ...withoutEntries } = nothing

/** How many rows the file has, whoever may see them. */
function counts(file: string): Record<string, number> {
  const raw = new DatabaseSync(file, { readOnly: true })
  const count = (table: string) => Number(raw.prepare(`SELECT count(*) AS n FROM ${table}`).get()?.['n'])
  const all = Object.fromEntries(tables.map((table) => [table, count(table)]))
  raw.close()
  return all
}

/** A conversation with something of everything in it. */
async function filled(t: TestContext): Promise<{ store: Store; file: string; id: string; last: string }> {
  original ??= fill(t)
  const { bytes, id, last } = await original
  const file = join(tempFolder(t), 'log.db')
  writeFileSync(file, bytes)
  const store = await openSqliteStore(file)
  t.after(() => store.close())
  return { store, file, id, last }
}

let original: ReturnType<typeof fill> | undefined

async function fill(t: TestContext): Promise<{ bytes: Uint8Array; id: string; last: string }> {
  const file = join(tempFolder(t), 'log.db')
  const store = await openSqliteStore(file)
  const { id } = await store.createConversation(owner, { title: 'Long', labels: ['a'] })
  let last = ''
  for (let i = 0; i < turns; i++) {
    const [asked] = await store.appendAll(owner, id, [{ message: user(`word${i} question`) }])
    const body = JSON.stringify({ turn: i, text: `${i} `.repeat(100) })
    const about = { basedOn: asked?.id ?? '', provider: 'openai', protocol: 'openai-chat', model: 'm', body }
    const exchange = await store.openExchange(owner, id, about)
    const message = reply(`calling ${i}`, [call(`c${i}`, 'tool', { i })])
    const { entry } = await store.finishExchange(owner, exchange.id, { outcome: 'done', reply: { message } })
    await store.startTool(owner, id, { callId: `c${i}`, entryId: entry?.id ?? '', name: 'tool', argsSha256: `${i}` })
    const answer = { message: result(`c${i}`, 'tool', `result ${i}`, { i }) }
    await store.finishTool(owner, id, `c${i}`, { outcome: 'done', result: answer })
    const end = await store.append(owner, id, { message: reply(`done ${i}`) })
    last = end.id
  }
  await store.addOverlay(owner, id, { entryId: last, kind: 'cut', data: { before: last } })
  await store.close()
  return { bytes: readFileSync(file), id, last }
}
