// However a list grows, is cut and has pieces replaced: the bytes are those of JSON.stringify, and no later body touches
// those of an earlier one.

import assert from 'node:assert/strict'
import test from 'node:test'
import fc from '../property.ts'
import type { JsonObject } from '../../src/core/json.ts'
import { bodyBytes, cachedList, cachedElement, type CachedElement } from '../../src/wires/shared/body-bytes.ts'

const step = fc.record({
  cut: fc.nat(12),
  marked: fc.array(fc.nat(60), { maxLength: 3 }),
  added: fc.array(fc.string({ unit: 'grapheme', maxLength: 6 }), { maxLength: 30 }),
})

test('bytes that are copied are those that would be written, for any sequence of bodies', () => {
  fc.assert(
    fc.property(fc.array(step, { minLength: 2, maxLength: 12 }), (steps) => {
      const sent: { bytes: Uint8Array; text: string }[] = []
      let pieces: CachedElement[] = []
      for (const { cut, marked, added } of steps) {
        pieces = [...pieces.slice(0, Math.max(0, pieces.length - cut)), ...added.map((text) => cachedElement({ text }))]
        // As a cache mark is set: for this body only.
        const list = pieces.map((piece, i) =>
          marked.includes(i) ? cachedElement({ ...piece.value, marked: true }) : piece,
        )
        const body = { model: 'm', list: cachedList(list), last: 'é' }
        sent.push({ bytes: bodyBytes(body), text: JSON.stringify(body) })
      }
      for (const { bytes, text } of sent) assert.equal(Buffer.from(bytes).toString(), text)
    }),
  )
})

const longText = fc
  .tuple(fc.string({ unit: 'grapheme', minLength: 1, maxLength: 8 }), fc.integer({ min: 250, max: 600 }))
  .map(([text, length]) => text.repeat(Math.ceil(length / text.length)))
const texts = fc.oneof(longText, fc.constantFrom('short', '\0', '"\0', '\0"', `${'long'.repeat(99)}"\0`))

/** The same text as elements of different wires. */
const forms = [
  (text: string) => ({ text }),
  (text: string) => ({
    role: 'user',
    content: [
      { type: 'text', text },
      { none: undefined, 2: 'two', 1: null },
    ],
  }),
  (text: string) => JSON.parse(`{"input":{"__proto__":{"text":${JSON.stringify(text)}}}}`) as JsonObject,
  (text: string) => ({ [text]: text }),
]

test('long texts that are copied from the body of another wire are those that would be written', () => {
  const body = fc.record({
    form: fc.constantFrom(...forms),
    cut: fc.nat(30),
    added: fc.array(texts, { maxLength: 30 }),
  })
  fc.assert(
    fc.property(fc.array(body, { minLength: 2, maxLength: 12 }), (bodies) => {
      const conversation = [{}]
      let said: string[] = []
      const sent: { bytes: Uint8Array; text: string }[] = []
      for (const { form, cut, added } of bodies) {
        said = [...said.slice(cut % 3 === 0 ? cut : 0), ...added]
        const wire = { list: cachedList(said.map((text) => cachedElement(form(text)))) }
        sent.push({ bytes: bodyBytes(wire, conversation), text: JSON.stringify(wire) })
      }
      for (const { bytes, text } of sent) assert.equal(Buffer.from(bytes).toString(), text)
    }),
  )
})

test('a long text is escaped once for all wires of a conversation', (t) => {
  const long = Array.from({ length: 300 }, (_, i) => `${i} "quoted" `.repeat(60))
  const conversation = [{}]
  const bytesFor = (form: (text: string) => JsonObject, list: readonly string[]) =>
    bodyBytes({ list: cachedList(list.map((text) => cachedElement(form(text)))) }, conversation)
  const escaped = t.mock.method(JSON, 'stringify')
  const count = () => escaped.mock.calls.filter(({ arguments: [value] }) => long.includes(value as string)).length
  for (const form of forms.slice(0, 2)) bytesFor(form, long)
  assert.equal(count(), 300)
  // Also if the beginning is left out and something stands before the rest.
  bytesFor(forms[0] as never, ['A summary. '.repeat(60), ...long.slice(200)])
  assert.equal(count(), 300)
})

test('a body that continues is copied, but for what is new in it', () => {
  let written: string[] = []
  const pieceNamed = (name: string): CachedElement =>
    cachedElement({
      get name() {
        written.push(name)
        return name
      },
    })
  const pieces = Array.from({ length: 200 }, (_, i) => pieceNamed(`message ${i}`))
  for (let turn = 0; turn < 5; turn++) {
    written = []
    pieces.push(pieceNamed(`turn ${turn}`))
    bodyBytes({ list: cachedList(pieces.with(40, pieceNamed('marked'))) })
    // The first body is all new, and in the second what stood together with the mark is written again.
    if (turn > 1) assert.deepEqual([...new Set(written)], ['marked', `turn ${turn}`])
  }
})
