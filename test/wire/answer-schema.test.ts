// How the schema of an answer reaches a provider: as such, as JSON mode, or in words.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { JsonObject } from '../../src/core/json.ts'
import { answerInWords, answerSchemaFor } from '../../src/wires/shared/answer.ts'
import type { Capabilities } from '../../src/wires/wire.ts'
import { targetFor } from './target-for.ts'

const object = (properties: JsonObject, more: JsonObject = {}): JsonObject => ({
  type: 'object',
  properties,
  required: Object.keys(properties),
  additionalProperties: false,
  ...more,
})

describe('the schema of an answer', () => {
  const schema = object({ a: { type: 'string' } })
  const asked = (capabilities: Partial<Capabilities>, hasTools: boolean) =>
    answerSchemaFor(targetFor(capabilities, schema), hasTools, 'openai', [])
  const inWords = (capabilities: Partial<Capabilities>, hasTools: boolean) =>
    answerInWords(targetFor(capabilities, schema), hasTools)

  test('is sent as such, as a wish for JSON, or not at all, as the provider supports it with and without tools', () => {
    assert.deepEqual(asked({}, false), { schema, strict: true })
    assert.deepEqual(asked({ answer: 'json' }, false), { strict: false })
    assert.equal(asked({ answer: 'none' }, false), undefined)
    assert.deepEqual(asked({ answer: 'json' }, true), { strict: false }, 'the same with tools by default')
    assert.equal(asked({ answer: 'schema', answerWithTools: 'none' }, true), undefined)
    assert.deepEqual(asked({ answer: 'none', answerWithTools: 'schema' }, true), { schema, strict: true })
    assert.equal(answerSchemaFor(targetFor({}), false, 'openai', []), undefined)
  })

  test('is written in the prompt exactly if the provider does not take it', () => {
    assert.equal(inWords({}, false), undefined)
    assert.equal(inWords({ answer: 'schema', answerWithTools: 'none' }, false), undefined)
    assert.match(inWords({ answer: 'none' }, false)?.text ?? '', /JSON Schema.*\n\{"type":"object"/)
    assert.equal(inWords({ answer: 'none' }, false)?.note.why, 'the provider supports no schema')
    assert.match(inWords({ answer: 'json' }, false)?.note.why ?? '', /only plain JSON/)
    assert.ok(inWords({ answer: 'schema', answerWithTools: 'none' }, true))
    const toolless = { answer: 'schema', answerWithTools: 'none', tools: false } as const
    assert.equal(inWords(toolless, true), undefined, 'a model without tools is sent none')
    assert.equal(answerInWords(targetFor({ answer: 'none' }), false), undefined)
  })

  test('that is no object is put into one only where JSON mode guarantees an object', () => {
    const list = { type: 'array', items: { type: 'string' } }
    const text = (answer: 'json' | 'none', of: JsonObject) => answerInWords(targetFor({ answer }, of), false)?.text
    assert.match(text('json', list) ?? '', /"properties":\{"value":\{"type":"array"/)
    assert.match(text('none', list) ?? '', /\n\{"type":"array"/)
    assert.match(text('json', schema) ?? '', /\n\{"type":"object","properties":\{"a"/)
  })

  test('is strict only if every object in it is closed and requires all it lists, without unsupported keywords', () => {
    const strict = (of: JsonObject) =>
      answerSchemaFor(targetFor({}, of), false, 'openai', [])?.strict ?? assert.fail('no schema')
    const open = { type: 'object', properties: { b: { type: 'string' } }, required: ['b'] }
    const yes: JsonObject[] = [
      object({}),
      object({ a: object({ b: { type: 'number' } }) }),
      object({ a: { type: 'array', items: object({ b: { type: 'number' } }) } }),
      object({ a: { anyOf: [{ type: 'null' }, object({})] } }),
      object({ a: { $ref: '#/$defs/b' } }, { $defs: { b: object({}) } }),
      object({ a: { type: 'string', enum: ['minLength'] } }),
    ]
    for (const one of yes) assert.equal(strict(one), true, JSON.stringify(one))
    const no: JsonObject[] = [
      open,
      object({ a: { type: 'string' } }, { required: [] }),
      object({ a: { type: 'string' }, b: { type: 'string' } }, { required: ['b'] }),
      object({ a: open }),
      object({ a: { type: 'array', items: open } }),
      object({ a: { anyOf: [{ type: 'null' }, open] } }),
      object({ a: { $ref: '#/$defs/b' } }, { $defs: { b: open } }),
      object({ a: { type: 'string', minLength: 1 } }),
      object({ a: { type: 'string', default: 'x' } }),
    ]
    for (const one of no) assert.equal(strict(one), false, JSON.stringify(one))
  })
})
