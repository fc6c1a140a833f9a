// Summaries: the words that they must not lose, and one without a model.

import assert from 'node:assert/strict'
import test from 'node:test'
import { estimateTokens } from '../../src/context/count.ts'
import { historyAsText, plainSummary, stretchEnd, withForgotten } from '../../src/context/summary.ts'
import { wholeView } from '../../src/context/view.ts'
import { call, failure, reply, result, user } from '../histories.ts'

const covered = [
  user('Where is the tax computed?'),
  reply(call('a', 'read', { path: '/srv/app/src/billing/tax.ts' })),
  result('a', `export function applyVat(rate_2026) ${'and so on '.repeat(80)}`, 'read'),
  reply('In applyVat.'),
]
const later = [user('Rename applyVat, but leave rate_2026 and brand_new_name as they are.')]
const view = wholeView([...covered, ...later])

test('specific words that a summary left out and later messages use are added to it as a list', async () => {
  const summary = await withForgotten('The user asked about taxes.', view, covered.length, 2000)
  assert.equal(summary, 'The user asked about taxes.\n\nAlso mentioned: applyVat rate_2026')
})

test('a summary that has them is not changed', async () => {
  const whole = 'applyVat takes rate_2026.'
  assert.equal(await withForgotten(whole, view, covered.length, 2000), whole)
})

test('the addition is a small part of the budget', async () => {
  const names = Array.from({ length: 2000 }, (_, i) => `name_${i}`).join(' ')
  const long = wholeView([user(names), reply('Noted.'), user(names)])
  const summary = await withForgotten('Many names.', long, 2, 400)
  assert.ok(estimateTokens(summary) < 200, `${estimateTokens(summary)} tokens`)
})

test('a summary without a model contains each call as its fold', () => {
  const summary = plainSummary(view, covered.length, undefined, 2000)
  assert.match(summary, /The user said: Where is the tax computed\?/)
  assert.match(summary, /\[Tool use #2\] read\(path: …\/src\/billing\/tax\.ts\): ok, \d+ characters; with .*rate_2026/)
})

test('words are added while they fit exactly, each with the space before it', async () => {
  const names = wholeView([user('name_1 name_2'), reply('Noted.'), user('name_1 name_2')])
  const words = async (budget: number) => (await withForgotten('Names.', names, 2, budget)).split('mentioned: ')[1]
  const each = estimateTokens('name_1') + 1
  assert.deepEqual([await words(8 * each), await words(8 * each - 1)], ['name_1 name_2', 'name_1'])
})

test('words of results, arguments and earlier summaries are looked for too', async () => {
  const earlier = reply({ type: 'compaction', text: 'It began with old_name.' }, { type: 'compaction' })
  const call1 = reply(call('a', 'read', { path: 'src/a_file.ts' }))
  const history = wholeView([user('Go.'), earlier, call1, result('a', 'has inner_name'), user('old_name inner_name')])
  assert.match(await withForgotten('Nothing.', history, 4, 2000), /mentioned: old_name inner_name$/)
})

test('a summary without a model has every question and the last three answers, each under its own role', () => {
  const turns = Array.from({ length: 5 }, (_, i) => [user(`q${i}`), reply(`a${i}`), user(' ')]).flat()
  const lines = plainSummary(wholeView(turns), turns.length, 'Before.', 2000).split('\n')
  assert.deepEqual(lines, [
    'Before.',
    '15 earlier messages are not shown here; this was put together without a model.',
    ...[0, 1, 2, 3, 4].map((i) => `The user said: q${i}`),
    ...[2, 3, 4].map((i) => `The assistant said: a${i}`),
  ])
})

test('a summary without a model has as many of the newest calls as fit', () => {
  const turns = Array.from({ length: 100 }, (_, i) => [
    reply(call(`c${i}`, 'read', { path: `/srv/file_${i}.ts` })),
    result(`c${i}`, 'and so on '.repeat(80), 'read'),
  ]).flat()
  const summary = plainSummary(wholeView([user('Go.'), ...turns]), turns.length + 1, undefined, 500)
  assert.ok(summary.length <= 2000 && summary.length > 1900, `${summary.length}`)
  assert.match(summary, /file_99/)
  assert.doesNotMatch(summary, /file_1\./)
})

test('a summary covers all but the newest messages, and nothing if they are few or it would only cover another', () => {
  const history = Array.from({ length: 8 }, (_, i) => [user(`q${i}`), reply(`a${i}`)]).flat()
  const chat = wholeView(history)
  assert.equal(stretchEnd(chat, { keep: 5 }, Infinity), 12, 'the first message counts as one of those that stay')
  assert.equal(stretchEnd(chat, { keep: 16 }, Infinity), undefined)
  const size = estimateTokens('q1') + 4
  assert.equal(stretchEnd(chat, {}, 4 * 5 * size), 12, 'a quarter of the limit stays')
  assert.equal(stretchEnd({ ...chat, places: chat.places.map(() => -1) }, { keep: 5 }, Infinity), undefined)
  assert.equal(stretchEnd({ ...chat, places: [0, ...history.slice(1).map(() => -1)] }, { keep: 5 }, Infinity), 12)
})

test('a history is written as text, with as much of each message as there is room for', async () => {
  const long = `begins ${'x '.repeat(5000)} ends`
  const history = [
    user(long, { type: 'media', mediaType: 'image/png', data: { kind: 'base64', base64: '' }, name: 'a.png' }),
    reply(' ', call('a', 'read', { path: 'b' }), { type: 'compaction', text: 'Old.' }, { type: 'compaction' }),
    result('a', 'found', 'read'),
    reply({ type: 'tool-call', callId: 'b', name: 'read', input: {}, malformed: '{"pa' }),
    failure('b', 'broken', 'read'),
  ]
  const texts = await Promise.all([100_000, 2500, 800, 200].map((room) => historyAsText(history, 'Earlier.', room)))
  assert.deepEqual(
    texts.map((text) => text.length).toSorted((a, b) => b - a),
    texts.map((text) => text.length),
  )
  for (const [i, room] of [100_000, 2500, 800, 200].entries()) assert.ok(estimateTokens(texts[i] ?? '') <= room)
  assert.match(
    texts[3] ?? '',
    /^Summary of what came before:\nEarlier\.\n\nThe conversation:\n\nUser: begins x .* x {2}ends\n/,
  )
  const [, , , , ...lines] = (texts[3] ?? '').split('\n\n')
  assert.deepEqual(lines, [
    'Assistant calls read with {"path":"b"}',
    'Earlier summary: Old.',
    'read answered: found',
    'Assistant calls read with {"pa',
    'read failed: broken',
  ])
  assert.ok((await historyAsText(history, undefined, 10)).length < 210)
  assert.match(await historyAsText(history, undefined, 10), /^The conversation:/)
})

test('of a history that is far too long both ends are written, and nothing depends on what is between', async () => {
  const turns = (name: string) => Array.from({ length: 400 }, (_, i) => user(`${name} ${i} ${'word '.repeat(30)}`))
  const [start, end] = [turns('start'), turns('end')]
  const short = await historyAsText([...start, ...end], undefined, 500)
  const long = await historyAsText([...start, ...turns('middle'), ...turns('middle'), ...end], undefined, 500)
  assert.equal(long, short)
  assert.match(short, /^The conversation:\n\nUser: start 0 .* … .*User: end 399 [^:]*$/s)
  assert.ok(short.length > 990 && short.length < 1010)
})
