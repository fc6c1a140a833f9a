// The OpenAPI document, by which others generate clients: every answer is as it says.

import assert from 'node:assert/strict'
import test from 'node:test'
import { Validator, type Schema } from '@cfworker/json-schema'
import type { Json, JsonObject } from '../../src/core/json.ts'
import { fill, furnish, queries, samples } from './every-route.ts'
import { serving, type Serving } from './serving.ts'

interface Operation {
  operationId: string
  tags: string[]
  requestBody?: { content: { 'application/json': { schema: JsonObject } } }
  responses: Record<string, { content?: Record<string, { schema: Schema }> }>
}

interface Document {
  security: JsonObject[]
  components: JsonObject
  paths: Record<string, Record<string, Operation>>
}

async function documentOf({ url }: Serving): Promise<Document> {
  return (await (await fetch(`${url}/openapi.json`)).json()) as Document
}

function operationsIn({ paths }: Document): { method: string; path: string; operation: Operation }[] {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
  )
}

test('each operation has a name of its own, for generated clients', async (t) => {
  const operations = operationsIn(await documentOf(await serving(t)))
  const names = operations.map(({ operation }) => operation.operationId)
  assert.ok(names.length > 50)
  for (const name of names) assert.match(name, /^[a-z]+(?:[A-Z][a-z]+)*$/)
  assert.equal(new Set(names).size, names.length)
  for (const { operation } of operations) assert.match(operation.tags.join(), /^[a-z]+$/)
})

test('a key is optional in the document where the server needs none', async (t) => {
  assert.deepEqual((await documentOf(await serving(t))).security, [{}, { key: [] }])
})

test('every answer has the status, media type and form of the document', async (t) => {
  const server = await serving(t)
  const { api } = server
  const document = await documentOf(server)
  const { components } = document
  const things = await furnish(server, api, 'local')
  const entryId = things['conversations']?.['entryId'] ?? ''
  // Whatever deletes comes last.
  const operations = operationsIn(document).toSorted((a, b) => order(a.method) - order(b.method))
  let checked = 0
  for (const { method, path, operation } of operations) {
    if (path.endsWith('/watch')) continue
    const at = `${method} ${path}`
    const schema = operation.requestBody?.content['application/json'].schema['$ref']
    const name = typeof schema === 'string' ? schema.replace('#/components/schemas/', '') : undefined
    const body = name === undefined ? undefined : (JSON.parse(sampleText(name).replace('ENTRY', entryId)) as Json)
    const answer = await api(method, fill(path, things) + (queries[path] ?? ''), body)
    const expected = operation.responses[answer.status] ?? operation.responses['default']
    const type = answer.headers.get('content-type')?.replace(/;.*/, '') ?? ''
    const content = expected?.content
    if (!content) {
      assert.equal(answer.text, '', at)
      continue
    }
    const any = content[type] ?? content['application/octet-stream']
    // A reconnect without an active answer has no content.
    if (answer.status === 204) continue
    assert.ok(any, `${at} ${answer.status}: ${type} is not in the document`)
    if (type !== 'application/json') continue
    const validator = new Validator({ ...any.schema, components }, '2020-12')
    const { valid, errors } = validator.validate(JSON.parse(answer.text) as Json)
    assert.ok(valid, `${at} ${answer.status}: ${JSON.stringify(errors.at(-1))} in ${answer.text.slice(0, 500)}`)
    checked++
  }
  assert.ok(checked > 45, `${checked} answers were checked`)
})

function order(method: string): number {
  return ['GET', 'POST', 'PATCH', 'DELETE'].indexOf(method)
}

function sampleText(name: string): string {
  assert.ok(name in samples, `a sample body for ${name}`)
  return JSON.stringify(samples[name])
}
