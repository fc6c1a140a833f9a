// The page for looking up an error: each message on it is in the source.

import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'

const root = join(import.meta.dirname, '..', '..')
const source = globSync(['src/**/*.ts', 'bin/*'], { cwd: root })
  .map((file) => readFileSync(join(root, file), 'utf8'))
  .join('\n')

test('every message on docs/troubleshooting.md is in the source', () => {
  const page = readFileSync(join(root, 'docs', 'troubleshooting.md'), 'utf8')
  const messages = [...page.matchAll(/^### `([^`]*…[^`]*)`$/gm)].map(([, message = '']) => message)
  assert.ok(messages.length > 10)
  const gone = messages.filter((message) => !pattern(message).test(source))
  assert.deepEqual(gone, [])
})

/** What is written as … is an expression of a template, or any text of one line. */
function pattern(message: string): RegExp {
  return new RegExp(message.split(/ ?… ?/).filter(Boolean).map(escaped).join('[^\\n]*'))
}

function escaped(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')
}
