// How often a run waits for the disk: what is written before a request is planned is committed together with the request,
// a reply with calls together with the start of the first one, and a lease does not wait at all.

import assert from 'node:assert/strict'
import fs, { mkdtempSync, rmSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { DatabaseSync, type StatementSync } from 'node:sqlite'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { defineTool, openSynapse } from '../../src/index.ts'
import { repliesWith } from './calling-fetch.ts'

test('a turn and each step with a tool wait for few commits, and everything reported is durable', async (t) => {
  const happened: string[] = []
  watchCommits(t, happened)
  const folder = mkdtempSync(join(tmpdir(), 'synapse-commits-'))
  const script = repliesWith(() => happened.push('request'))
  const synapse = await openSynapse({
    store: join(folder, 'log.db'),
    keys: { openai: 'none' },
    transport: { fetch: script.fetch },
  })
  t.after(async () => {
    await synapse.close()
    rmSync(folder, { recursive: true, force: true })
  })
  const look = defineTool({
    name: 'look',
    description: 'Looks.',
    input: { type: 'object', properties: { number: { type: 'number' } } } as never,
    run: async () => {
      happened.push('tool')
      return 'x'
    },
  })
  const chat = await synapse.start({ model: 'openai/gpt-4o', protocol: 'openai-chat', tools: [look] })
  // The first turn also gives the conversation its title.
  await chat.send('Hello.').ended
  happened.length = 0
  script.calls = 3
  const run = chat.send('Look three times.')
  for await (const event of run) {
    if (event.type !== 'message') continue
    // What is reported is in the log, for every reader.
    const log = await chat.tree()
    assert.ok(log.some(({ id }) => id === event.entryId))
  }
  assert.equal((await run.ended).outcome, 'done')
  // The first commit and the last one are those of the lease.
  const step = 'commit disk tool commit disk request '
  assert.equal(happened.join(' '), `commit commit disk request ${step.repeat(3)}commit disk commit`)
})

/** Each statement that commits, of every connection of this process, and when a log is on disk. */
function watchCommits(t: TestContext, happened: string[]): void {
  const { prepare } = DatabaseSync.prototype
  t.mock.method(DatabaseSync.prototype, 'prepare', function (this: DatabaseSync, sql: string): StatementSync {
    const statement = prepare.call(this, sql)
    if (sql !== 'COMMIT') return statement
    const { run } = statement
    t.mock.method(statement, 'run', (...values: Parameters<typeof run>) => {
      happened.push('commit')
      return run.apply(statement, values)
    })
    return statement
  })
  const { fdatasync } = fs
  const mocked = t.mock.method(fs, 'fdatasync', (file: number, done: fs.NoParamCallback) => {
    fdatasync(file, (error) => {
      happened.push('disk')
      done(error)
    })
  })
  syncBuiltinESMExports()
  t.after(() => {
    mocked.mock.restore()
    syncBuiltinESMExports()
  })
}
