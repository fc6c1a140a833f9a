// When a request is retried, after how long, and how often in total.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { ErrorKind, Failure } from '../../src/core/error.ts'
import { defaultRetry, retryWait } from '../../src/transport/retry.ts'
import { retryBudget, retryBudgets } from '../../src/transport/retry-budget.ts'

const still = { ...defaultRetry, random: () => 0 }
const failure = (kind: ErrorKind, retryAfterMs?: number): Failure => ({
  kind,
  message: kind,
  ...(retryAfterMs !== undefined && { retryAfterMs }),
})

describe('trying again', () => {
  const again: ErrorKind[] = ['rate-limit', 'overloaded', 'timeout', 'network', 'malformed-reply']
  const never: ErrorKind[] = [
    'auth',
    'permission',
    'quota',
    'context-overflow',
    'too-large',
    'invalid-request',
    'not-found',
    'state-lost',
    'refused',
    'aborted',
    'limit',
  ]
  for (const kind of again) {
    test(`helps with ${kind}`, () => assert.equal(retryWait(failure(kind), 1, undefined, still), 500))
  }
  for (const kind of never) {
    test(`does not help with ${kind}`, () => assert.equal(retryWait(failure(kind), 1, undefined, still), undefined))
  }

  test('is done twice and no more', () => {
    assert.equal(retryWait(failure('overloaded'), 1, undefined, still), 500)
    assert.equal(retryWait(failure('overloaded'), 2, undefined, still), 1000)
    assert.equal(retryWait(failure('overloaded'), 3, undefined, still), undefined)
  })

  test('follows x-should-retry against the kind, in both directions', () => {
    assert.equal(retryWait(failure('overloaded'), 1, false, still), undefined)
    assert.equal(retryWait(failure('invalid-request'), 1, true, still), 500)
    assert.equal(retryWait(failure('invalid-request'), 3, true, still), undefined)
  })
})

describe('the wait', () => {
  test('doubles up to eight seconds', () => {
    const patient = { ...still, retries: 9 }
    const waits = [1, 2, 3, 4, 5, 6, 7].map((failed) => retryWait(failure('network'), failed, undefined, patient))
    assert.deepEqual(waits, [500, 1000, 2000, 4000, 8000, 8000, 8000])
  })

  test('is shortened by chance, by a quarter at most', () => {
    assert.equal(retryWait(failure('network'), 1, undefined, { ...still, random: () => 0.5 }), 438)
    assert.equal(retryWait(failure('network'), 1, undefined, { ...still, random: () => 1 }), 375)
  })

  test('is what the provider asks for, even if that is zero', () => {
    assert.equal(retryWait(failure('rate-limit', 3210), 1, undefined, still), 3210)
    assert.equal(retryWait(failure('rate-limit', 0), 1, undefined, still), 0)
  })

  test('is not endured beyond a minute', () => {
    assert.equal(retryWait(failure('rate-limit', 60_000), 1, undefined, still), 60_000)
    assert.equal(retryWait(failure('rate-limit', 60_001), 1, undefined, still), undefined)
  })
})

describe('the budget', () => {
  test('allows a single request to be retried as its policy says', () => {
    const budget = retryBudget(0.2)
    budget.countRequest()
    assert.deepEqual([budget.take(), budget.take()], [true, true])
  })

  test('is a fifth of all requests once the reserve is used up', () => {
    const budget = retryBudget(0.2)
    let taken = 0
    for (let i = 0; i < 1000; i++) {
      budget.countRequest()
      for (let tries = 0; tries < 2; tries++) taken += Number(budget.take())
    }
    assert.ok(taken >= 200 && taken <= 210, `${taken} retries of 1000 requests`)
  })

  test('is separate for each provider', () => {
    const budgetOf = retryBudgets(0)
    while (budgetOf('a').take());
    assert.deepEqual([budgetOf('a').take(), budgetOf('b').take()], [false, true])
  })

  test('has a retry left exactly when a whole one has been saved up', () => {
    const budget = retryBudget(0.25)
    for (let i = 0; i < 10; i++) assert.equal(budget.take(), true)
    assert.equal(budget.take(), false)
    for (let i = 0; i < 3; i++) budget.countRequest()
    assert.equal(budget.take(), false)
    budget.countRequest()
    assert.equal(budget.take(), true)
    for (let i = 0; i < 100; i++) budget.countRequest()
    for (let i = 0; i < 10; i++) assert.equal(budget.take(), true)
    assert.equal(budget.take(), false, 'never more than ten')
  })
})
