// Word wrap for a terminal. A line may break between any two wide characters (CJK); a word that is longer than a line
// is broken at its end.

import { columnsOf } from './terminal.ts'

export interface Wrapper {
  /** Text of one style; `paint` is applied to what is printed of it. Newlines end a line. */
  add(text: string, paint?: (text: string) => string): void
  /** Ends the line, unless it is empty. */
  endLine(): void
  /** What begins a line, and its continuation lines. */
  begin(first: string, others: string, paint?: (text: string) => string): void
  /** Prints the word that may still be incomplete. */
  flush(): void
  readonly open: boolean
}

interface Piece {
  text: string
  paint: (text: string) => string
}

const wide = /([\u2E80-\uA4CF\uAC00-\uD7A3\uF900-\uFAFF\uFE30-\uFE6F\uFF00-\uFF60\uFFE0-\uFFE6])/u

export function createWrapper(width: () => number, write: (text: string) => void): Wrapper {
  let column = 0
  let indent = ''
  /** The current word, in pieces of several styles. */
  let word: Piece[] = []
  let blank = false
  return {
    add(text, paint = plain) {
      for (const [part] of text.matchAll(/\n|[^\S\n]+|[^\s]+/g)) {
        if (part === '\n') endLine()
        else if (part.trim() === '') space()
        else for (const piece of part.split(wide)) if (piece !== '') collect(piece, paint)
      }
    },
    endLine,
    begin(first, others, paint = plain) {
      flush()
      write(paint(first))
      column = columnsOf(first)
      indent = others
      blank = false
    },
    flush,
    get open() {
      return column > 0 || word.length > 0
    },
  }

  function collect(text: string, paint: Piece['paint']): void {
    // Between two wide characters there is no blank, and a line may still break.
    if (wide.test(text) && word.length > 0 && wide.test(word.at(-1)?.text ?? '')) put(false)
    word.push({ text, paint })
  }

  function space(): void {
    if (word.length > 0) put(true)
    else if (column > 0) blank = true
  }

  function put(blankAfter: boolean): void {
    const columns = word.reduce((sum, { text }) => sum + columnsOf(text), 0)
    const columnLimit = Math.max(20, width())
    if (column > columnsOf(indent) && column + (blank ? 1 : 0) + columns > columnLimit) breakLine()
    else if (blank && column > 0) {
      write(' ')
      column++
    }
    for (const { text, paint } of word) putPiece(text, paint, columnLimit)
    word = []
    blank = blankAfter
  }

  function putPiece(text: string, paint: Piece['paint'], columnLimit: number): void {
    let rest = text
    while (column + columnsOf(rest) > columnLimit && columnsOf(indent) < columnLimit) {
      let cut = ''
      for (const character of rest) {
        if (column + columnsOf(cut + character) > columnLimit) break
        cut += character
      }
      if (cut !== '') write(paint(cut))
      rest = rest.slice(cut.length)
      breakLine()
    }
    write(paint(rest))
    column += columnsOf(rest)
  }

  function breakLine(): void {
    write(`\n${indent}`)
    column = columnsOf(indent)
    blank = false
  }

  function flush(): void {
    if (word.length > 0) put(false)
  }

  function endLine(): void {
    flush()
    write('\n')
    column = 0
    indent = ''
    blank = false
  }
}

/** A text in lines of this width; `head` begins the first line, and the others are indented by as much. */
export function wrapText(text: string, width: number, head = ''): string {
  let result = ''
  const words = createWrapper(
    () => width,
    (piece) => (result += piece),
  )
  words.begin(head, ' '.repeat(columnsOf(head)))
  words.add(text)
  words.flush()
  return result
}

function plain(text: string): string {
  return text
}
