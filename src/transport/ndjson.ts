// One JSON value per line. Pieces of a long line are kept separate until its end arrives, so that reading stays linear.

import { parseJson, type Json } from '../core/json.ts'
import { notJson, tooLarge, type Unframer } from './unframe.ts'

export function unframeNdjson(lineSize: number): Unframer {
  let pieces: string[] = []
  let size = 0

  function keep(piece: string): void {
    size += piece.length
    if (size > lineSize) unframer.trouble ??= tooLarge('A line of the stream', lineSize)
    else pieces.push(piece)
  }

  function take(): string {
    const line = pieces.join('')
    pieces = []
    size = 0
    return line
  }

  const unframer: Unframer = {
    push(text) {
      const chunks: Json[] = []
      let start = 0
      for (let end = text.indexOf('\n'); end >= 0 && !unframer.trouble; end = text.indexOf('\n', start)) {
        keep(text.slice(start, end))
        start = end + 1
        const line = take()
        if (unframer.trouble || line.trim() === '') continue
        const chunk = parseJson(line)
        if (chunk === undefined) unframer.trouble = notJson(line)
        else chunks.push(chunk)
      }
      if (start < text.length && !unframer.trouble) keep(text.slice(start))
      return chunks
    },
    flush() {
      // An incomplete line is ignored: the decoder will notice the missing end.
      const chunk = unframer.trouble ? undefined : parseJson(take())
      return chunk === undefined ? [] : [chunk]
    },
    done: false,
    trouble: undefined,
  }
  return unframer
}
