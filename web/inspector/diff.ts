// The lines of two texts, marked as kept, removed and added. Quadratic, so only for pieces that a person reads.

export interface Line {
  kind: 'same' | 'gone' | 'new'
  text: string
}

const mostLines = 600

export function diffLines(before: string, after: string): Line[] | undefined {
  const a = before.split('\n')
  const b = after.split('\n')
  if (a.length > mostLines || b.length > mostLines) return undefined
  const width = b.length + 1
  const common = new Uint16Array((a.length + 1) * width)
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      common[i * width + j] = a[i] === b[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1))
    }
  }
  const lines: Line[] = []
  let i = 0
  let j = 0
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      lines.push({ kind: 'same', text: a[i++] ?? '' })
      j++
    } else if (j >= b.length || (i < a.length && at(i + 1, j) >= at(i, j + 1))) {
      lines.push({ kind: 'gone', text: a[i++] ?? '' })
    } else {
      lines.push({ kind: 'new', text: b[j++] ?? '' })
    }
  }
  return lines

  function at(row: number, column: number): number {
    return common[row * width + column] ?? 0
  }
}
