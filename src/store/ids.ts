// UUIDv7: ids that sort by the time they were made. Inside a process they are strictly ascending, also within one
// millisecond and when the clock steps back, so that rows come to lie behind each other in an index.
// They say nothing about who may read: an id is never authority.

import { randomFillSync } from 'node:crypto'

export function uuidv7(now: number = Date.now()): string {
  // RFC 9562 method 1: the 12 bits behind the version count within the millisecond, starting in the lower half.
  if (now > last) {
    last = now
    count = random16() & 0x7ff
  } else if (++count > 0xfff) {
    last++
    count = random16() & 0x7ff
  }
  const time = last.toString(16).padStart(12, '0')
  const tail = randomHex()
  const variant = ((Number.parseInt(tail.slice(0, 1), 16) & 0x3) | 0x8).toString(16)
  const rest = `7${count.toString(16).padStart(3, '0')}-${variant}${tail.slice(1, 4)}-${tail.slice(4, 16)}`
  return `${time.slice(0, 8)}-${time.slice(8)}-${rest}`
}

let last = 0
let count = 0

const pool = Buffer.alloc(4096)
let used = pool.length

function random16(): number {
  return take(2).readUInt16BE()
}

function randomHex(): string {
  return take(8).toString('hex')
}

function take(bytes: number): Buffer {
  if (used + bytes > pool.length) {
    randomFillSync(pool)
    used = 0
  }
  used += bytes
  return pool.subarray(used - bytes, used)
}
