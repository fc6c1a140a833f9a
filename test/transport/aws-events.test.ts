// The binary event frames of AWS.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import test from 'node:test'
import { crc32 } from 'node:zlib'
import { isObject, type Json, type JsonObject } from '../../src/core/json.ts'
import { frameAwsEvent, unframeAwsEvents } from '../../src/transport/aws-events.ts'
import { corpusFiles, noCorpus } from '../corpus.ts'

const said: JsonObject[] = [
  { messageStart: { role: 'assistant' } },
  { contentBlockDelta: { contentBlockIndex: 0, delta: { text: 'grüß 👋' } } },
  { type: 'error', error: { type: 'throttlingException', message: 'Too many requests, please wait.' } },
]
const bytes = Buffer.concat(said.map((chunk) => frameAwsEvent(chunk)))

function read(pieces: readonly Uint8Array[], size = 1 << 20): { chunks: Json[]; trouble: string | undefined } {
  const unframer = unframeAwsEvents(size)
  const chunks = pieces.flatMap((piece) => unframer.push(piece))
  unframer.flush()
  return { chunks, trouble: unframer.trouble?.message }
}

test('frames are read the same wherever they are split', () => {
  assert.deepEqual(read([bytes]), { chunks: said, trouble: undefined })
  for (let at = 0; at <= bytes.length; at++) {
    assert.deepEqual(read([bytes.subarray(0, at), bytes.subarray(at)]).chunks, said, `cut at ${at}`)
  }
  const single = Array.from(bytes, (byte) => Uint8Array.of(byte))
  assert.deepEqual(read(single), { chunks: said, trouble: undefined })
})

test('a stream that is cut inside a frame is reported, with the chunks before it', () => {
  for (let at = 1; at < bytes.length; at++) {
    const { chunks, trouble } = read([bytes.subarray(0, at)])
    assert.deepEqual(chunks, said.slice(0, chunks.length))
    const whole = said.slice(0, chunks.length).map((chunk) => frameAwsEvent(chunk).length)
    const isBetween = whole.reduce((sum, one) => sum + one, 0) === at
    assert.equal(trouble, isBetween ? undefined : 'The event stream ends in the middle of a frame.')
  }
})

test('no byte can be changed without being noticed', () => {
  for (let at = 0; at < bytes.length; at++) {
    const changed = Buffer.from(bytes)
    changed[at] = (changed[at] ?? 0) ^ 0x10
    const { chunks, trouble } = read([changed])
    assert.ok(trouble !== undefined, `byte ${at}`)
    assert.deepEqual(chunks, said.slice(0, chunks.length))
  }
})

test('a frame that claims to be larger than the limit is refused before it arrives', () => {
  const { trouble } = read([frameAwsEvent({ event: { text: 'x'.repeat(500) } })], 200)
  assert.match(trouble ?? '', /larger than 200 bytes/)
})

/** A frame with correct checksums, whatever its lengths, headers and payload are. */
function framed(headers: Uint8Array, payload: string, { total = 0, head = headers.length } = {}): Buffer {
  const body = Buffer.from(payload)
  const made = Buffer.concat([Buffer.alloc(12), headers, body, Buffer.alloc(4)])
  made.writeUInt32BE(total || made.length, 0)
  made.writeUInt32BE(head, 4)
  made.writeUInt32BE(crc32(made.subarray(0, 8)), 8)
  made.writeUInt32BE(crc32(made.subarray(0, -4)), made.length - 4)
  return made
}

const header = (name: string, type: number, value: Uint8Array) =>
  Buffer.concat([Buffer.of(name.length), Buffer.from(name), Buffer.of(type), value])
const text = (name: string, value: string) =>
  header(name, 7, Buffer.concat([Buffer.of(0, value.length), Buffer.from(value)]))

test('lengths that do not fit into each other are refused, although the checksums are right', () => {
  const name = text(':event-type', 'ping')
  assert.deepEqual(read([framed(name, '')]), { chunks: [{ ping: {} }], trouble: undefined })
  const wrong = 'The event stream has a frame whose lengths are wrong.'
  assert.equal(read([framed(name, '', { head: name.length + 1 })]).trouble, wrong)
  assert.equal(read([framed(Buffer.alloc(0), '', { total: 15 })]).trouble, wrong)
  assert.equal(read([framed(Buffer.alloc(0), '{}')]).trouble, undefined)
})

test('headers of every type are skipped by their size, and those of an unknown type or size are refused', () => {
  const sizes = [0, 0, 1, 2, 4, 8, undefined, undefined, 8, 16]
  const others = sizes.flatMap((size, type) => (size === undefined ? [] : [header('x', type, Buffer.alloc(size))]))
  const bytesHeader = header('x', 6, Buffer.of(0, 3, 1, 2, 3))
  const name = text(':event-type', 'said')
  assert.deepEqual(read([framed(Buffer.concat([...others, bytesHeader, name]), '{"a":1}')]).chunks, [
    { said: { a: 1 } },
  ])
  const notText = header(':event-type', 6, Buffer.concat([Buffer.of(0, 5), Buffer.from('other')]))
  assert.deepEqual(read([framed(Buffer.concat([name, notText]), '{"a":1}')]).chunks, [{ said: { a: 1 } }])
  const refused = 'The event stream has a frame whose headers cannot be read.'
  assert.equal(read([framed(header('x', 10, Buffer.alloc(0)), '{}')]).trouble, refused)
  assert.equal(read([framed(header('x', 7, Buffer.of(0, 9, 1)), '{}')]).trouble, refused)
  assert.equal(read([framed(Buffer.of(5), '{}')]).trouble, refused)
})

test('an exception without details is named by its headers; an event without JSON is refused', () => {
  const failed = (...headers: Buffer[]) => read([framed(Buffer.concat(headers), '')]).chunks
  assert.deepEqual(
    failed(text(':message-type', 'error'), text(':error-code', 'Busy'), text(':error-message', 'Wait.')),
    [{ type: 'error', error: { type: 'Busy', message: 'Wait.' } }],
  )
  assert.deepEqual(failed(text(':message-type', 'exception')), [
    { type: 'error', error: { type: 'error', message: 'error' } },
  ])
  assert.match(read([framed(text(':event-type', 'x'), '<html>')]).trouble ?? '', /not JSON: <html>/)
  assert.deepEqual(read([framed(Buffer.concat([text(':message-type', 'exception')]), '<html>')]).chunks.length, 1)
})

test('an event that is named error is an event, not an exception', () => {
  assert.deepEqual(read([frameAwsEvent({ error: { code: 1 } })]).chunks, [{ error: { code: 1 } }])
})

test('after a damaged frame nothing more is read', () => {
  const unframer = unframeAwsEvents(1 << 20)
  const damaged = Buffer.from(bytes)
  damaged[20] = (damaged[20] ?? 0) ^ 1
  assert.deepEqual(unframer.push(damaged), [])
  assert.deepEqual(unframer.push(bytes), [])
})

test('a frame of exactly the allowed size is read', () => {
  const frame = frameAwsEvent({ event: { text: 'x' } })
  assert.equal(read([frame], frame.length).trouble, undefined)
  assert.match(read([frame], frame.length - 1).trouble ?? '', /larger than/)
})

test('an event inside a chunk of InvokeModel is returned unchanged', () => {
  const event = { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hi' } }
  assert.deepEqual(read([frameAwsEvent(event, true)]).chunks, [event])
  const bytesOf = Buffer.from('{}').toString('base64')
  for (const other of [
    { metadata: { bytes: bytesOf } },
    { chunk: { text: 'Hi' } },
    { chunk: 'Hi' },
    { chunk: { bytes: 1 } },
  ]) {
    assert.deepEqual(read([frameAwsEvent(other)]).chunks, [other], 'anything else is not unpacked')
  }
})

test('every recorded frame is read, and none of its padding', { skip: noCorpus }, () => {
  let streams = 0
  for (const file of corpusFiles('streams/bedrock-*/*.stream.json')) {
    const { response } = JSON.parse(readFileSync(file, 'utf8')) as { response: { body: Json } }
    if (typeof response.body !== 'string' || !/^[A-Za-z0-9+/]+=*$/.test(response.body)) continue
    const { chunks, trouble } = read([Buffer.from(response.body, 'base64')])
    assert.equal(trouble, undefined, file)
    assert.ok(chunks.length > 2, file)
    for (const chunk of chunks) {
      const [payload] = isObject(chunk) ? Object.values(chunk) : []
      assert.ok(!isObject(payload) || payload.p === undefined, file)
    }
    streams++
  }
  assert.ok(streams >= 18)
})

test('a frame without headers and payload is the smallest, and an exception says its message under either name', () => {
  assert.deepEqual(read([framed(new Uint8Array(), '')]), { chunks: [{ '': {} }], trouble: undefined })
  const header = (name: string, value: string) => {
    const [first, second] = [Buffer.from(name), Buffer.from(value)]
    return Buffer.concat([Buffer.from([first.length]), first, Buffer.from([7, 0, second.length]), second])
  }
  const failed = Buffer.concat([header(':message-type', 'exception'), header(':exception-type', 'tooSlow')])
  const error = (payload: Json) => read([framed(failed, JSON.stringify(payload))]).chunks[0]
  assert.deepEqual(error({ message: 'a' }), { type: 'error', error: { message: 'a', type: 'tooSlow' } })
  assert.deepEqual(error({ Message: 'b' }), { type: 'error', error: { Message: 'b', message: 'b', type: 'tooSlow' } })
  assert.deepEqual(error({}), { type: 'error', error: { message: 'tooSlow', type: 'tooSlow' } })
})
