// A progress line on stderr. On a terminal it is one line that changes and then disappears; otherwise nothing is
// written.

import { replaceLine } from './print.ts'
import { clip, neutralLine, styleFor, widthOf } from './terminal.ts'

export interface Progress {
  tell: (text: string) => void
  done: () => void
}

export function progressOn(stream: NodeJS.WriteStream = process.stderr): Progress {
  if (!stream.isTTY) return { tell() {}, done() {} }
  const style = styleFor(stream, process.env)
  let shown = false
  let last = 0
  return {
    tell(text) {
      // More often than this cannot be read, and a remote terminal would slow the work down.
      const now = performance.now()
      if (shown && now - last < 80) return
      last = now
      replaceLine(stream, style.dim(clip(neutralLine(text), widthOf(stream) - 1)))
      shown = true
    },
    done() {
      if (shown) replaceLine(stream, '')
      shown = false
    },
  }
}
