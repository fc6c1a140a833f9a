// The first bytes of an image: its real type and size. Providers check the bytes and not the label, and some refuse the
// whole request if the two differ.

export interface ImageHeader {
  mediaType: string
  width?: number
  height?: number
}

export function readImage(base64: string): ImageHeader | undefined {
  const head = Buffer.from(base64.slice(0, 64), 'base64')
  if (head.toString('hex', 0, 8) === pngMark) return { mediaType: 'image/png', ...size(head, 16, 20, 'readUInt32BE') }
  if (/^GIF8[79]a/.test(head.toString('latin1', 0, 6))) {
    return { mediaType: 'image/gif', ...size(head, 6, 8, 'readUInt16LE') }
  }
  if (head.toString('latin1', 0, 4) === 'RIFF' && head.toString('latin1', 8, 12) === 'WEBP') {
    return { mediaType: 'image/webp', ...webpSize(head) }
  }
  if (head[0] === 0xff && head[1] === 0xd8) return { mediaType: 'image/jpeg', ...jpegSize(base64) }
  return undefined
}

const pngMark = '89504e470d0a1a0a'

interface Size {
  width: number
  height: number
}

function size(bytes: Buffer, x: number, y: number, read: 'readUInt32BE' | 'readUInt16LE'): Size | undefined {
  if (bytes.length < y + 4) return undefined
  return { width: bytes[read](x), height: bytes[read](y) }
}

function webpSize(bytes: Buffer): Size | undefined {
  if (bytes.length < 30) return undefined
  switch (bytes.toString('latin1', 12, 16)) {
    case 'VP8 ':
      return { width: bytes.readUInt16LE(26) & 0x3fff, height: bytes.readUInt16LE(28) & 0x3fff }
    case 'VP8L': {
      const bits = bytes.readUInt32LE(21)
      return { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 }
    }
    case 'VP8X':
      return { width: bytes.readUIntLE(24, 3) + 1, height: bytes.readUIntLE(27, 3) + 1 }
    default:
      return undefined
  }
}

/** The size is in a frame header that may come after any amount of metadata, so more is read until it is found. */
function jpegSize(base64: string): Size | undefined {
  for (let reach = 4096; ; reach *= 8) {
    const dimensions = scanJpeg(Buffer.from(base64.slice(0, reach), 'base64'))
    if (dimensions || reach >= base64.length) return dimensions
  }
}

function scanJpeg(bytes: Buffer): Size | undefined {
  for (let offset = 2; offset + 9 < bytes.length;) {
    if (bytes[offset] !== 0xff) return undefined
    const marker = bytes[offset + 1] ?? 0
    const isFrame = marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc
    if (isFrame) return { height: bytes.readUInt16BE(offset + 5), width: bytes.readUInt16BE(offset + 7) }
    offset += marker === 0xff ? 1 : 2 + bytes.readUInt16BE(offset + 2)
  }
  return undefined
}
