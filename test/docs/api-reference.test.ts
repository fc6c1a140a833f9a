// The API reference is what the source says now, and everything in it has an example.

import assert from 'node:assert/strict'
import { globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'node:test'
import { exportsOf, folder, writePages } from '../../scripts/api-reference.ts'

const entries = ['index', 'ai-sdk', 'testing', 'stores', 'wires']

test('docs/api is current: node scripts/api-reference.ts', (t) => {
  const made = mkdtempSync(join(tmpdir(), 'synapse-api-'))
  t.after(() => rmSync(made, { recursive: true, force: true }))
  writePages(made)
  assert.deepEqual(globSync('*', { cwd: folder }).toSorted(), globSync('*', { cwd: made }).toSorted())
  for (const name of globSync('*', { cwd: made })) {
    assert.equal(readFileSync(join(folder, name), 'utf8'), readFileSync(join(made, name), 'utf8'), name)
  }
})

for (const entry of entries) {
  test(`every export of ${entry} has a declaration and an example, and every function a comment`, async () => {
    const exports = exportsOf(`src/${entry}.ts`)
    const values = Object.keys((await import(`../../src/${entry}.ts`)) as object)
    assert.deepEqual(exports.flatMap(({ name, isType }) => (isType ? [] : [name])).toSorted(), values.toSorted())
    for (const one of exports) {
      assert.notEqual(one.declaration, '', one.name)
      assert.match(one.example, new RegExp(`\\b${one.name}\\b|${methodOf(one.declaration)}`), one.name)
      if (!one.isType) assert.notEqual(one.comment, '', one.name)
    }
  })
}

/** An interface of methods is shown by calling one of them. */
function methodOf(declaration: string): string {
  const methods = [...declaration.matchAll(/^ {2}(\w+)(?:<.*>)?\(/gm)].map(([, name]) => `\\.${name}\\(`)
  return methods.length === 0 ? '(?!)' : methods.join('|')
}
