// Limits on the size of a tool result.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { MediaPart, TextPart, ToolResultPart } from '../../src/core/message.ts'
import { limitResult, readValue } from '../../src/run/tools/tool-value.ts'

const text = (words: string): TextPart => ({ type: 'text', text: words })
const image = (size: number): MediaPart => ({
  type: 'media',
  mediaType: 'image/png',
  data: { kind: 'base64', base64: 'A'.repeat(size) },
})
const result = (output: ToolResultPart['output'], rest: Partial<ToolResultPart> = {}): ToolResultPart => ({
  type: 'tool-result',
  callId: 'c',
  name: 'look',
  output,
  ...rest,
})
const noteOf = (cut: number, most: number) =>
  text(`[Note] ${cut} bytes of this result were not kept: ${most} bytes are kept of a result.`)

function reject(error: unknown): never {
  throw error
}

test('a result of exactly the limit is left as it is, one byte more is cut and counted', async () => {
  const whole = result([text('x'.repeat(10))], { value: 'y'.repeat(10) })
  assert.deepEqual(await limitResult(whole, 10), { part: whole, cut: 0 })
  const { part, cut } = await limitResult(result([text('x'.repeat(11))]), 10)
  assert.equal(cut, 1)
  assert.deepEqual(part.output, [text('x'.repeat(10)), noteOf(1, 10)])
  assert.equal('value' in part, false)
})

test('a value that fits is kept whole when only the output is cut, and the other way round', async () => {
  const short = await limitResult(result([text('x'.repeat(20))], { value: { n: 1 } }), 10)
  assert.deepEqual([short.part.value, short.cut], [{ n: 1 }, 10])
  const long = await limitResult(result([text('x')], { value: 'y'.repeat(12) }), 10)
  assert.deepEqual([long.part.value, long.cut], ['y'.repeat(10), 2])
  assert.deepEqual(long.part.output, [text('x'), noteOf(2, 10)])
})

test('the limit counts bytes, and no character is cut in two', async () => {
  const { part, cut } = await limitResult(result([text('üüü')]), 3)
  assert.deepEqual(part.output[0], text('ü'))
  assert.equal(cut, 4)
})

test('parts share the limit: what does not fit is left out, media as a whole, and no empty text stays', async () => {
  const { part, cut } = await limitResult(result([text('x'.repeat(6)), image(5), text('yyyyyy'), text('z')]), 10)
  assert.deepEqual(part.output, [text('x'.repeat(6)), text('yyyy'), noteOf(5 + 2 + 1, 10)])
  assert.equal(cut, 8)
  assert.equal((await limitResult(result([image(10)]), 10)).cut, 0)
})

test('media that are only named take no space', async () => {
  const named: MediaPart = { type: 'media', mediaType: 'image/png', data: { kind: 'url', url: 'https://a.example/x' } }
  assert.equal((await limitResult(result([named, text('xx')]), 2)).cut, 0)
})

test('a very long value is counted and cut in slices as if at once', async () => {
  for (const unit of ['😀', 'aé😀中', 'line of a log\n']) {
    const value = `x${unit.repeat(400_000)}`
    const size = Buffer.byteLength(value)
    for (const most of [1, 300_001, 524_289, size - 1]) {
      const { part, cut } = await limitResult(result([text('x')], { value }), most)
      const kept = part.value as string
      assert.ok(value.startsWith(kept))
      assert.equal(Buffer.byteLength(kept) + cut, size)
      assert.ok(Buffer.byteLength(kept) <= most && Buffer.byteLength(kept) > most - 4)
    }
    assert.equal((await limitResult(result([text('x')], { value }), size)).cut, 0)
  }
})

test('a value is shown as text, and a value that has no JSON is a failure', () => {
  assert.deepEqual(readValue('look', 'noon'), { output: [text('noon')], value: 'noon' })
  assert.deepEqual(readValue('look', { n: 1 }), { output: [text('{"n":1}')], value: { n: 1 } })
  assert.deepEqual(readValue('look', [text('a')]), { output: [text('a')] })
  assert.deepEqual(readValue('look', []), { output: [text('[]')], value: [] })
  assert.deepEqual(readValue('look', [{ type: 'text' }]).value, [{ type: 'text' }])
  for (const [value, says] of [
    [undefined, /look returned nothing/],
    [() => 1, /look returned a function/],
    [1n, /cannot be written as JSON: .*BigInt/],
    [{ toJSON: () => reject(new Error('locked')) }, /look returned something that cannot be written as JSON: locked$/],
    [{ toJSON: () => reject('locked') }, /look returned something that cannot be written as JSON: locked$/],
  ] as const) {
    const { failed, output } = readValue('look', value)
    assert.equal(failed, true)
    assert.match(output[0]?.type === 'text' ? output[0].text : '', says)
  }
})

test('what the model reads and what is stored may differ', () => {
  const given = { type: 'tool-result', output: [text('short')], value: { all: true } }
  assert.deepEqual(readValue('look', given), { output: [text('short')], value: { all: true } })
  const { value: _value, ...without } = given
  assert.deepEqual(readValue('look', without).value, without)
})

test('a text of 64 KiB is shown whole, a longer one without its middle, and its value has all of it', () => {
  const whole = 'x'.repeat(64 * 1024)
  assert.deepEqual(readValue('look', whole).output, [text(whole)])
  const long = `${'a'.repeat(40_000)}${'b'.repeat(40_000)}`
  const { output, value } = readValue('look', long)
  const shown = output[0]?.type === 'text' ? output[0].text : ''
  assert.ok(shown.startsWith('a'.repeat(24 * 1024)) && shown.endsWith('b'.repeat(8 * 1024)))
  assert.match(shown, /\[… 47232 of 80000 characters are not shown/)
  assert.equal(value, long)
  const wide = 'ü'.repeat(33_000)
  assert.match(JSON.stringify(readValue('look', wide).output), /16500 of 33000 characters/)
  assert.deepEqual(readValue('look', [text(long), image(1)]).value, [long])
})

test('of several parts the long texts are shown in part and stored whole, and media stay', () => {
  const [short, long, picture] = [text('short'), text(`begin ${'x'.repeat(70_000)} end`), image(10)]
  const { output, value } = readValue('look', [short, long, picture])
  assert.deepEqual([output[0], output[2]], [short, picture])
  assert.match(
    output[1]?.type === 'text' ? output[1].text : '',
    /^begin x+\n\[… \d+ of 70010 characters are not shown.*\nx+ end$/s,
  )
  assert.deepEqual(value, [short.text, long.text])
})

test('what only resembles parts is a value', () => {
  for (const value of [
    [],
    [{ type: 'text' }],
    [{ type: 'media', data: {} }],
    [{ type: 'media', mediaType: 'image/png' }],
    [text('a'), 'b'],
    [{ type: 'other', text: 'a', mediaType: 'x', data: {} }],
  ]) {
    assert.deepEqual(readValue('look', value), { output: [text(JSON.stringify(value))], value })
  }
})
