import assert from 'node:assert/strict'
import test from 'node:test'
import { estimateTokens } from '../../src/context/count.ts'
import { plainSummary, withForgotten } from '../../src/context/summary.ts'
import { wholeView } from '../../src/context/view.ts'
import { call, reply, result, user } from '../histories.ts'

const covered = [
  user('Where is the tax computed?'),
  reply(call('a', 'read', { path: '/srv/app/src/billing/tax.ts' })),
  result('a', `export function applyVat(rate_2026) ${'and so on '.repeat(80)}`, 'read'),
  reply('In applyVat.'),
]
const later = [user('Rename applyVat, but leave rate_2026 and brand_new_name as they are.')]
const view = wholeView([...covered, ...later])

test('specific words that a summary left out and later messages use are added to it as a list', () => {
  const summary = withForgotten('The user asked about taxes.', view, covered.length, 2000)
  assert.equal(summary, 'The user asked about taxes.\n\nAlso mentioned: applyVat rate_2026')
})

test('a summary that has them is not changed', () => {
  const whole = 'applyVat takes rate_2026.'
  assert.equal(withForgotten(whole, view, covered.length, 2000), whole)
})

test('the addition is a small part of the budget', () => {
  const names = Array.from({ length: 2000 }, (_, i) => `name_${i}`).join(' ')
  const long = wholeView([user(names), reply('Noted.'), user(names)])
  const summary = withForgotten('Many names.', long, 2, 400)
  assert.ok(estimateTokens(summary) < 200, `${estimateTokens(summary)} tokens`)
})

test('a summary without a model contains each call as its fold', () => {
  const summary = plainSummary(view, covered.length, undefined, 2000)
  assert.match(summary, /The user said: Where is the tax computed\?/)
  assert.match(summary, /\[Tool use #2\] read\(path: …\/src\/billing\/tax\.ts\): ok, \d+ characters; with .*rate_2026/)
})
