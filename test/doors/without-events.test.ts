// Events that are left out of a stream, and all others as they came.

import assert from 'node:assert/strict'
import test from 'node:test'
import { withoutEvents } from '../../src/server/doors/without-events.ts'
import { openaiChatService } from '../../src/wires/openai-chat/service.ts'
import fc from '../property.ts'

const usage = openaiChatService.door?.usageOnRequest
assert.ok(usage)
const filter = { mark: usage.mark, isHidden: usage.isUsage }

/** What remains of a stream that arrives in these pieces. */
function remaining(pieces: readonly Uint8Array[], end: 'end' | 'fail' = 'end'): { text: string; calls: string[] } {
  const sent: Uint8Array[] = []
  const calls: string[] = []
  const sink = withoutEvents(filter, {
    write: (piece) => void sent.push(Buffer.from(piece as Uint8Array)),
    end: () => void calls.push('end'),
    fail: (error) => void calls.push(`fail ${String(error)}`),
  })
  for (const piece of pieces) sink.write(piece)
  if (end === 'end') sink.end()
  else sink.fail('cut off')
  return { text: Buffer.concat(sent).toString(), calls }
}

const hidden = '{"id":"x","choices" : [ ],"usage":{"prompt_tokens":1}}'
const shown = [
  '{"id":"x","choices":[{"index":0,"delta":{"content":"Grüße 👋, \\"choices\\":[]"}}],"usage":null}',
  // Azure: what its filter says about the prompt.
  '{"choices":[],"prompt_filter_results":[{"prompt_index":0}],"usage":null}',
  '{"error":{"message":"\\"choices\\":[]"}}',
  'not JSON, "choices":[]',
  `{"choices":[{"index":0,"delta":{"content":"${'long '.repeat(2000)}"}}]}`,
  '[DONE]',
]
/** `line`: the end of a line and the empty one after it. */
const linesOf = (data: string, line: string) => `data: ${data}${line}`
const streamOf = (events: readonly string[], line: string) =>
  events.map((data) => linesOf(data, line)).join(`: keep-alive${line}`)

for (const [name, line] of Object.entries({ LF: '\n\n', CRLF: '\r\n\r\n', CR: '\r\r', 'LF, CRLF': '\n\r\n' })) {
  test(`only the usage is left out, wherever the stream is cut (${name})`, () => {
    const events = fc.shuffledSubarray([hidden, hidden, ...shown], { minLength: 1 })
    const property = fc.property(events, fc.array(fc.nat(), { maxLength: 8 }), (given, places) => {
      const bytes = Buffer.from(streamOf(given, line))
      const cuts = [...new Set(places.map((place) => place % bytes.length))].toSorted((a, b) => a - b)
      const pieces = [0, ...cuts].map((from, i) => bytes.subarray(from, cuts[i]))
      const expected = bytes.toString().replaceAll(linesOf(hidden, line), '')
      assert.deepEqual(remaining(pieces), { text: expected, calls: ['end'] })
    })
    fc.assert(property)
  })
}

test('a last event without its empty line passes, unless it is the usage', () => {
  assert.equal(remaining([Buffer.from(`data: ${shown[0]}\n`)]).text, `data: ${shown[0]}\n`)
  assert.equal(remaining([Buffer.from(`data: ${hidden}\n`)]).text, '')
})

test('a long event passes as it arrives, and the usage after it is left out', () => {
  const sent: string[] = []
  const sink = withoutEvents(filter, {
    write: (piece) => void sent.push(Buffer.from(piece as Uint8Array).toString()),
    end: () => {},
    fail: () => {},
  })
  const begin = `data: {"text":"${'x'.repeat(10_000)}`
  for (const piece of [begin, 'more', '"}\n', `\ndata: ${hidden}\n\n`, 'data: [DONE]\n\n'])
    sink.write(Buffer.from(piece))
  assert.deepEqual(sent, [begin, 'more', '"}\n', '\n', 'data: [DONE]\n\n'])
})

test('a stream that breaks off breaks off for the client, after all that has arrived', () => {
  const { text, calls } = remaining([Buffer.from('data: {"id":"x","cho')], 'fail')
  assert.deepEqual([text, calls], ['data: {"id":"x","cho', ['fail cut off']])
})
