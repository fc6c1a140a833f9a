import assert from 'node:assert/strict'
import test from 'node:test'
import { whenAborted } from '../../src/server/when-aborted.ts'

test('a client that has left before anything listened is noticed too, and only once', () => {
  let count = 0
  const leave = (): void => void count++
  whenAborted(AbortSignal.abort(), leave)
  assert.equal(count, 1)
  const later = new AbortController()
  whenAborted(later.signal, leave)
  assert.equal(count, 1)
  later.abort()
  later.abort()
  assert.equal(count, 2)
})
