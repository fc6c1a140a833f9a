// Bodies against OpenAI's own OpenAPI document, where it is on the machine.

import { Validator, type Schema } from '@cfworker/json-schema'
import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { isObject, type Json, type JsonObject } from '../../src/core/json.ts'
import { bodiesFor } from './bodies.ts'

const file = join(import.meta.dirname, '..', '..', '..', 'shared', 'specs', 'openai-openapi-2026-08-21.json')

/** For the `skip` option of a test: false, or the reason. */
export const noDocument: string | false = existsSync(file) ? false : "OpenAI's OpenAPI document is not on this machine"

const requests = [
  { protocol: 'openai-chat', schema: 'CreateChatCompletionRequest' },
  { protocol: 'openai-responses', schema: 'CreateResponse' },
]

/** How many bodies fit; throws at the first that does not. */
export function checkByDocument(providers: readonly string[], most: number): number {
  const { components } = readable(JSON.parse(readFileSync(file, 'utf8')) as JsonObject) as JsonObject
  let count = 0
  for (const { protocol, schema } of requests) {
    const root = { $ref: `#/components/schemas/${schema}`, components } as Schema
    const validator = new Validator(root, '2020-12')
    for (const { from, body } of bodiesFor(protocol, providers, most)) {
      const { valid, errors } = validator.validate(withReplyFields(body))
      const deepest = errors.toSorted((a, b) => b.instanceLocation.length - a.instanceLocation.length).slice(0, 5)
      assert.ok(valid, `${from} on ${protocol}: ${JSON.stringify(deepest, null, 1)}`)
      count++
    }
  }
  return count
}

/** The document wants what only a reply has: a status and annotations. Items that came without are taken all the same. */
export function withReplyFields(body: JsonObject): JsonObject {
  if (!Array.isArray(body['input'])) return body
  const input = body['input'].map((item) => {
    if (!isObject(item)) return item
    // Encrypted reasoning may name its own id, so that none is made for it.
    if (item['type'] === 'reasoning') return { id: 'rs_0', ...item }
    const whole: JsonObject = { status: 'completed', ...item }
    if (item['type'] === 'web_search_call') return whole
    if (item['role'] !== 'assistant' || !Array.isArray(item['content'])) return item
    const content = item['content'].map((part) => ({ annotations: [], logprobs: [], ...(isObject(part) && part) }))
    return { ...whole, content }
  })
  return { ...body, input }
}

/**
 * The validator takes every `id` for the name of a schema, also those in examples. And the members of the document's
 * `oneOf` overlap: a plain message fits two of them.
 */
function readable(value: Json, isNames = false): Json {
  if (Array.isArray(value)) return value.map((item) => readable(item))
  if (!isObject(value)) return value
  const kept = Object.entries(value).filter(
    ([key]) => isNames || !(key === 'example' || key === 'examples' || key === 'default' || key.startsWith('x-')),
  )
  const named = kept.map(([key, inner]) => [
    key === 'oneOf' && !isNames ? 'anyOf' : key,
    readable(inner ?? null, key === 'properties'),
  ])
  return Object.fromEntries(named) as JsonObject
}
