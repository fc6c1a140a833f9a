// The lines of a file, one at a time, with a maximum length: an untrusted file must not exhaust the memory.

import { createReadStream } from 'node:fs'
import { badInput } from '../core/error.ts'

const longestLine = 64 * 1024 * 1024

export interface Line {
  number: number
  text: string
  /** It is complete: the last line of a truncated file is not. */
  whole: boolean
  /** Bytes of the file up to the end of this line. */
  upTo: number
}

export async function* linesOfFile(path: string, limit = longestLine): AsyncGenerator<Line> {
  let pieces: Buffer[] = []
  let size = 0
  let number = 1
  let upTo = 0
  for await (const chunk of createReadStream(path, { highWaterMark: 1024 * 1024 }) as AsyncIterable<Buffer>) {
    let start = 0
    for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, start)) {
      pieces.push(chunk.subarray(start, end))
      upTo += end + 1 - start
      yield { number, text: decode(pieces, number, true), whole: true, upTo }
      pieces = []
      size = 0
      number++
      start = end + 1
    }
    const rest = chunk.subarray(start)
    upTo += rest.length
    size += rest.length
    if (size > limit) throw badInput(`Line ${number} is longer than ${Math.round(limit / 1024 / 1024)} MB.`)
    if (rest.length > 0) pieces.push(rest)
  }
  if (pieces.length > 0) yield { number, text: decode(pieces, number, false), whole: false, upTo }
}

/** A line that is not whole may end within a character, which is left out. */
function decode(pieces: readonly Buffer[], number: number, isWhole: boolean): string {
  const bytes = pieces.length === 1 && pieces[0] ? pieces[0] : Buffer.concat(pieces)
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: !isWhole })
  } catch {
    throw badInput(`Line ${number} is not UTF-8.`)
  }
}
