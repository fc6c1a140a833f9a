// Bodies against the zod schemas of Mistral's own client: written by them, a body must come out as it went in.

import { ChatCompletionRequest$outboundSchema } from '@mistralai/mistralai/models/components'
import assert from 'node:assert/strict'
import { isObject, type Json } from '../../src/core/json.ts'
import { bodiesFor } from './bodies.ts'

/** How many bodies fit; throws at the first that does not. */
export function checkByClient(most: number): number {
  let count = 0
  for (const { from, body } of bodiesFor('mistral-chat', ['mistral'], most)) {
    const { success, data, error } = ChatCompletionRequest$outboundSchema.safeParse(asInTheClient(body))
    assert.ok(success, `${from}: ${String(error).slice(0, 1000)}`)
    assert.deepEqual(given(data as Json, body), body, from)
    count++
  }
  return count
}

/** Their fields are in camel case, but for what belongs to the user. */
function asInTheClient(value: Json): unknown {
  if (Array.isArray(value)) return value.map(asInTheClient)
  if (!isObject(value)) return value
  const entries = Object.entries(value).map(([key, inner]) => {
    if (key === 'schema' && isObject(inner)) return ['schemaDefinition', inner]
    const name = key.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
    return [name, key === 'parameters' || inner === undefined ? inner : asInTheClient(inner)]
  })
  return Object.fromEntries(entries)
}

/** The client adds what it assumes, such as `stream: false`: only what the body says counts. */
function given(written: Json, body: Json): Json {
  if (Array.isArray(written) && Array.isArray(body)) return written.map((item, i) => given(item, body[i] ?? null))
  if (!isObject(written) || !isObject(body)) return written
  const entries = Object.entries(written).filter(([key]) => Object.hasOwn(body, key))
  return Object.fromEntries(entries.map(([key, inner]) => [key, given(inner ?? null, body[key] ?? null)]))
}
