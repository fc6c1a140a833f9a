// A sample of bodies against validators of others; all of them are in validators.all.test.ts.

import test from 'node:test'
import { checkByClient } from './mistral.ts'
import { checkByDocument, noDocument } from './openapi.ts'
import { checkByTypes } from './sdk-types.ts'

test("bodies for OpenAI fit OpenAI's own document", { skip: noDocument }, (t) => {
  t.diagnostic(`${checkByDocument(['openai'], 1)} bodies`)
})

test("bodies for Mistral fit the schemas of Mistral's own client", (t) => {
  t.diagnostic(`${checkByClient(1)} bodies`)
})

test('bodies for Anthropic, Google and OpenAI fit the types of their clients', (t) => {
  t.diagnostic(`${checkByTypes(1, 50_000)} bodies`)
})
