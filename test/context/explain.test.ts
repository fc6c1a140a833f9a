// What happened to each message of a request, and what it will cost.

import assert from 'node:assert/strict'
import test from 'node:test'
import type { Message } from '../../src/core/message.ts'
import { noDecisions } from '../../src/context/decisions.ts'
import { explain } from '../../src/context/explain.ts'
import { forecastNote, readForecast, readSaved } from '../../src/context/forecast.ts'
import type { Policy } from '../../src/settings/policy.ts'
import { assemble } from '../../src/context/assemble.ts'
import { firstDifference } from '../../src/context/shared-prefix.ts'
import { openaiChat } from '../../src/wires/openai-chat/index.ts'
import { call, reply, result, user } from '../histories.ts'
import { chatTarget } from './chat-target.ts'

const long = 'a long answer '.repeat(100)
const history = [
  { role: 'system' as const, parts: [{ type: 'text' as const, text: 'Be kind.' }] },
  user('What time is it?'),
  reply('Let me look.', call('a', 'clock')),
  result('a', long, 'clock'),
  reply('Noon.'),
  user('And now?'),
  reply(call('b', 'clock')),
  result('b', long, 'clock'),
  reply({ type: 'reasoning', text: 'Hm.' }, 'One.'),
  user('Thanks.'),
]

function assembled(policy: Policy, decisions = noDecisions) {
  return assemble({ history, policy, protocol: openaiChat, target: chatTarget, decisions })
}

test('each message is reported as sent, converted or folded, with the reason', () => {
  const { messages } = explain({ history, assembled: assembled({ maxToolTurns: 1, step: 1 }) })
  assert.deepEqual(
    messages.map(({ fate }) => fate),
    ['sent', 'sent', 'folded', 'folded', 'sent', 'sent', 'sent', 'sent', 'converted', 'sent'],
  )
  assert.match(messages[2]?.why.join() ?? '', /older than the last 1 tool turns/)
  assert.match(messages[8]?.why.join() ?? '', /reasoning/)
  assert.ok((messages[3]?.tokens ?? 0) > 100 && messages[3]?.sent === 0)
  assert.equal(messages[1]?.tokens, messages[1]?.sent)
})

test('what a window or a summary left out is reported as cut or summarised', () => {
  const cut = explain({
    history,
    assembled: assembled('full', { ...noDecisions, cut: { before: 5, why: 'too long' } }),
  })
  assert.deepEqual(
    cut.messages.slice(1, 6).map(({ fate }) => fate),
    ['sent', 'cut', 'cut', 'cut', 'sent'],
  )
  const compactions = [{ through: 4, text: 'It was noon.' }]
  const summarised = explain({ history, assembled: assembled('full', { ...noDecisions, compactions }) })
  assert.deepEqual(
    summarised.messages.slice(1, 6).map(({ fate }) => fate),
    ['summarised', 'summarised', 'summarised', 'summarised', 'sent'],
  )
  assert.match(summarised.messages[1]?.why.join() ?? '', /to a summary/)
})

test('a turn that was folded before the window cut it is reported as folded, the messages around it as cut', () => {
  const folds = [{ from: 1, through: 4, style: 'stub' as const, why: 'old' }]
  const { messages } = explain({
    history,
    assembled: assembled('full', { ...noDecisions, folds, cut: { before: 5, why: 'too long' } }),
  })
  assert.deepEqual(
    messages.slice(1, 6).map(({ fate }) => fate),
    ['sent', 'folded', 'folded', 'cut', 'sent'],
  )
})

test('tokens are in the count of the provider, and the price knows what is cached', () => {
  const price = { input: 2, output: 8, cacheRead: 0.2 }
  const plain = explain({ history, assembled: assembled('full'), price })
  const twice = explain({ history, assembled: assembled('full'), price, ratio: 2, cached: 400 })
  assert.equal(twice.tokens, plain.tokens * 2)
  assert.equal(plain.price, (plain.tokens * 2) / 1_000_000)
  assert.equal(twice.price, (400 * 0.2 + (twice.tokens - 400) * 2) / 1_000_000)
})

test('the first byte that differs from the last request is reported', () => {
  const request = assembled('full')
  const before = JSON.stringify(request.body)
  assert.equal(explain({ history, assembled: request, before }).differsAt, undefined)
  assert.equal(firstDifference('{"a":"é1"}', '{"a":"é2"}'), 8)
  assert.equal(firstDifference('ab', 'abc'), 2)
})

test('a forecast is read back from its note', () => {
  const about = { head: '0123456789ab', ttl: '1h' as const, whole: 5000, wholeCached: 4200 }
  const forecast = { estimate: 1200, cached: 900, ...about }
  const usage = { input: 1300, output: 5, cacheRead: 890, cacheWrite: 0, reasoning: 0 }
  assert.deepEqual(readForecast({ notes: [forecastNote(forecast, usage)] }), forecast)
  assert.equal(readSaved({ notes: [forecastNote(forecast, usage)] }), 0)
  assert.equal(readSaved({ notes: [forecastNote(forecast, usage, 0.0125)] }), 0.0125)
  assert.equal(readSaved({ notes: [forecastNote(forecast, usage, -0.001)] }), -0.001)
  const { data: _, ...old } = forecastNote(forecast, usage, 0.0125)
  assert.deepEqual(readForecast({ notes: [old] }), forecast, 'exchanges up to 0.1.0 have words alone')
  assert.equal(readSaved({ notes: [old] }), 0.0125)
  assert.equal(readForecast({ notes: [] }), undefined)
})

test('the system messages that open a history join the system prompt once each, after the given and the pinned text', () => {
  const system = (text: string) => ({ role: 'system' as const, parts: [{ type: 'text' as const, text }] })
  const sent = (messages: Message[], rest: { system?: string; policy?: Policy } = {}) => {
    const { context } = assemble({ history: messages, protocol: openaiChat, target: chatTarget, ...rest })
    return [context.system.map(({ text }) => text), context.messages.map(({ role }) => role)]
  }
  assert.deepEqual(sent([system('A'), system('B'), user('Hi'), system('C'), user('You')]), [
    ['A', 'B'],
    ['user', 'system', 'user'],
  ])
  assert.deepEqual(sent([user('Hi')]), [[], ['user']])
  assert.deepEqual(sent([system('A')])[0], ['A'])
  assert.deepEqual(sent([system('A'), user('Hi')], { system: 'S', policy: { preset: 'full', pinned: 'P' } })[0], [
    'P',
    'S',
    'A',
  ])
})
