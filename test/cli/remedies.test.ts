// An error that names a remedy is right about it. A sample; remedies.all.test.ts has all of them.

import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'node:test'
import { commands } from '../../src/cli/main.ts'
import { prove, remedies } from './remedies.ts'

const sample = ['saves what can be read to a copy', 'repairs what it can', 'With --copy', 'brings it to', 'No keys yet']

for (const remedy of remedies.filter(({ text }) => sample.some((some) => text.includes(some)))) {
  test(`the remedy works: ${remedy.text}`, (t) => prove(t, remedy))
}

test('every command that an error names has a row here', () => {
  const root = join(import.meta.dirname, '..', '..', 'src')
  const named = new RegExp(`synapse (?:--resume|${Object.keys(commands).join('|')})\\b`)
  const missing = globSync('**/*.ts', { cwd: root }).flatMap((file) => {
    const lines = readFileSync(join(root, file), 'utf8').split('\n')
    return lines
      .filter(
        (line) => named.test(line) && /badInput\(|printError\(|message: |finding\(|^ {2}'Keep the file/.test(line),
      )
      .filter((line) => !remedies.some(({ text }) => line.includes(text)))
      .map((line) => `${file}: ${line.trim()}`)
  })
  assert.deepEqual(missing, [])
})
