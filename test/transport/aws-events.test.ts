import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import test from 'node:test'
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

test('an event inside a chunk of InvokeModel is returned unchanged', () => {
  const event = { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hi' } }
  assert.deepEqual(read([frameAwsEvent(event, true)]).chunks, [event])
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
