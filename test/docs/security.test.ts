// SECURITY.md promises nothing that no test keeps.

import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'node:test'

const root = join(import.meta.dirname, '..', '..')
const text = readFileSync(join(root, 'SECURITY.md'), 'utf8')
const promised = text.slice(0, text.indexOf('What this does not cover:'))

/** The items of the list and the rows of the table. */
const promises = [
  ...promised.matchAll(/^- [^]*?(?=\n(?:- |\n))/gm),
  ...promised.matchAll(/^\| (?!promise|-).*$/gm),
].map(([promise]) => promise)

/** As written in a promise; a bare name is next to the file that was named before it. */
function testsIn(promise: string): string[] {
  return [...promise.matchAll(/`((?:test\/[\w/-]+\/)?[\w.-]+\.test\.ts)`/g)].map(([, path = '']) => path)
}

test('each promise of SECURITY.md names an existing test', () => {
  assert.ok(promises.length > 20, `${promises.length} promises were found`)
  for (const promise of promises) {
    const [first, ...others] = testsIn(promise)
    assert.ok(first, `no test is named for: ${promise}`)
    for (const path of [first, ...others]) {
      const file = path.startsWith('test/') ? path : join(first, '..', path)
      assert.ok(existsSync(join(root, file)), `${file} is not there: ${promise}`)
      assert.match(readFileSync(join(root, file), 'utf8'), /\btest\(/, file)
    }
  }
})
