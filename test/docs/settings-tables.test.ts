// The tables of settings in the documentation are those of the code.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import test from 'node:test'
import { pages, withTables } from '../../scripts/settings-tables.ts'

for (const page of pages) {
  test(`the tables in ${page.pathname.split('/').at(-1)} are what scripts/settings-tables.ts writes`, () => {
    const text = readFileSync(page, 'utf8')
    assert.match(text, /<!-- settings: \w+ -->/)
    assert.equal(text, withTables(text))
  })
}

test('a table that does not exist is an error, not an empty place', () => {
  assert.throws(() => withTables('<!-- settings: nope -->\n<!-- /settings -->'), /no table "nope"/)
})
