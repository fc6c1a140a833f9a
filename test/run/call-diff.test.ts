// What a call would change in a file, as a diff.

import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { callDiff, fileContent } from '../../src/run/tools/call-diff.ts'

const before = () => 'one\ntwo\nthree'
const missing = () => undefined
const signs = (diff: ReturnType<typeof callDiff>) => diff?.lines.map(({ sign, text }) => sign + text)

test('a write is shown as what changes in the file, and all of it as new if there is none', () => {
  const call = { name: 'write_file', input: { path: 'a.txt', content: 'one\n2\nthree' } }
  assert.deepEqual(signs(callDiff(call, before)), [' one', '-two', '+2', ' three'])
  assert.equal(callDiff(call, before)?.path, 'a.txt')
  assert.deepEqual(signs(callDiff(call, missing)), ['+one', '+2', '+three'])
})

test('what is appended comes after the lines that are there, and removes none of them', () => {
  const call = { name: 'append_file', input: { file_path: 'a.txt', text: 'four' } }
  assert.deepEqual(signs(callDiff(call, before)), [' one', ' two', ' three', '+four'])
})

test('edits are shown by their own lines, with a mark between two, and read no file', () => {
  const read = () => assert.fail('the file was read')
  const one = { name: 'edit', input: { path: 'a', old_string: 'x', new_string: 'y' } }
  assert.deepEqual(signs(callDiff(one, read)), ['-x', '+y'])
  const edits = [{ oldText: 'a', newText: 'b' }, { oldText: 'only old' }, { oldText: 'c', newText: 'd' }]
  assert.deepEqual(signs(callDiff({ name: 'edit', input: { path: 'a', edits } }, read)), ['-a', '+b', '…', '-c', '+d'])
})

test('a call without a path, without text, or of a tool that does not write has no diff', () => {
  for (const [name, input] of [
    ['write', { content: 'x' }],
    ['write', { path: 'a' }],
    ['write', { path: 1, content: 'x' }],
    ['search', { path: 'a', text: 'x' }],
    ['edit', { path: 'a', old_string: 'x' }],
    ['write', ['a', 'b']],
  ] as const) {
    assert.equal(callDiff({ name, input: JSON.parse(JSON.stringify(input)) }, before), undefined, JSON.stringify(input))
  }
})

test('what is no text is no part of a diff', () => {
  const edit = (input: object | string) => callDiff({ name: 'edit_file', input: input as never }, before)
  assert.equal(edit({ path: 'a.txt', old_string: 1, new_string: 'b' }), undefined)
  assert.equal(edit({ path: 'a.txt', edits: [7, null, { old_string: 'a' }] }), undefined)
  assert.equal(edit('path'), undefined)
})

test('a diff of exactly 2,000 lines is shown whole, a longer one says how much is left out', () => {
  const lines = (count: number) =>
    signs(callDiff({ name: 'write', input: { path: 'a', content: 'x\n'.repeat(count).slice(0, -1) } }, missing)) ?? []
  assert.deepEqual([lines(2000).length, lines(2000).at(-1)], [2000, '+x'])
  assert.deepEqual([lines(2003).length, lines(2003).at(-1)], [2001, '…3 more lines'])
})

test('of a file the text is read up to 1 MiB, and nothing of a folder, of bytes that are no text, or of no file', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'synapse-content-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const contentOf = (content: string) => {
    writeFileSync(join(folder, 'file'), content)
    return fileContent(join(folder, 'file'))
  }
  assert.equal(contentOf('é'), 'é')
  assert.equal(contentOf(''), '')
  assert.equal(contentOf('x'.repeat(1024 * 1024))?.length, 1024 * 1024)
  assert.equal(contentOf('x'.repeat(1024 * 1024 + 1)), undefined)
  assert.equal(contentOf('a\0b'), undefined)
  assert.equal(fileContent(folder), undefined)
  assert.equal(fileContent(join(folder, 'none')), undefined)
})
