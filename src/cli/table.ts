// Rows as a table that fits the terminal: one column may grow into the remaining space, and is clipped.

import { clip, columnsOf, type Style } from './terminal.ts'

export interface Column {
  head: string
  right?: boolean
  /** Gets the remaining space, at least a few columns. */
  grows?: boolean
  paint?(text: string, row: number): string
}

export function table(
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
  width: number,
  style: Style,
): string[] {
  const widths = columns.map(({ head }, i) => Math.max(columnsOf(head), ...rows.map((row) => columnsOf(row[i] ?? ''))))
  const growing = columns.findIndex((column) => column.grows)
  if (growing >= 0) {
    const others = widths.reduce(
      (sum, columnWidth, i) => sum + (i === growing ? 0 : columnWidth),
      gap * (columns.length - 1),
    )
    widths[growing] = Math.min(widths[growing] ?? 0, Math.max(leastGrowing, width - others))
  }
  const line = (cells: readonly string[], row: number): string => {
    const written = columns.map((column, i) => {
      const text = clip(cells[i] ?? '', widths[i] ?? 0)
      const blank = ' '.repeat(Math.max(0, (widths[i] ?? 0) - columnsOf(text)))
      const painted = row >= 0 && column.paint ? column.paint(text, row) : text
      if (column.right) return blank + painted
      return i === columns.length - 1 ? painted : painted + blank
    })
    return written.join(' '.repeat(gap)).trimEnd()
  }
  const heads = columns.map((column) => column.head)
  return [...(heads.some((head) => head !== '') ? [style.bold(line(heads, -1))] : []), ...rows.map(line)]
}

const gap = 2
const leastGrowing = 12
