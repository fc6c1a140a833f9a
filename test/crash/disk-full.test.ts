// A disk that is full in the middle of a run: the run says so, nothing that was written is lost, and when there is room
// again the conversation continues, in the same process.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { openSynapse } from '../../src/runtime/open.ts'
import { examine } from '../../src/store/doctor/doctor.ts'
import { openSqliteStore } from '../../src/store/sqlite.ts'
import { checkSendable } from './invariants.ts'

test('a run on a full disk ends with a sentence, and continues when there is room', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'synapse-full-'))
  if (spawnSync('/bin/mount', ['-t', 'tmpfs', '-o', 'size=2m', 'tmpfs', folder]).status !== 0) {
    rmSync(folder, { recursive: true })
    return t.skip('needs the right to mount a small file system')
  }
  t.after(() => {
    spawnSync('/bin/umount', [folder])
    rmSync(folder, { recursive: true })
  })
  const path = join(folder, 'log.db')
  const store = await openSqliteStore(path)
  const synapse = await openSynapse({ store, offline: true, env: {} })
  const chat = await synapse.start({ model: 'openai/gpt-5.6', tools: [] })
  assert.equal((await chat.send('My name is Ada.').ended).outcome, 'done')

  const filler = join(folder, 'filler')
  let failure
  let outcome
  for (let turn = 0; turn < 60 && !failure; turn++) {
    if (turn === 3) fillUp(filler)
    ;({ failure, outcome } = await chat.send(`Count to ${900 + turn}.`).ended)
  }
  assert.equal(outcome, 'storage-full')
  assert.deepEqual([failure?.kind, failure?.code], ['storage', 'full'], JSON.stringify(failure))
  assert.match(failure?.message ?? '', /no space left/)
  const before = await chat.history()
  assert.ok(before.length >= 2)
  checkSendable(before.map((entry) => entry.message))

  rmSync(filler)
  assert.equal((await chat.send('What is my name?').ended).outcome, 'done')
  const after = await chat.history()
  assert.deepEqual(after.slice(0, before.length), before)
  checkSendable(after.map((entry) => entry.message))
  await store.close()
  const { findings } = await examine(path)
  assert.ok(
    findings.every(({ level }) => level === 'fine'),
    JSON.stringify(findings),
  )
})

/** Takes all the room that there is. */
function fillUp(file: string): void {
  for (let size = 2 * 1024 * 1024; size > 512; size = Math.floor(size / 2)) {
    try {
      writeFileSync(file, Buffer.alloc(size), { flag: 'a' })
    } catch {
      // a smaller piece may still fit
    }
  }
}
