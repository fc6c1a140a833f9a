// Keys never reach logs, errors or the store.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Failure } from '../../src/core/error.ts'
import { redactFailure, redactHeaders, redactText, secretsIn } from '../../src/transport/redact.ts'

const canary = 'canary-0123456789-abcdef'

test('only headers that are known to be harmless are shown', () => {
  const shown = redactHeaders({
    'Content-Type': 'application/json',
    'anthropic-beta': 'message-threads-2026-08-12',
    'x-ratelimit-remaining-tokens': '7',
    Authorization: `Bearer ${canary}`,
    'x-api-key': canary,
    'x-goog-api-key': canary,
    'api-key': canary,
    cookie: canary,
    'x-some-new-header': canary,
  })
  assert.deepEqual(shown, {
    'Content-Type': 'application/json',
    'anthropic-beta': 'message-threads-2026-08-12',
    'x-ratelimit-remaining-tokens': '7',
    Authorization: '[hidden]',
    'x-api-key': '[hidden]',
    'x-goog-api-key': '[hidden]',
    'api-key': '[hidden]',
    cookie: '[hidden]',
    'x-some-new-header': '[hidden]',
  })
})

test('a key is hidden in text wherever it occurs, with or without its scheme', () => {
  const secrets = secretsIn({ authorization: `Bearer ${canary}`, 'content-type': 'application/json' })
  assert.deepEqual(secrets, [canary])
  assert.equal(redactText(`key ${canary}, again ${canary}!`, secrets), 'key [hidden], again [hidden]!')
})

test('a key with characters that JSON escapes is found in JSON too', () => {
  const key = 'quote"and\\slash-key'
  const text = JSON.stringify({ message: `bad key ${key}` })
  assert.deepEqual(JSON.parse(redactText(text, [key])), { message: 'bad key [hidden]' })
})

test('keys of other accounts are hidden by their shape', () => {
  const key = ['sk', 'proj', 'A1b2C3d4E5f6G7h8I9j0'].join('-')
  assert.equal(redactText(`Incorrect API key provided: ${key}.`, []), 'Incorrect API key provided: [hidden].')
  assert.equal(redactText('an ordinary sentence about sk-learn', []), 'an ordinary sentence about sk-learn')
})

test('values too short to be keys are left alone', () => {
  assert.deepEqual(secretsIn({ authorization: 'Bearer none' }), [])
})

test('a failure keeps its form without the key', () => {
  const failure: Failure = {
    kind: 'auth',
    message: `no ${canary}`,
    raw: { error: { message: canary, deep: [canary] } },
  }
  assert.deepEqual(redactFailure(failure, { 'x-api-key': canary }), {
    kind: 'auth',
    message: 'no [hidden]',
    raw: { error: { message: '[hidden]', deep: ['[hidden]'] } },
  })
})

test('of two secrets of which one begins with the other nothing stays visible, in either order', () => {
  const secrets = ['abcdefgh', 'abcdefgh-and-the-rest']
  for (const given of [secrets, secrets.toReversed()]) {
    assert.equal(redactText('key abcdefgh-and-the-rest or abcdefgh', given), 'key [hidden] or [hidden]')
  }
})
