// The type and size of an image, from exactly the bytes that say so.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { readImage } from '../../src/wires/shared/image-header.ts'

describe('the header of an image', () => {
  const base64 = (...bytes: (number | string)[]) =>
    Buffer.concat(
      bytes.map((one) => (typeof one === 'string' ? Buffer.from(one, 'latin1') : Buffer.from([one]))),
    ).toString('base64')
  const zeros = (count: number) => '\0'.repeat(count)
  const png = '\x89PNG\r\n\x1a\n'

  test('has a size from exactly the byte on that completes it', () => {
    const whole = (type: string, bytes: string, least: number) => {
      const size = readImage(base64(bytes.slice(0, least)))
      const less = readImage(base64(bytes.slice(0, least - 1)))
      assert.deepEqual([size?.mediaType, size?.width !== undefined], [type, true], type)
      assert.deepEqual(less, { mediaType: type }, `${type}, a byte less`)
    }
    whole('image/png', `${png}${zeros(8)}\0\0\x02\x01\0\0\x01\x03`, 24)
    whole('image/gif', `GIF87a\x02\x01\x01\x03\0\0`, 12)
    whole('image/webp', `RIFF....WEBPVP8X${zeros(14)}`, 30)
    assert.deepEqual(readImage(base64(`${png}${zeros(8)}\0\0\x02\x01\0\0\x01\x03`)), {
      mediaType: 'image/png',
      width: 0x201,
      height: 0x103,
    })
    assert.deepEqual(readImage(base64('GIF87a\x02\x01\x01\x03\0\0')), {
      mediaType: 'image/gif',
      width: 0x102,
      height: 0x301,
    })
  })

  test('of WebP is read in each of its three forms, and in no other', () => {
    const webp = (rest: string) => readImage(base64(`RIFF....WEBP${rest}`))
    const size = (width: number, height: number) => ({ mediaType: 'image/webp', width, height })
    assert.deepEqual(webp(`VP8 ${zeros(10)}\xff\xff\x01\xc0`), size(0x3fff, 1))
    assert.deepEqual(webp(`VP8L${zeros(5)}\xff\xff\xff\xff${zeros(5)}`), size(0x4000, 0x4000))
    assert.deepEqual(webp(`VP8L${zeros(5)}\0\x40\0\0${zeros(5)}`), size(1, 2))
    assert.deepEqual(webp(`VP8X${zeros(8)}\x01\x02\x03\x04\x05\x06`), size(0x30201 + 1, 0x60504 + 1))
    assert.deepEqual(webp(`VP9 ${zeros(14)}`), { mediaType: 'image/webp' })
    assert.equal(readImage(base64(`RIFF....WAVE${zeros(18)}`)), undefined)
    assert.equal(readImage(base64(`RAFF....WEBP${zeros(18)}`)), undefined)
  })

  test('of JPEG is in the first frame, whatever comes before it', () => {
    const jpeg = (...bytes: (number | string)[]) => readImage(base64(0xff, 0xd8, ...bytes))
    const frame = (marker: number) => [0xff, marker, '\0\x11\x08\x01\x02\x03\x04', zeros(2)]
    const size = { mediaType: 'image/jpeg', width: 0x304, height: 0x102 }
    for (const marker of [0xc0, 0xc1, 0xc3, 0xc5, 0xc7, 0xc9, 0xcb, 0xcd, 0xcf]) {
      assert.deepEqual(jpeg(...frame(marker)), size, marker.toString(16))
    }
    for (const marker of [0xbf, 0xc4, 0xc8, 0xcc, 0xd0]) {
      assert.deepEqual(jpeg(0xff, marker, '\0\x04..', ...frame(0xc0)), size, `after ${marker.toString(16)}`)
    }
    assert.deepEqual(jpeg(0xff, ...frame(0xc0)), size, 'a fill byte')
    assert.deepEqual(jpeg(0xff, 0xe0, '\0\x02', ...frame(0xc0)), size, 'an empty segment')
    const short = [0xff, 0xc0, '\0\x11\x08\x01\x02\x03\x04']
    assert.deepEqual([jpeg(...short, 0), jpeg(...short)], [size, { mediaType: 'image/jpeg' }], 'a byte less')
    assert.deepEqual(jpeg('x', ...frame(0xc0)), { mediaType: 'image/jpeg' })
    assert.equal(readImage(base64(0xff, 0xd9, ...frame(0xc0))), undefined)
    assert.equal(readImage(base64(0xfe, 0xd8, ...frame(0xc0))), undefined)
  })
})
