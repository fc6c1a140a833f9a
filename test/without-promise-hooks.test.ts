import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'node:test'

for (const [what, statement] of [
  ['a rejection', 'Promise.reject(new Error("lost"))'],
  ['an exception', 'setTimeout(() => { throw new Error("lost") }, 1)'],
] as const) {
  test(`${what} that nothing catches fails the run, although no promise is followed`, (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'synapse-uncaught-'))
    t.after(() => rmSync(folder, { recursive: true, force: true }))
    const file = join(folder, 'one.test.mjs')
    const hooks = join(import.meta.dirname, 'without-promise-hooks.ts')
    writeFileSync(
      file,
      `await import(${JSON.stringify(hooks)})
       const { test } = await import('node:test')
       test('one', async () => {
         await null
         ${statement}
         await new Promise((resolve) => setTimeout(resolve, 100))
       })`,
    )
    const { NODE_TEST_CONTEXT: _, ...env } = process.env
    const { status, stdout } = spawnSync(process.execPath, ['--test', file], { env, encoding: 'utf8' })
    assert.equal(status, 1)
    assert.match(stdout, /lost/)
  })
}
