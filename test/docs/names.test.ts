// What the documentation names exists: functions are exported, settings and fields are in the source, commands are on the
// page of the command line with the help that they print.

import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'node:test'
import { page, withHelp } from '../../scripts/command-line.ts'
import * as aiSdk from '../../src/ai-sdk.ts'
import { commands } from '../../src/cli/main.ts'
import * as library from '../../src/index.ts'
import * as stores from '../../src/stores.ts'
import * as testing from '../../src/testing.ts'
import * as wires from '../../src/wires.ts'

const root = join(import.meta.dirname, '..', '..')
const source = globSync('{src,web,scripts}/**/*.{ts,tsx}', { cwd: root })
  .map((file) => readFileSync(join(root, file), 'utf8'))
  .join('\n')

/** Functions that a module of ours gives to others. */
const internal = new Set([...source.matchAll(/export (?:async )?function\*? (\w+)/g)].map(([, name = '']) => name))
const exported = new Set([library, testing, aiSdk, stores, wires].flatMap((entry) => Object.keys(entry)))
const words = new Set(source.match(/\w+/g))

/** Pages for contributors describe the internals; all others are for users. */
const pages = globSync('docs/**/*.md', { cwd: root }).filter((file) => !/docs.(decisions|protocols)./.test(file))

/** Names that belong to others. */
const foreign = new Set([
  'addToolApprovalResponse',
  'generateText',
  'streamText',
  'toStandardJsonSchema',
  'generateContent',
  'oneOf',
])

for (const file of pages) {
  const names = namesIn(withoutTheirWords(file, readFileSync(join(root, file), 'utf8')))

  test(`every function that ${file} names is exported`, () => {
    // A setting or a field may have the name of a function: only what is a name of nothing else counts.
    const hidden = names.filter(
      (name) => internal.has(name) && !exported.has(name) && !foreign.has(name) && !isField(name),
    )
    assert.deepEqual(hidden, [])
  })

  test(`every name on ${file} is one that the source knows`, () => {
    const gone = names.filter((name) => !words.has(name) && !foreign.has(name))
    assert.deepEqual(gone, [])
  })
}

test('every command is on the page of the command line, with the help that it prints', async () => {
  const text = readFileSync(page, 'utf8')
  for (const name of Object.keys(commands)) assert.match(text, new RegExp(`^### ${name}$`, 'm'))
  assert.equal(text, await withHelp(text))
})

test('every command in a code block exists', () => {
  for (const file of ['README.md', ...pages]) {
    const text = readFileSync(join(root, file), 'utf8')
    const blocks = [...text.matchAll(/```(?:sh|bash)\n([^]*?)```/g)].map(([, block = '']) => block)
    const words = blocks.flatMap((block) => [...block.matchAll(/(?<![\w/.-])synapse (?:-- )?([a-z]+)(?= |$)/gm)])
    const unknown = words.map(([, word = '']) => word).filter((word) => !Object.hasOwn(commands, word))
    assert.deepEqual(unknown, [], file)
  }
})

/** On the migration guides, the first column of a table has the terms of the other library. */
function withoutTheirWords(file: string, text: string): string {
  return /(?:coming-)?from-/.test(file) ? text.replaceAll(/^\| (?:[^|\\]|\\.)* \|/gm, '') : text
}

/** Words in code spans that are written like names of functions or fields. */
function namesIn(text: string): string[] {
  const spans = [...text.replaceAll(/```[^]*?```/g, '').matchAll(/`([^`\n]+)`/g)].map(([, span = '']) => span)
  const names = spans.flatMap((span) => span.match(/(?<![\w.$/-])[a-z]+[a-z0-9]*[A-Z]\w*(?![\w/-])/g) ?? [])
  return [...new Set(names)]
}

function isField(name: string): boolean {
  return new RegExp(`\\b${name}\\??: `).test(source)
}
