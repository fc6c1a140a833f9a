// A very long result is prepared in slices, and stored as if it had been written at once.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { crc32 } from 'node:zlib'
import type { ToolMessage, ToolResultPart } from '../../src/core/message.ts'
import { messageOf, ownLongResult, ownMessage, prepareEntry } from '../../src/store/new-entry.ts'

const size = 256 * 1024

function resultOf(value: ToolResultPart['value']): ToolMessage {
  const about = { type: 'tool-result', callId: 'c', name: 'look', startedAt: '2026-11-17T00:00:00.000Z' } as const
  return {
    role: 'tool',
    parts: [{ ...about, output: [{ type: 'text', text: 'shown' }], ...(value !== undefined && { value }) }],
  }
}

const texts: Record<string, string> = {
  'plain text': 'word '.repeat(size),
  'text with characters that JSON escapes': '"\\\n\u0001'.repeat(size / 2),
  'text with a pair of surrogates where it is cut': `${'x'.repeat(size - 1)}😀${'y'.repeat(size)}😀`,
  'text of pairs of surrogates only': '😀'.repeat(size),
  'text with halves of pairs': `${'x'.repeat(size - 1)}\ud83d${'\ude00y\ud83d\ud83d'.repeat(size)}\ud83d`,
}

for (const [name, text] of Object.entries(texts)) {
  test(`a long result is prepared in slices as at once: ${name}`, async () => {
    let turns = 0
    const count = (): void => {
      turns++
      immediate = setImmediate(count)
    }
    let immediate = setImmediate(count)
    const message = await ownLongResult(resultOf(text))
    clearImmediate(immediate)
    assert.ok(turns >= Math.floor(text.length / size), 'others have their turn between two slices')
    assert.equal(ownMessage(message), message, 'it is not written again')
    assert.deepEqual(message, resultOf(text))
    const json = JSON.stringify(resultOf(text))
    const prepared = prepareEntry({ message }, 0)
    assert.ok(prepared.json === json, 'the same text is stored')
    assert.equal(prepared.checksum, crc32(json))
    assert.equal(messageOf(prepared), message)
    const again = prepareEntry({ message }, 0)
    assert.equal(again.isOwn, false, 'a copy is stored once')
    assert.equal(again.checksum, crc32(json))
  })
}

test('other results are left as they are, for the store to copy', async () => {
  const long = resultOf('x'.repeat(size + 1))
  const two: ToolMessage = { role: 'tool', parts: [...long.parts, ...long.parts] }
  for (const message of [resultOf(undefined), resultOf('x'.repeat(size)), resultOf({ a: 1 }), two]) {
    assert.equal(await ownLongResult(message), message)
    assert.notEqual(ownMessage(message), message)
  }
  assert.notEqual(await ownLongResult(long), long)
})
