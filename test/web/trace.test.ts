// The encoders say which messages each element of a body was made from: on every wire of every provider.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Message } from '../../src/core/message.ts'
import { prepare } from '../../src/runtime/prepare.ts'
import { bandsOf } from '../../src/server/inspect/bands.ts'
import { diffLines } from '../../web/inspector/diff.ts'
import { originsNote, placesIn, readOrigins } from '../../src/context/origins.ts'
import { inspect } from '../../src/server/inspect/request.ts'
import { call, calls, failure, onePixel, reply, result, user, whatTimeIsIt } from '../histories.ts'
import { everyTarget, tools } from '../targets.ts'

const long: Message[] = [
  user('Read the file', onePixel),
  reply({ type: 'reasoning', text: 'I should read it.' }, call('c1', 'fs.read file', { path: 'a.txt' })),
  result('c1', 'first line\nsecond line', 'fs.read file'),
  reply('Here it is.', call('c2', 'clock', {}), call('c3', 'clock', { zone: 'UTC' })),
  result('c2', '12:00', 'clock'),
  failure('c3', 'no such zone', 'clock'),
  reply('It is noon somewhere.'),
  user('ok'),
  reply('Anything else?'),
  user('ok'),
  reply(call('c4', 'clock', {})),
  result('c4', '', 'clock'),
  reply('Nothing came back.'),
  user('Thanks'),
]

const histories: Record<string, Message[]> = {
  'one tool call': whatTimeIsIt,
  'a long one with images, failures and repeated words': long,
  'calls without arguments': [
    user('Go'),
    reply(calls('a', 'b')),
    result('a', 'one'),
    result('b', 'two'),
    reply('Both.'),
  ],
}

for (const [name, history] of Object.entries(histories)) {
  test(`every message is found in the body of every provider: ${name}`, () => {
    for (const target of everyTarget) {
      const where = `${target.provider} ${target.protocol} ${target.model}`
      const { body, origins } = prepare({ messages: history, system: 'Be brief.', tools, ...target })
      assert.ok(origins, where)
      const list = body[origins.field]
      assert.ok(Array.isArray(list) && list.length === origins.from.length, where)
      const places = placesIn(origins)
      const carried = new Set(places.flat())
      assert.deepEqual(
        [...carried].toSorted((a, b) => a - b),
        [...history.keys()],
        `${where}: ${JSON.stringify(places)}`,
      )
      for (const [i, element] of list.entries()) {
        const text = JSON.stringify(element)
        for (const word of wordsOf(places[i] ?? [], history)) {
          const isElsewhere = list.some((other, j) => j !== i && JSON.stringify(other).includes(word))
          assert.ok(text.includes(word) || isElsewhere, `${where}: ${word} in ${text}`)
        }
      }
    }
  })
}

/** What the element must hold, or another of the same reply. */
function wordsOf(places: readonly number[], history: readonly Message[]): string[] {
  return places.flatMap((place) =>
    (history[place]?.parts ?? []).flatMap((one) => (one.type === 'text' ? [one.text] : [])),
  )
}

test('where the elements of a body came from is stored in runs, and read back', () => {
  for (const target of everyTarget) {
    const { origins } = prepare({ messages: long, system: 'Be brief.', tools, ...target })
    assert.ok(origins)
    const read = readOrigins({ notes: originsNote(origins) })
    assert.deepEqual(read, { field: origins.field, places: placesIn(origins) })
  }
  assert.equal(readOrigins({ notes: [] }), undefined)
})

test('what is in the log but not in the body is listed with its reason', () => {
  const messages: Message[] = []
  for (let i = 0; i < 20; i++) messages.push(user(`question ${i}`), reply(`answer ${i}`))
  messages.push(user('the last one'))
  const { body, notes, origins } = prepare({ messages, provider: 'anthropic', policy: { maxMessages: 10 } })
  assert.ok(origins)
  const traced = { field: origins.field, places: placesIn(origins) }
  const inspected = inspect({ body, notes, origins: traced, history: messages, isSameModel: false })
  assert.ok(inspected.absent.length >= 30)
  for (const { notes: why } of inspected.absent) assert.match(JSON.stringify(why), /over 10 messages/)
})

test('the prefix that a cache should know ends at the first piece that changed', () => {
  const before = prepare({ messages: whatTimeIsIt.slice(0, 3), system: 'Be brief.', tools, provider: 'openai' })
  const after = prepare({ messages: whatTimeIsIt, system: 'Be brief.', tools, provider: 'openai' })
  const inspected = inspect({
    body: after.body,
    notes: after.notes,
    history: whatTimeIsIt,
    before: before.body,
    isSameModel: true,
    price: { input: 10, output: 50, cacheRead: 1 },
  })
  assert.deepEqual(
    inspected.pieces.filter((piece) => piece.kind === 'message').map((piece) => piece.cached),
    [true, true, true, false],
  )
  assert.ok(inspected.cachedTokens > 0 && inspected.cachedTokens < inspected.tokens)
  assert.ok((inspected.price ?? 0) < (inspected.tokens * 10) / 1e6)
  assert.deepEqual(inspected.changes, { same: inspected.pieces.length - 2, changed: 0, added: 1, gone: 0 })
})

test('the pieces of a long prompt cost what the whole of it falls under', () => {
  const { body, notes } = prepare({ messages: whatTimeIsIt, provider: 'openai' })
  const price = { input: 10, output: 50, beyond: { tokens: 200_000, input: 20, output: 75 } }
  const given = { body, notes, history: whatTimeIsIt, isSameModel: false, price }
  const short = inspect({ ...given, total: 200_000 })
  const long = inspect({ ...given, total: 200_001 })
  assert.equal(short.price?.toFixed(2), '2.00')
  assert.equal(long.price?.toFixed(2), '4.00')
  for (const [i, piece] of long.pieces.entries()) {
    if (piece.price) assert.ok(Math.abs(piece.price / (short.pieces[i]?.price ?? 0) - 2) < 0.01)
  }
})

test('two wires side by side are aligned by message', () => {
  const [a, b] = ['anthropic', 'openai'].map((provider) => {
    const { body, notes, origins } = prepare({ messages: long, system: 'Be brief.', tools, provider })
    assert.ok(origins)
    const traced = { field: origins.field, places: placesIn(origins) }
    return inspect({ body, notes, origins: traced, history: long, isSameModel: false })
  })
  assert.ok(a && b)
  const bands = bandsOf([a, b]).filter((band) => band.places.length > 0)
  const places = bands.flatMap((band) => band.places)
  assert.deepEqual(places, [...long.keys()])
  for (const band of bands) {
    for (const side of band.sides) {
      const mine = side.pieces.flatMap((piece) => piece.places)
      assert.ok(mine.every((place) => band.places.includes(place)))
      assert.ok(side.pieces.length + side.absent.length > 0, `${band.title} has something on both sides`)
    }
  }
})

test('a change is shown line by line', () => {
  assert.deepEqual(diffLines('a\nb\nc', 'a\nx\nc\nd'), [
    { kind: 'same', text: 'a' },
    { kind: 'gone', text: 'b' },
    { kind: 'new', text: 'x' },
    { kind: 'same', text: 'c' },
    { kind: 'new', text: 'd' },
  ])
})
