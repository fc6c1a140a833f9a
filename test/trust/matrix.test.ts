// A sample of the matrix; all of it is in matrix.all.test.ts.

import assert from 'node:assert/strict'
import test from 'node:test'
import { commands } from '../../src/cli/main.ts'
import { hostileFolders } from './hostile-folders.ts'
import { commandLines, ground } from './matrix.ts'

const sample = [
  'a row with a cloud secret',
  'an MCP program',
  'an agent with a module',
  'an address in .env',
  'an archive that names an agent by its path',
]

test('in a folder that was never trusted nothing of it is used, whatever is run', { timeout: 170_000 }, async (t) => {
  const { to, run } = await ground(t)
  const folders = hostileFolders(to).filter(({ name }) => sample.includes(name))
  assert.equal(folders.length, sample.length)
  await Promise.all(folders.map((folder) => run(folder)))
})

for (const [name, line, says] of [
  ['a row with a key of its own name', ['hi'], /sent to the folder's host/],
  ['an agent without a configuration', ['agent', 'run', 'helper', 'hi'], /module of the folder was run/],
] as const) {
  test(`the matrix notices it where the folder was trusted: ${name}`, async (t) => {
    const { to, run } = await ground(t)
    const folder = hostileFolders(to).find((one) => one.name === name)
    assert.ok(folder?.files)
    await assert.rejects(run({ ...folder, trustedBefore: folder.files }, [[...line]]), says)
  })
}

test('the matrix has every command, and more than forty folders', () => {
  const used = new Set(commandLines.map(([first]) => first))
  assert.deepEqual(
    Object.keys(commands).filter((name) => !used.has(name)),
    [],
  )
  assert.ok(hostileFolders({ url: 'http://127.0.0.1:1', mark: '/nowhere' }).length >= 40)
})
