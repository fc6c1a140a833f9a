// Server-sent events and lines of JSON, split anywhere.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc, { runs } from '../property.ts'
import type { Json } from '../../src/core/json.ts'
import { frameAwsEvent } from '../../src/transport/aws-events.ts'
import { unframeNdjson } from '../../src/transport/ndjson.ts'
import { readRecording } from '../../src/transport/recording.ts'
import { unframeSse } from '../../src/transport/sse.ts'
import { notJson, sizeText, textReader, tooLarge, type Unframer } from '../../src/transport/unframe.ts'
import { toy } from './toy-protocol.ts'

const size = 1024 * 1024

/** Reads bytes in the given pieces, as the body of a reply would be read. */
function read(unframer: Unframer, pieces: Iterable<Uint8Array>): Json[] {
  const reader = textReader()
  const chunks: Json[] = []
  for (const piece of pieces) chunks.push(...unframer.push(reader.push(piece)))
  chunks.push(...unframer.push(reader.flush()), ...unframer.flush())
  return chunks
}

const bytes = (text: string) => new TextEncoder().encode(text)

/** An SSE stream with everything that the format allows, and the chunks it holds. */
const fixture = bytes(
  [
    '\uFEFF: hello\r\n\r\n',
    'event: greeting\ndata: {"n":1,"text":"grüß 👋 dich"}\n\n',
    'data:{"n":2}\r\n\r\n',
    ':\n:keep-alive\n\n',
    'data: {"n":3,\ndata: "text":\ndata: "three lines"}\n\n',
    'id: 7\nretry: 10\nunknown: field\nnonsense\ndata: {"n":4}\r\r',
    'data:\n\n',
    'data: {"n":5,"text":"\\u0000 and \\n"}\n\n',
    'data: [DONE]\n\n',
    'data: {"n":6}\n\n',
  ].join(''),
)
const expected: Json[] = [
  { n: 1, text: 'grüß 👋 dich' },
  { n: 2 },
  { n: 3, text: 'three lines' },
  { n: 4 },
  { n: 5, text: '\0 and \n' },
]

const lines = bytes('{"n":1,"text":"grüß 👋"}\n\r\n{"n":2}\r\n  {"n":3}\n{"n":4}')
const values: Json[] = [{ n: 1, text: 'grüß 👋' }, { n: 2 }, { n: 3 }, { n: 4 }]

function cutAt(whole: Uint8Array, cuts: number[]): Uint8Array[] {
  const places = [0, ...cuts.map((cut) => cut % (whole.length + 1)).toSorted((a, b) => a - b), whole.length]
  return places.slice(1).map((end, i) => whole.subarray(places[i], end))
}

test('text is read as it was written, wherever it is cut, with or without a byte order mark', () => {
  const texts = ['data: ä€😀\n\n', '\uFEFFfirst\n\n\uFEFFsecond\n', '\uFEFF', '', '\n\uFEFF\n', 'ends in ä']
  for (const text of texts) {
    const whole = bytes(text)
    for (let a = 0; a <= whole.length; a++) {
      for (let b = a; b <= whole.length; b++) {
        const reader = textReader()
        const got = cutAt(whole, [a, b]).map((piece) => reader.push(piece))
        assert.equal(got.join('') + reader.flush(), text.replace(/^\uFEFF/, ''), `${text}, cut at ${a} and ${b}`)
      }
    }
  }
  const reader = textReader()
  const broken = [[0x61, 0xe2, 0x82], [0x0a], [0xff, 0x0a], [0xc3]].map((piece) => reader.push(Uint8Array.from(piece)))
  assert.equal(broken.join('') + reader.flush(), 'a\uFFFD\n\uFFFD\n\uFFFD')
})

describe('server-sent events', () => {
  test('are read with every kind of line break, byte order mark, comments and data of several lines', () => {
    assert.deepEqual(read(unframeSse(size), [fixture]), expected)
  })

  test('cut in two at any byte give the same chunks', () => {
    for (let at = 0; at <= fixture.length; at++) {
      assert.deepEqual(read(unframeSse(size), cutAt(fixture, [at])), expected, `cut at ${at}`)
    }
  })

  test('byte by byte give the same chunks', () => {
    const single = Array.from(fixture, (_, i) => fixture.subarray(i, i + 1))
    assert.deepEqual(read(unframeSse(size), single), expected)
  })

  test('cut anywhere, as often as you like, give the same chunks', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(fixture.length), { maxLength: 40 }), (cuts) => {
        assert.deepEqual(read(unframeSse(size), cutAt(fixture, cuts)), expected)
      }),
      { numRuns: runs(2000) },
    )
  })

  test('keep the last event when only its blank line is missing', () => {
    assert.deepEqual(read(unframeSse(size), [bytes('data: {"a":1}\n\ndata: {"a":2}')]), [{ a: 1 }, { a: 2 }])
  })

  test('do not trip over a last event that was cut in its middle', () => {
    const unframer = unframeSse(size)
    assert.deepEqual(read(unframer, [bytes('data: {"a":1}\n\ndata: {"a":')]), [{ a: 1 }])
    assert.equal(unframer.trouble, undefined)
  })

  test('end at the last line of the wire, or at [DONE], and say so', () => {
    const unframer = unframeSse(size, '<end>')
    assert.deepEqual(unframer.push('data: 1\n\n'), [1])
    assert.equal(unframer.done, false)
    assert.deepEqual(unframer.push('data: <end>\n\ndata: 2\n\n'), [])
    assert.equal(unframer.done, true)
  })

  test('that are not JSON are an error that shows them, after the valid chunks', () => {
    const unframer = unframeSse(size)
    assert.deepEqual(unframer.push('data: 1\n\ndata: {"a":\n\ndata: 2\n\n'), [1])
    assert.equal(unframer.trouble?.kind, 'malformed-reply')
    assert.match(unframer.trouble?.message ?? '', /\{"a":/)
    assert.deepEqual(unframer.push('data: 3\n\n'), [])
  })

  test('named error are errors, whatever their data is', () => {
    const error = (data: string) => unframeSse(size).push(`event: error\ndata: ${data}\n\n`)
    assert.deepEqual(error('{"error":{"message":"no"}}'), [{ error: { message: 'no' } }])
    assert.deepEqual(error('{"type":"error","message":"no"}'), [{ type: 'error', message: 'no' }])
    assert.deepEqual(error('{"message":"no"}'), [{ type: 'error', error: { message: 'no' } }])
    assert.deepEqual(error('out of luck'), [{ type: 'error', error: { message: 'out of luck' } }])
  })

  test('survive bytes that are no UTF-8', () => {
    const broken = [bytes('data: {"a":"'), new Uint8Array([0xff, 0xc3]), bytes('"}\n\n')]
    assert.deepEqual(read(unframeSse(size), broken), [{ a: '\uFFFD\uFFFD' }])
  })

  const large: [string, string[]][] = [
    ['in one piece', ['data: 1\n\n', `data: "${'x'.repeat(100)}"\n\n`]],
    ['in many pieces', ['data: 1\n\n', 'data: "', ...Array.from({ length: 20 }, () => 'xxxxxxxxxx')]],
    ['in many lines', ['data: 1\n\n', ...Array.from({ length: 20 }, () => 'data: xxxxxxxxxx\n')]],
    ['without data', ['data: 1\n\n', `event: ${'x'.repeat(200)}`]],
  ]
  for (const [how, pieces] of large) {
    test(`larger than allowed ${how} are not read`, () => {
      const unframer = unframeSse(100)
      assert.deepEqual(
        pieces.flatMap((piece) => unframer.push(piece)),
        [1],
      )
      assert.equal(unframer.trouble?.kind, 'limit')
      assert.match(unframer.trouble?.message ?? '', /larger than 100 bytes/)
    })
  }

  test('are not bounded by the length of comments', () => {
    const unframer = unframeSse(100)
    for (let i = 0; i < 100; i++) assert.deepEqual(unframer.push(`: ${'x'.repeat(50)}`), [])
    assert.deepEqual(unframer.push('\ndata: 1\n\n'), [1])
  })
})

describe('lines of JSON', () => {
  test('cut in two at any byte give the same chunks', () => {
    for (let at = 0; at <= lines.length; at++) {
      assert.deepEqual(read(unframeNdjson(size), cutAt(lines, [at])), values, `cut at ${at}`)
    }
  })

  test('cut anywhere, as often as you like, give the same chunks', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(lines.length), { maxLength: 30 }), (cuts) => {
        assert.deepEqual(read(unframeNdjson(size), cutAt(lines, cuts)), values)
      }),
      { numRuns: runs(1000) },
    )
  })

  test('that are not JSON are trouble, but a last one that was cut is only missing', () => {
    const unframer = unframeNdjson(size)
    assert.deepEqual(unframer.push('{"a":1}\n{"a":\n{"a":2}\n'), [{ a: 1 }])
    assert.equal(unframer.trouble?.kind, 'malformed-reply')
    assert.deepEqual(read(unframeNdjson(size), [bytes('{"a":1}\n{"a":')]), [{ a: 1 }])
  })

  test('longer than allowed are not read', () => {
    const unframer = unframeNdjson(100)
    assert.deepEqual(unframer.push('1\n'), [1])
    for (let i = 0; i < 20; i++) assert.deepEqual(unframer.push('xxxxxxxxxx'), [])
    assert.equal(unframer.trouble?.kind, 'limit')
    assert.deepEqual(unframer.flush(), [])
  })

  test('may have exactly the allowed size, in any number of pieces, and blank ones are skipped', () => {
    const line = '{"a":12}'
    const read = (size: number, ...pieces: string[]) => {
      const unframer = unframeNdjson(size)
      const chunks = pieces.flatMap((piece) => unframer.push(piece))
      return { chunks: [...chunks, ...unframer.flush()], trouble: unframer.trouble?.kind, done: unframer.done }
    }
    const fine = { chunks: [{ a: 12 }], trouble: undefined, done: false }
    assert.deepEqual(read(8, `${line}\n`), fine)
    assert.deepEqual(read(8, ...line.split(''), '\n'), fine)
    assert.deepEqual(read(8, line), fine)
    assert.deepEqual(read(8, '\n \n', `${line}\n\n`), fine)
    assert.deepEqual(read(7, `${line}\n`), { chunks: [], trouble: 'limit', done: false })
    assert.deepEqual(read(7, ...line.split('')), { chunks: [], trouble: 'limit', done: false })
    assert.deepEqual(read(8, `${line}\n${line}\n`).chunks, [{ a: 12 }, { a: 12 }], 'the size is that of one line')
    assert.deepEqual(read(8, `${line}\nx\n${line}\n`), { chunks: [{ a: 12 }], trouble: 'malformed-reply', done: false })
    assert.deepEqual(read(20, '{"a":12}\n{"a"'), fine, 'an incomplete last line')
  })

  test('that are no JSON are shown up to two hundred characters, and sizes in MiB from one on', () => {
    assert.match(notJson('x'.repeat(200)).message, /: x{200}$/)
    assert.match(notJson('x'.repeat(201)).message, /: x{200}…$/)
    assert.deepEqual(
      [sizeText(1024 * 1024), sizeText(1024 * 1024 - 1), sizeText(3 * 1024 * 1024)],
      ['1 MiB', '1048575 bytes', '3 MiB'],
    )
    assert.equal(tooLarge('It', 5).kind, 'limit')
  })
})

test('a recording of one word is not taken for frames, although its letters are those of base64', () => {
  const { chunks, failure } = readRecording(toy(), 'Forbidden')
  assert.deepEqual(chunks, [])
  assert.doesNotMatch(failure?.message ?? '', /event stream/)
  const frames = Buffer.from(frameAwsEvent({ text: 'Hi' })).toString('base64')
  assert.deepEqual(readRecording(toy(), frames), { chunks: [{ text: 'Hi' }] })
})
