// Budgets at their exact limit.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { overBudget } from '../../src/run/budget.ts'

test('a budget that is spent exactly allows no further request', () => {
  assert.equal(overBudget({ usd: 0.5 }, { usd: 0.5, tokens: 0 }, 'run')?.guard, 'spend')
  assert.equal(overBudget({ tokens: 100 }, { usd: 0, tokens: 100 }, 'run')?.guard, 'tokens')
})

test('a budget of which something is left allows one more', () => {
  assert.equal(overBudget({ usd: 0.5, tokens: 100 }, { usd: 0.4999, tokens: 99 }, 'run'), undefined)
  assert.equal(overBudget(undefined, { usd: 9, tokens: 9 }, 'run'), undefined)
})
