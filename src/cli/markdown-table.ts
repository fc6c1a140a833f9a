// A Markdown table on a terminal: aligned columns, cells wrapped if the terminal is narrower than the table.

import { columnsOf, type Style } from './terminal.ts'

const gap = 2
const least = 6

/** Undefined if the lines are not a table: the second must define the alignment of columns. */
export function tableLines(
  lines: readonly string[],
  width: number,
  style: Style,
  plainText: (cell: string) => string,
): string[] | undefined {
  const [head = [], rule = [], ...rows] = lines.map(cellsOf)
  if (lines.length < 2 || rule.length === 0 || !rule.every((cell) => /^:?-+:?$/.test(cell))) return undefined
  const body = [head, ...rows].map((row) => head.map((_, i) => plainText(row[i] ?? '')))
  const widths = fitted(
    head.map((_, i) => Math.max(1, ...body.map((row) => columnsOf(row[i] ?? '')))),
    width - gap * (head.length - 1),
  )
  const right = rule.map((cell) => cell.endsWith(':') && !cell.startsWith(':'))
  const [titles = [], ...others] = body.map((row) => rowLines(row, widths, right))
  const line = widths.map((one) => '─'.repeat(one)).join(' '.repeat(gap))
  return [...titles.map(style.bold), style.dim(line), ...others.flat()]
}

function cellsOf(line: string): string[] {
  const inner = line.trim().replace(/^\|/, '').replace(/\|$/, '')
  return inner.split(/(?<!\\)\|/).map((cell) => cell.trim().replaceAll(String.raw`\|`, '|'))
}

/** The widest columns shrink first. */
function fitted(wanted: readonly number[], room: number): number[] {
  const widths = [...wanted]
  for (let over = widths.reduce((sum, one) => sum + one, 0) - room; over > 0; over--) {
    const widest = widths.indexOf(Math.max(...widths))
    if ((widths[widest] ?? 0) <= least) break
    widths[widest] = (widths[widest] ?? 0) - 1
  }
  return widths
}

function rowLines(row: readonly string[], widths: readonly number[], right: readonly boolean[]): string[] {
  const cells = row.map((cell, i) => cellLines(cell, widths[i] ?? 1))
  const height = Math.max(1, ...cells.map((lines) => lines.length))
  return Array.from({ length: height }, (_, at) =>
    cells
      .map((lines, i) => {
        const text = lines[at] ?? ''
        const blank = ' '.repeat(Math.max(0, (widths[i] ?? 0) - columnsOf(text)))
        return right[i] ? blank + text : text + blank
      })
      .join(' '.repeat(gap))
      .trimEnd(),
  )
}

/** Between words, and inside of one that is longer than the cell. */
function cellLines(cell: string, width: number): string[] {
  const lines: string[] = []
  let line = ''
  for (const word of cell.split(/\s+/)) {
    if (line !== '' && columnsOf(line) + 1 + columnsOf(word) > width) {
      lines.push(line)
      line = ''
    }
    line = line === '' ? word : `${line} ${word}`
    while (columnsOf(line) > width) {
      let cut = ''
      for (const character of line) {
        if (columnsOf(cut + character) > width) break
        cut += character
      }
      if (cut === '') break
      lines.push(cut)
      line = line.slice(cut.length)
    }
  }
  return [...lines, line]
}
