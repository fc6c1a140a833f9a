import test from 'node:test'
import { noCorpus } from '../corpus.ts'
import { checkByClient } from './mistral.ts'
import { checkByDocument, noDocument } from './openapi.ts'
import { checkByTypes } from './sdk-types.ts'

test("every conversation for OpenAI fits OpenAI's own document", { skip: noDocument || noCorpus }, (t) => {
  t.diagnostic(`${checkByDocument(['openai', 'azure-openai'], Infinity)} bodies`)
})

test("every conversation for Mistral fits the schemas of Mistral's own client", { skip: noCorpus }, (t) => {
  t.diagnostic(`${checkByClient(Infinity)} bodies`)
})

test('conversations for Anthropic, Google and OpenAI fit the types of their clients', { skip: noCorpus }, (t) => {
  t.diagnostic(`${checkByTypes(5, 200_000)} bodies`)
})
