// Which messages each element of a body came from.

import assert from 'node:assert/strict'
import test from 'node:test'
import { originsNote, placesIn, readOrigins } from '../../src/context/origins.ts'

const from = [
  ['system'],
  ['messages[3]'],
  ['messages[4]'],
  ['messages[5].parts[1]'],
  ['messages[7]', 'messages[8]'],
  ['messages[9]'],
  ['messages[10]'],
  ['messages[2]'],
]
const places = [[], [3], [4], [5], [7, 8], [9], [10], [2]]

test('elements are traced to the positions of their messages, and system text to none', () => {
  assert.deepEqual(placesIn({ field: 'messages', from }), places)
})

test('elements of consecutive messages are stored as one run, and each is read back', () => {
  const notes = originsNote({ field: 'messages', from })
  assert.deepEqual(notes[0]?.data, { field: 'messages', runs: [[[]], [3, 3], [[7, 8]], [9, 2], [2, 1]] })
  assert.deepEqual(readOrigins({ notes }), { field: 'messages', places })
})

test('a body that continues an earlier one, or only its beginning, has the record that it would have alone', () => {
  const copy = (count: number) => from.slice(0, count).map((names) => [...names])
  const last = [...from, ['messages[3]'], ['messages[4]']]
  for (const count of [8, 10, 3, 4, 7, 10]) {
    const alone = originsNote({ field: 'messages', from: [...copy(count), ...last.slice(8, count)] })
    assert.deepEqual(originsNote({ field: 'messages', from: last.slice(0, count) }), alone)
  }
})

test('a body without elements has no record', () => {
  assert.deepEqual(originsNote(undefined), [])
  assert.deepEqual(originsNote({ field: 'messages', from: [] }), [])
  assert.equal(readOrigins({ notes: [] }), undefined)
})

test('a record of another format is not read', () => {
  const read = (data: object) =>
    readOrigins({ notes: originsNote({ field: 'input', from }).map((note) => ({ ...note, data: { ...data } })) })
  assert.equal(read({ runs: [] }), undefined)
  assert.equal(read({ field: 'input' }), undefined)
  assert.deepEqual(read({ field: 'input', runs: ['x', [1, 1]] }), { field: 'input', places: [[1]] })
})
