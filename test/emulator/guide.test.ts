import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'node:test'
import * as testing from '../../src/testing.ts'
import { readFault } from '../../src/emulator/faults.ts'

const guide = readFileSync(join(import.meta.dirname, '..', '..', 'docs', 'emulator.md'), 'utf8')

test('the guide imports only what synapse/testing exports', () => {
  const names = [...guide.matchAll(/import \{ (.+) \} from 'synapse\/testing'/g)].flatMap(([, list = '']) =>
    list.split(', '),
  )
  assert.ok(names.length >= 2)
  for (const name of names) assert.ok(Object.hasOwn(testing, name), name)
})

test('the guide names every field of a fault, and no other', () => {
  const table = guide.slice(guide.indexOf('## Faults'), guide.indexOf('## Options'))
  const named = [...table.matchAll(/^\| (`.+?`) +\|/gm)].flatMap(([, cell = '']) => cell.match(/\w+/g) ?? [])
  const refused = readFault('{"no-such-field":1}')
  assert.ok(typeof refused === 'string')
  const known = /It has (.*)\.$/.exec(refused)?.[1]?.split(', ')
  assert.deepEqual(named.toSorted(), known?.toSorted())
})
