// The one place through which every command prints. What comes from the log, a model, a tool or a file may contain
// control sequences; whatever a caller forgot to neutralise is neutralised here. Nothing else in this folder writes to
// stdout or stderr, except the line editor, which gets no text of the log.

import type { Note } from '../core/context.ts'
import { escapedJson } from '../core/json.ts'
import { clip, neutral, neutralLine, printable, styleFor, widthOf } from './terminal.ts'

/** To stdout: the output of the command. */
export function print(text: string): void {
  writeTo(process.stdout, text)
}

/** To stderr: everything about it. */
export function printError(text: string): void {
  writeTo(process.stderr, text)
}

/** One line, or several with an indent. Reads back as the same value: control characters are escaped. */
export function printJson(value: unknown, indent?: number): void {
  process.stdout.write(`${escapedJson(value, indent)}\n`)
}

/** False: the reader is slower than the output, as for a stream. */
export function writeTo(stream: NodeJS.WriteStream, text: string): boolean {
  return stream.write(printable(text))
}

/** The bytes of a file. They are unchanged in a file or a pipe, and neutralised on a terminal. */
export function printFile(text: string): boolean {
  return process.stdout.write(process.stdout.isTTY ? neutral(text) : text)
}

/** Replaces the current line; only for a terminal. */
function replaceLine(stream: NodeJS.WriteStream, text: string): void {
  stream.write(`\r${printable(text)}\u001B[K`)
}

/** A note as a readable line. */
export function noteLine({ kind, what, why, at, rule }: Note): string {
  return `${kind.padEnd(8)} ${at ? `${at}: ` : ''}${what}, because ${why}${rule ? ` (${rule})` : ''}`
}

// A progress line on stderr. On a terminal it is one line that changes and then disappears; otherwise nothing is
// written.

export interface Progress {
  tell: (text: string) => void
  done: () => void
}

export function progressOn(stream: NodeJS.WriteStream = process.stderr): Progress {
  if (!stream.isTTY) return { tell() {}, done() {} }
  const style = styleFor(stream, process.env)
  let isShown = false
  let last = 0
  return {
    tell(text) {
      // Faster updates cannot be read, and would slow the work down on a remote terminal.
      const now = performance.now()
      if (isShown && now - last < 80) return
      last = now
      replaceLine(stream, style.dim(clip(neutralLine(text), widthOf(stream) - 1)))
      isShown = true
    },
    done() {
      if (isShown) replaceLine(stream, '')
      isShown = false
    },
  }
}
