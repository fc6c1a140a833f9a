// A sample of the matrix; all of it is in matrix.all.test.ts.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'node:test'
import { commands } from '../../src/cli/main.ts'
import { hostileFolders } from './hostile-folders.ts'
import { commandLines, ground } from './matrix.ts'

const sample = [
  'a row with a cloud secret',
  'an MCP program',
  'an agent with a module',
  'an archive that names an agent by its path',
]

test('in a folder that was never trusted none of its files are used, whatever is run', async (t) => {
  const { to, run } = await ground(t)
  const folders = hostileFolders(to).filter(({ name }) => sample.includes(name))
  assert.equal(folders.length, sample.length)
  // Each command in one of the folders; some continue what was imported.
  const share = (i: number) => commandLines.filter(([name], j) => name === 'import' || (j + i) % folders.length === 0)
  await Promise.all(folders.map((folder, i) => run(folder, share(i))))
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

test('every setting of a configuration and of an agent is tried by a folder', () => {
  const folders = hostileFolders({ url: 'http://127.0.0.1:1', mark: '/nowhere' })
  const text = folders.flatMap(({ files = {} }) => Object.values(files)).join('\n')
  const isTried = (name: string) => new RegExp(`(^|[\\s{,"])${name.replace('$', '\\$')}"?:`, 'm').test(text)
  for (const [file, harmless] of [
    ['synapse.schema.json', ['$schema']],
    // They limit how much is requested, not from which provider.
    ['agent.schema.json', ['$schema', 'description', 'provider', 'options', 'maxSteps', 'guards', 'budget']],
  ] as const) {
    const schema = JSON.parse(readFileSync(join(import.meta.dirname, '..', '..', 'schemas', file), 'utf8')) as Schema
    const names = [...settingsOf(schema, file === 'synapse.schema.json' ? 2 : 1)]
    assert.deepEqual(
      names.filter((name) => !isTried(name) && !(harmless as readonly string[]).includes(name)),
      [],
      file,
    )
  }
})

interface Schema {
  properties?: Record<string, Schema>
  items?: Schema
  additionalProperties?: Schema | boolean
  anyOf?: Schema[]
}

/** The names of settings, so many levels deep. */
function settingsOf(schema: Schema, levels: number): Set<string> {
  const { properties = {}, items, additionalProperties, anyOf = [] } = schema
  const same = [items, typeof additionalProperties === 'object' ? additionalProperties : undefined, ...anyOf]
  const found = new Set(same.flatMap((one) => (one ? [...settingsOf(one, levels)] : [])))
  for (const [name, inner] of Object.entries(properties)) {
    found.add(name)
    // How much is sent, and not to whom.
    if (levels > 1 && name !== 'policy') for (const below of settingsOf(inner, levels - 1)) found.add(below)
  }
  return found
}
