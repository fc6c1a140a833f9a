// How an error is read: its status, kind, code, texts and wait.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Json } from '../../src/core/json.ts'
import { readFailure } from '../../src/wires/shared/failure.ts'

describe('an error', () => {
  const read = (body: Json, more: object = {}) => readFailure({ body, ...more })

  test('has the status of the reply, or else one that its body names', () => {
    assert.deepEqual([read({}, { status: 400 }).status, read({ code: 429 }, { status: 200 }).status], [400, 429])
    assert.deepEqual(
      [
        read({ status: 399 }).status,
        read({ status: 400 }).status,
        read({ status: 599 }).status,
        read({ status: 600 }).status,
      ],
      [undefined, 400, 599, undefined],
    )
    assert.equal(read({ status_code: 503, code: 404 }).status, 503, 'the first of them')
    assert.equal(read({ error: { code: 404 }, status: 503 }).status, 404, 'the innermost')
    assert.equal('status' in read({}), false)
  })

  test('without anything known is of the kind that its status suggests', () => {
    assert.equal(read({}, { status: 499 }).kind, 'invalid-request')
    assert.equal(read({}, { status: 505 }).kind, 'overloaded')
    assert.equal(read({}).kind, 'malformed-reply')
    assert.equal(read({ message: 'x' }).kind, 'overloaded')
    assert.equal(read({ code: 'x' }).kind, 'overloaded')
  })

  test('is named by its most specific code', () => {
    assert.equal(read({ type: 't', code: 'c', status: 's' }).code, 'c')
    assert.equal(read({ status: 's', type: 't' }).code, 's')
    assert.equal(read({ type: 't', error: { type: 'inner' } }).code, 'inner')
    assert.equal(read({ reason: 'r', error_code: 'e' }).code, 'e')
    assert.equal('code' in read({ param: 'p' }), false)
    assert.equal('code' in read({ type: 'error', code: '' }), false)
    assert.equal(read({}, { headers: { 'x-amzn-errortype': 'Throttled:http://x' } }).code, 'Throttled')
  })

  test('is found in nested errors, lists and texts of JSON, but not at any depth', () => {
    const texts = (body: Json) => read(body).message
    assert.match(texts({ error: { message: 'a' }, message: 'b' }), /: a · b\./)
    assert.match(texts({ message: '{"error":{"message":"in"}}' }), /error: in\./)
    assert.match(texts({ message: '{not json' }), /: \{not json\./)
    assert.match(texts({ detail: [{ msg: 'a' }, { msg: 'b' }] }), /: a · b\./)
    assert.match(texts({ detail: [{ msg: 'a', loc: ['x', 1] }] }), /: x\.1: a\./)
    assert.match(texts({ response: { error: { message: 'r' } } }), /: r\./)
    assert.match(texts('a  b\nc'), /: a b c\./)
    assert.match(texts('<!DOCTYPE html><style>x</style><p>Bad  gateway</p>'), /: Bad gateway\./)
    const list = Array.from({ length: 9 }, (_, i) => ({ msg: `m${i}` }))
    assert.match(texts({ detail: list }), /m6 · m7\. The/)
    const nested = (depth: number): Json => (depth === 0 ? 'deep' : { error: nested(depth - 1) })
    assert.match(texts(nested(6)), /deep/)
    assert.doesNotMatch(texts(nested(7)), /deep/)
    assert.match(texts({ message: 'a', msg: 'a' }), /^The provider reported an error: a\. The/)
  })

  test('shows six hundred characters, and ends its sentence once', () => {
    const shown = (text: string) => read(text, { status: 400, provider: 'p' }).message
    assert.equal(shown('x'.repeat(600)), `p answered 400: ${'x'.repeat(600)}.`)
    assert.equal(shown('x'.repeat(601)), `p answered 400: ${'x'.repeat(600)}…`)
    for (const end of ['.', '!', '?']) assert.equal(shown(`Why${end}`), `p answered 400: Why${end}`)
    assert.equal(shown(''), 'p answered 400 without saying why.')
  })

  test('has the wait of its headers, of its body or of its text, in this order', () => {
    const wait = (body: Json, headers: Record<string, string> = {}) =>
      readFailure({ status: 429, body, headers }).retryAfterMs
    assert.equal(wait({ retryDelay: '3s', message: 'try again in 5s' }, { 'Retry-After': '2' }), 2000)
    assert.equal(wait({ retryDelay: '3s', message: 'try again in 5s' }), 3000)
    for (const [text, ms] of [
      ['try again in 5s', 5000],
      ['Please retry after 20 seconds.', 20_000],
      ['try again in 6m0s', 360_000],
      ['retry your request in 1h2m3s', 3_723_000],
      ['try again in 120ms', 120],
      ['try again in 250 milliseconds', 250],
      ['try again in 1.5 min', 90_000],
      ['try again in 0.0001s', 1],
      ['try again in 5 months', undefined],
      ['try again later', undefined],
    ] as const) {
      assert.equal(wait({ message: text }), ms, text)
    }
  })
})
