// Texts side by side, each wrapped to its own column.

import { wrapped } from './wrap.ts'
import { clip, columnsOf, neutral, type Style } from './terminal.ts'

const between = ' │ '
const narrowest = 30

/** Undefined if the terminal is too narrow for this many columns. */
export function columnLines(
  texts: readonly { head: string; text: string; foot: string }[],
  width: number,
  style: Style,
): string[] | undefined {
  const each = Math.floor((Math.min(width, 240) - columnsOf(between) * (texts.length - 1)) / texts.length)
  if (each < narrowest) return undefined
  const columns = texts.map(({ head, text, foot }) => [
    { text: clip(head, each), paint: style.bold },
    ...wrappedLines(text, each).map((line) => ({ text: line, paint: (one: string) => one })),
    { text: '', paint: style.dim },
    ...wrappedLines(foot, each).map((line) => ({ text: line, paint: style.dim })),
  ])
  const height = Math.max(...columns.map((lines) => lines.length))
  return Array.from({ length: height }, (_, row) =>
    columns
      .map((lines, i) => {
        const { text, paint } = lines[row] ?? { text: '', paint: (one: string) => one }
        const blank = i === columns.length - 1 ? '' : ' '.repeat(Math.max(0, each - columnsOf(text)))
        return paint(text) + blank
      })
      .join(style.dim(between))
      .trimEnd(),
  )
}

function wrappedLines(text: string, width: number): string[] {
  return wrapped(neutral(text).trim(), width).split('\n')
}
