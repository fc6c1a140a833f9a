import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '../../src/core/json.ts'
import { readDecisions } from '../../src/context/overlay-codec.ts'

const entries = ['a', 'b', 'c'].map((id) => ({ id }))
const read = (kind: string, data: JsonObject, entryId = 'c', undone = false) =>
  readDecisions(entries, [{ kind, data, undone, entryId, at: '' }])
const none = readDecisions(entries, [])

test('an overlay that lacks a field, or has it in another type, decides nothing', () => {
  const whole: [string, JsonObject][] = [
    ['plain', { through: 'b', provider: 'p', protocol: 'w' }],
    ['refused-field', { provider: 'p', model: 'm', field: 'f' }],
    ['cut', { before: 'b' }],
    ['compaction', { through: 'b' }],
  ]
  for (const [kind, data] of whole) {
    assert.notDeepEqual(read(kind, data), none, kind)
    for (const field of Object.keys(data)) {
      const { [field]: _, ...rest } = data
      assert.deepEqual(read(kind, rest), none, `${kind} without ${field}`)
      assert.deepEqual(read(kind, { ...rest, [field]: 1 }), none, `${kind} with a number as ${field}`)
    }
  }
})

test('an overlay of another branch, or one that was undone, decides nothing', () => {
  const data = { through: 'b', provider: 'p', protocol: 'w' }
  assert.deepEqual(read('plain', data, 'elsewhere'), none)
  assert.deepEqual(read('plain', data, 'c', true), none)
  assert.deepEqual(read('plain', { ...data, through: 'elsewhere' }), none)
})
