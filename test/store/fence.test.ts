// Who may write, at the limits of a lease.

import assert from 'node:assert/strict'
import test from 'node:test'
import { SynapseError } from '../../src/core/error.ts'
import { checkTtl, checkWriter, isHeld, leaseLost, leaseOf, nextLease, type Fence } from '../../src/store/fence.ts'

const held = { conversationId: 'c', holder: 'a', epoch: 3, since: 1000, expires: 2000 }
const free: Fence = { ...held, holder: null }

function codeOf(run: () => unknown): string | undefined {
  try {
    run()
    return undefined
  } catch (error) {
    return error instanceof SynapseError ? error.failure.code : 'another error'
  }
}

test('a lease is held until the millisecond at which it expires', () => {
  assert.deepEqual([isHeld(held, 1999), isHeld(held, 2000), isHeld(free, 1999)], [true, false, false])
})

test('a writer without a lease may write where none is held, and revokes one that has expired', () => {
  assert.equal(
    codeOf(() => checkWriter(held, undefined, 1999)),
    'lease-held',
  )
  assert.equal(
    codeOf(() => checkWriter(held, {}, 1999)),
    'lease-held',
  )
  assert.deepEqual(checkWriter(held, undefined, 2000), { takes: true })
  assert.deepEqual(checkWriter(free, undefined, 1999), { takes: false })
})

test('a writer with a lease may write under its own number until another has it, expired or not', () => {
  assert.deepEqual(checkWriter(held, { epoch: 3 }, 1999), { takes: false })
  assert.deepEqual(checkWriter(held, { epoch: 3 }, 9999), { takes: false })
  for (const epoch of [2, 4, 0])
    assert.equal(
      codeOf(() => checkWriter(held, { epoch }, 1999)),
      'lease-lost',
    )
  assert.equal(
    codeOf(() => checkWriter(free, { epoch: 3 }, 1999)),
    'lease-lost',
  )
})

test('the next lease has the next number, and waits for the one before unless its holder is gone', () => {
  const wanted = { holder: 'b', ttlMs: 500 }
  assert.equal(
    codeOf(() => nextLease(held, wanted, 1999)),
    'lease-held',
  )
  assert.equal(
    codeOf(() => nextLease(held, { ...wanted, over: 2 }, 1999)),
    'lease-held',
  )
  const next = (now: number) => ({ conversationId: 'c', holder: 'b', epoch: 4, since: now, expires: now + 500 })
  assert.deepEqual(nextLease(held, { ...wanted, over: 3 }, 1999), next(1999))
  assert.deepEqual(nextLease(held, wanted, 2000), next(2000))
  assert.deepEqual(nextLease(free, wanted, 1500), next(1500))
})

test('whoever lost a lease learns how, and a lease shows its times as dates', () => {
  assert.match(
    leaseLost(free, 3).message,
    /^The lease number 3 on conversation c has expired: it was released, or expired\./,
  )
  assert.match(leaseLost(held, 2).message, /a took over at 1970-01-01T00:00:01\.000Z/)
  assert.deepEqual(leaseLost(held, 2).failure.raw, { holder: 'a', since: '1970-01-01T00:00:01.000Z', epoch: 3 })
  assert.deepEqual(leaseOf(held), {
    conversationId: 'c',
    holder: 'a',
    epoch: 3,
    since: '1970-01-01T00:00:01.000Z',
    expiresAt: '1970-01-01T00:00:02.000Z',
  })
})

test('a lease lasts some time, but not for ever', () => {
  for (const ttlMs of [0, -1, Infinity, Number.NaN]) assert.throws(() => checkTtl(ttlMs), /must last longer/)
  checkTtl(0.001)
})
