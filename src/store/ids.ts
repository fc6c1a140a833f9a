// UUIDv7: ids that sort by creation time. Inside a process they are strictly ascending, even within one millisecond and
// when the clock steps back, so that rows are adjacent in an index. They grant nothing: an id is never authority.

import { randomBytes } from 'node:crypto'

export function uuidv7(now: number = Date.now()): string {
  // RFC 9562 method 1: the 12 bits after the version count within the millisecond, starting in the lower half.
  if (now > last || ++count > 0xfff) {
    last = Math.max(now, last + 1)
    count = Number.parseInt(randomHex(3), 16) & 0x7ff
  }
  const time = last.toString(16).padStart(12, '0')
  const variant = '89ab'.charAt(Number.parseInt(randomHex(1), 16) & 0x3)
  const rest = `7${count.toString(16).padStart(3, '0')}-${variant}${randomHex(3)}-${randomHex(12)}`
  return `${time.slice(0, 8)}-${time.slice(8)}-${rest}`
}

/** From its 32 digits alone. */
export function uuidFrom(hex: string): string {
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}

let last = 0
let count = 0

/** Many digits at once: a call of the system for each id would take longer than everything else. */
let pool = ''
let used = 0

export function randomHex(digits: number): string {
  if (used + digits > pool.length) {
    pool = randomBytes(2048).toString('hex')
    used = 0
  }
  used += digits
  return pool.slice(used - digits, used)
}
