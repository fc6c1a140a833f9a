import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import test from 'node:test'
import { catalogueFile, catalogueText } from '../../scripts/catalogue.ts'
import { catalogue } from '../../src/providers/catalogue.ts'

test('catalogue.json is what scripts/catalogue.ts writes', () => {
  assert.equal(readFileSync(catalogueFile, 'utf8'), catalogueText(catalogue.generatedAt))
})
