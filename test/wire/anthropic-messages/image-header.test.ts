import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readImage } from '../../../src/wires/shared/image-header.ts'
import { onePixelBase64 } from '../../histories.ts'

const bytes = (...parts: (string | number[])[]): string =>
  Buffer.concat(
    parts.map((part) => (typeof part === 'string' ? Buffer.from(part, 'latin1') : Buffer.from(part))),
  ).toString('base64')
const zeros = (n: number) => Array.from({ length: n }, () => 0)

test('every image format shows its type and size', () => {
  const frame = [0xff, 0xc2, 0, 17, 8, 0x01, 0x2c, 0x02, 0x58, ...zeros(20)]
  const segment = (length: number) => [0xff, 0xe1, length >> 8, length & 0xff, ...zeros(length - 2)]
  const images: [string, string, number, number][] = [
    [onePixelBase64, 'image/png', 1, 1],
    [bytes('GIF89a', [0x58, 0x02, 0x2c, 0x01], zeros(10)), 'image/gif', 600, 300],
    [bytes([0xff, 0xd8], frame), 'image/jpeg', 600, 300],
    [bytes([0xff, 0xd8], segment(60_000), segment(60_000), frame), 'image/jpeg', 600, 300],
    [bytes('RIFF', zeros(4), 'WEBPVP8 ', zeros(10), [0x58, 0x02, 0x2c, 0x01], zeros(4)), 'image/webp', 600, 300],
    [bytes('RIFF', zeros(4), 'WEBPVP8L', zeros(5), [0x57, 0xc2, 0x4a, 0x00], zeros(10)), 'image/webp', 600, 300],
    [bytes('RIFF', zeros(4), 'WEBPVP8X', zeros(8), [0x57, 0x02, 0, 0x2b, 0x01, 0], zeros(4)), 'image/webp', 600, 300],
  ]
  for (const [base64, mediaType, width, height] of images)
    assert.deepEqual(readImage(base64), { mediaType, width, height })
})

test('anything that is not an image, or is truncated, has no size', () => {
  assert.equal(readImage(''), undefined)
  assert.equal(readImage('bm90IGFuIGltYWdl'), undefined)
  assert.deepEqual(readImage(bytes([0xff, 0xd8, 0xff, 0xe1, 0xff, 0xff])), { mediaType: 'image/jpeg' })
  assert.deepEqual(readImage(bytes('RIFF', zeros(4), 'WEBP')), { mediaType: 'image/webp' })
})
