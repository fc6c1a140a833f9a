// However a list grows, is cut and has pieces replaced: the bytes are those of JSON.stringify, and no later body touches
// those of an earlier one.

import assert from 'node:assert/strict'
import test from 'node:test'
import fc from '../property.ts'
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
    if (turn > 1) assert.deepEqual(written, ['marked', `turn ${turn}`])
  }
})
