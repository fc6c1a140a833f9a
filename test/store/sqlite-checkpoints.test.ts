// The write-ahead log of the SQLite store is copied into its file by a separate thread.

import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { openSqliteStore } from '../../src/store/sqlite.ts'
import { textsOf, user } from './messages.ts'
import { tempFolder } from './temp.ts'

const owner = 'someone'
const megabyte = 1024 * 1024

test('the log is copied into the file while it is open, and does not grow with what is written', async (t) => {
  const folder = tempFolder(t)
  const path = join(folder, 'log.db')
  const store = await openSqliteStore(path)
  const { id } = await store.createConversation(owner)
  let last = ''
  for (let i = 0; i < 24; i++) {
    const text = `${i} ${'word '.repeat(megabyte / 5)}`
    last = (await store.append(owner, id, { message: user(text) })).id
  }
  assert.ok(statSync(path).size > 16 * megabyte, `the file has ${statSync(path).size} bytes`)
  assert.ok(statSync(`${path}-wal`).size < 12 * megabyte, `the log has ${statSync(`${path}-wal`).size} bytes`)
  const texts = textsOf(await store.history(owner, last))
  assert.deepEqual(
    texts.map((text) => text.split(' ', 1)[0]),
    Array.from({ length: 24 }, (_, i) => `${i}`),
  )
  await store.close()
  assert.deepEqual(readdirSync(folder), ['log.db'])
})

test('a process that does not close the store ends, and everything is there', async (t) => {
  const path = join(tempFolder(t), 'log.db')
  const script = `
    import { openSqliteStore } from ${JSON.stringify(new URL('../../src/store/sqlite.ts', import.meta.url).href)}
    const store = await openSqliteStore(${JSON.stringify(path)})
    const { id } = await store.createConversation('someone', { id: 'one' })
    for (let i = 0; i < 8; i++) {
      const parts = [{ type: 'text', text: i + ' word'.repeat(200_000) }]
      await store.append('someone', id, { message: { role: 'user', parts } })
    }`
  execFileSync(process.execPath, ['--no-warnings', '--input-type=module', '-e', script], { timeout: 60_000 })
  const store = await openSqliteStore(path, { warn: () => {} })
  assert.equal((await store.outline(owner, 'one')).length, 8)
  await store.close()
})
