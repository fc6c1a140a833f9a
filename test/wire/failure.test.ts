import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { describe, test } from 'node:test'
import type { ErrorKind } from '../../src/core/error.ts'
import type { Json } from '../../src/core/json.ts'
import { readFailure } from '../../src/wires/shared/failure.ts'
import { anthropic } from './failure/bodies.ts'
import { hostCases } from './failure/hosts.ts'
import { makerCases } from './failure/makers.ts'
import { openaiCases } from './failure/openai.ts'

const cases = { ...openaiCases, ...makerCases, ...hostCases }

for (const [provider, rows] of Object.entries(cases)) {
  describe(`errors of ${provider}`, () => {
    for (const { kind, code, wait, ...reply } of rows) {
      test(`${reply.status ?? 'in the stream'}: ${JSON.stringify(reply.body)?.slice(0, 110)} is ${kind}`, () => {
        const failure = readFailure({ ...reply, provider })
        assert.equal(failure.kind, kind)
        if (code) assert.equal(failure.code, code)
        assert.equal(failure.retryAfterMs, wait)
        assert.deepEqual(failure.raw, reply.body)
        if (reply.status) assert.equal(failure.status, reply.status)
      })
    }
  })
}

describe('the wait that a provider asks for', () => {
  const now = Date.parse('2026-11-15T10:00:00Z')
  const waits: [Record<string, string>, number | undefined][] = [
    [{ 'Retry-After': '3' }, 3000],
    [{ 'retry-after': '1.5' }, 1500],
    [{ 'retry-after': '0' }, 0],
    [{ 'retry-after-ms': '250', 'retry-after': '9' }, 250],
    [{ 'retry-after-ms': 'soon', 'retry-after': '9' }, 9000],
    [{ 'retry-after': 'Sun, 15 Nov 2026 10:00:20 GMT' }, 20_000],
    [{ 'retry-after': 'Sun, 15 Nov 2026 09:00:00 GMT' }, undefined],
    [{ 'retry-after': '-5' }, undefined],
    [{ 'retry-after': 'tomorrow' }, undefined],
    [{}, undefined],
  ]
  for (const [headers, wait] of waits) {
    test(`${JSON.stringify(headers)} is ${wait} ms`, () => {
      assert.equal(readFailure({ status: 429, body: null, headers, now }).retryAfterMs, wait)
    })
  }

  test('a date is measured by the clock of the reply by default', () => {
    const headers = { date: 'Sun, 15 Nov 2026 10:00:00 GMT', 'retry-after': 'Sun, 15 Nov 2026 10:00:07 GMT' }
    assert.equal(readFailure({ status: 503, body: null, headers }).retryAfterMs, 7000)
  })

  test('is not set for an error that waiting does not fix', () => {
    const failure = readFailure({ status: 401, body: null, headers: { 'retry-after': '9' } })
    assert.equal(failure.retryAfterMs, undefined)
  })
})

describe('the message of a failure', () => {
  test('keeps the error message of the provider, names it, and says what to do', () => {
    const failure = readFailure({
      status: 401,
      body: anthropic('authentication_error', 'invalid x-api-key'),
      provider: 'anthropic',
    })
    assert.equal(failure.message, 'anthropic answered 401: invalid x-api-key. Check the API key.')
  })

  test('names the variable that the key came from', () => {
    const { message } = readFailure({ status: 401, body: null, provider: 'openai', keyVariable: 'OPENAI_API_KEY' })
    assert.equal(message, 'openai answered 401 without saying why. Check the API key in OPENAI_API_KEY.')
  })

  test('names the place of a validation error, not its input', () => {
    const body = {
      detail: [
        { type: 'extra_forbidden', loc: ['body', 'user'], msg: 'Extra inputs are not permitted', input: 'private' },
      ],
    }
    const { message } = readFailure({ status: 422, body, provider: 'mistral' })
    assert.equal(message, 'mistral answered 422: body.user: Extra inputs are not permitted.')
  })

  test('shows the error message of the provider through a gateway', () => {
    const body = {
      error: {
        code: 429,
        message: 'Provider returned error',
        metadata: { raw: 'x is temporarily rate-limited upstream' },
      },
    }
    assert.match(readFailure({ status: 429, body }).message, /rate-limited upstream.*Provider returned error/)
  })

  test('is bounded, whatever was sent', () => {
    const { message } = readFailure({ status: 400, body: { error: 'x'.repeat(1_000_000) } })
    assert.ok(message.length < 1000)
  })

  test('is made of anything that JSON can say', () => {
    for (const body of [
      null,
      true,
      7,
      '',
      [],
      {},
      [[[[[[[[{}]]]]]]]],
      { error: null },
      { error: { message: 5, code: {} } },
    ]) {
      assert.equal(typeof readFailure({ status: 400, body }).message, 'string')
    }
  })
})

const corpus = new URL('../../../shared/corpus/errors/', import.meta.url)
const expected: Record<string, ErrorKind> = {
  'anthropic-messages--400': 'invalid-request',
  'anthropic-messages--404': 'not-found',
  'bedrock-converse--400': 'invalid-request',
  'bedrock-converse--403': 'auth',
  'cohere--400': 'context-overflow',
  'count-tokens--400': 'invalid-request',
  'deepseek--400': 'context-overflow',
  'deepseek--401': 'auth',
  'deepseek-responses--400': 'invalid-request',
  'gemini--404': 'not-found',
  'groq--400': 'malformed-reply',
  'groq--404': 'not-found',
  'ollama--400': 'context-overflow',
  'ollama--401': 'auth',
  'openai-chat--400': 'invalid-request',
  'openai-chat--404': 'not-found',
  'openai-responses--400': 'invalid-request',
  'openrouter--400': 'context-overflow',
  'openrouter--401': 'auth',
  'openrouter--429': 'rate-limit',
  'perplexity--400': 'context-overflow',
  'vertex-gemini--400': 'invalid-request',
}

describe('recorded errors', { skip: existsSync(corpus) ? false : 'the corpus is not here' }, () => {
  for (const file of existsSync(corpus) ? readdirSync(corpus) : []) {
    const name = /^(.+?--\d{3})--/.exec(file)?.[1]
    if (!name) continue
    test(file, () => {
      const { response } = JSON.parse(readFileSync(new URL(file, corpus), 'utf8')) as {
        response: { status: number; body: Json }
      }
      const kind = file.includes('context_length_') ? 'context-overflow' : expected[name]
      assert.equal(readFailure(response).kind, kind)
    })
  }
})
