// An answer in Markdown on a terminal, while it streams: headings, lists, quotes, tables, highlighted code, links, and
// word wrap. Text that may still change (an open `**`, a table that continues) is held back; everything else is printed
// as it arrives.

import { columnsOf, neutral, type Style } from './terminal.ts'
import { createWrapper } from './wrap.ts'

interface MarkdownWriter {
  push(text: string): void
  /** Prints what was held back, and ends the open line. */
  end(): void
  readonly open: boolean
}

/** How much is held back for a mark that does not end. */
const mostHeld = 400
/** The beginnings of a line whose kind is not known yet. */
const undecided = /^\s{0,12}(#{1,6}\s*|([-*+]|\d{1,9}[.)]?)(\s+(\[([ xX]\]?)?)?)?|>+|`{1,3}|~{1,3}|\||[-*_ ]{1,80})?$/

export function markdownWriter(options: {
  width: () => number
  style: Style
  write: (text: string) => void
}): MarkdownWriter {
  const { width, style, write } = options
  const words = createWrapper(width, write)
  let line = ''
  /** How much of the line is printed; undefined: its kind is not known yet. */
  let printed: number | undefined
  let paint = (text: string): string => text
  let fence: { mark: string; language: string } | undefined
  let table: string[] = []

  return {
    push(text) {
      for (const [index, piece] of neutral(text).split('\n').entries()) {
        if (index > 0) endLine()
        line += piece
      }
      if (line !== '') printSafePart()
    },
    end() {
      if (line !== '') endLine()
      flushTable()
      words.flush()
      if (words.open) words.endLine()
      fence = undefined
    },
    get open() {
      return line !== '' || table.length > 0 || words.open
    },
  }

  /** Prints as much of the line as can be. */
  function printSafePart(): void {
    if (fence || table.length > 0) return
    if (printed === undefined) {
      if (undecided.test(line) || /^\s*(\||```|~~~)/.test(line)) return
      begin()
    }
    const rest = line.slice(printed ?? 0)
    const safe = rest.length > mostHeld ? rest.length : safeEnd(rest)
    print(rest.slice(0, safe))
    printed = (printed ?? 0) + safe
  }

  /** Prints the beginning of the line by its kind. */
  function begin(): void {
    const kind = kindOf(line, style)
    printed = kind.printed
    paint = kind.paint ?? ((text) => text)
    if (kind.first !== undefined) words.begin(kind.first, kind.rest ?? '', kind.sign)
  }

  function endLine(): void {
    const fullLine = line
    const [, mark] = /^\s*(`{3,}|~{3,})\s*([\w+#.-]*)/.exec(fullLine) ?? []
    if (fence) endFenced(fullLine, mark)
    else if (mark !== undefined && printed === undefined) {
      flushTable()
      fence = { mark, language: /^\s*(?:`{3,}|~{3,})\s*([\w+#.-]*)/.exec(fullLine)?.[1] ?? '' }
    } else if (printed === undefined && /^\s*\|/.test(fullLine)) table.push(fullLine)
    else {
      flushTable()
      if (printed === undefined && /^\s{0,3}([-*_])(\s*\1){2,}\s*$/.test(fullLine)) {
        write(`${style.dim('─'.repeat(Math.min(40, Math.max(3, width()))))}\n`)
      } else {
        if (printed === undefined && fullLine !== '') begin()
        print(fullLine.slice(printed ?? 0))
        words.endLine()
      }
    }
    line = ''
    printed = undefined
    paint = (text) => text
  }

  function endFenced(fullLine: string, mark: string | undefined): void {
    if (fence && mark?.startsWith(fence.mark) && /^\s*(`+|~+)\s*$/.test(fullLine)) fence = undefined
    else write(`  ${highlight(fullLine, fence?.language ?? '', style)}\n`)
  }

  function flushTable(): void {
    if (table.length === 0) return
    const lines = tableLines(table, width(), style, plainInline) ?? table
    table = []
    for (const text of lines) write(`${text}\n`)
  }

  /** Text in which all marks have ended. */
  function print(text: string): void {
    for (const { text: piece, kind, url } of inline(text)) {
      words.add(piece, (unpainted) => paint(paints[kind](unpainted, style)))
      if (url !== undefined && url !== piece) words.add(` (${url})`, (unpainted) => style.dim(unpainted))
    }
  }
}

/** How a line begins: what is printed in place of its mark, at the next rows, and in which colours. */
interface LineKind {
  /** The length of the mark. */
  printed: number
  first?: string
  rest?: string
  sign?: (text: string) => string
  paint?: (text: string) => string
}

function kindOf(line: string, style: Style): LineKind {
  const [heading] = /^\s{0,3}#{1,6}\s+/.exec(line) ?? []
  if (heading !== undefined) {
    return { printed: heading.length, first: '', rest: '', paint: (text) => style.bold(style.cyan(text)) }
  }
  const [item, space = '', mark = '', box] = /^(\s*)([-*+]|\d{1,9}[.)])\s+(\[[ xX]\]\s)?/.exec(line) ?? []
  if (item !== undefined) {
    const sign = box === undefined ? (/\d/.test(mark) ? mark : '•') : /x/i.test(box) ? '☑' : '☐'
    const first = `${space}${sign} `
    return { printed: item.length, first, rest: ' '.repeat(columnsOf(first)), sign: style.cyan }
  }
  const [quote] = /^\s{0,3}(?:>\s?)+/.exec(line) ?? []
  if (quote !== undefined) {
    return { printed: quote.length, first: '│ ', rest: '│ ', sign: style.dim, paint: style.dim }
  }
  const [blank = ''] = /^\s*/.exec(line) ?? []
  return { printed: 0, ...(blank !== '' && blank.length < 12 && { first: blank, rest: blank }) }
}

type Kind = 'plain' | 'bold' | 'italic' | 'code' | 'struck' | 'link'

const paints: Record<Kind, (text: string, style: Style) => string> = {
  plain: (text) => text,
  bold: (text, style) => style.bold(text),
  italic: (text, style) => style.italic(text),
  code: (text, style) => style.yellow(text),
  struck: (text, style) => style.dim(text),
  link: (text, style) => style.underline(text),
}

const marks =
  /(`+)(.+?)\1(?!`)|\*\*(?=\S)(.+?\S|\S)\*\*|__(?=\S)(.+?\S|\S)__(?!\w)|(?<![\w*])\*(?=[^\s*])(.+?[^\s*]|[^\s*])\*(?!\*)|(?<!\w)_(?=[^\s_])(.+?[^\s_]|[^\s_])_(?!\w)|~~(.+?)~~|!?\[([^\]\n]{1,300})\]\(<?([^)\s>]{1,1000})>?(?:\s+"[^"]*")?\)|\\([!-/:-@[-`{-~])/gs

function* inline(text: string): Generator<{ text: string; kind: Kind; url?: string }> {
  let at = 0
  for (const match of text.matchAll(marks)) {
    if (match.index > at) yield { text: text.slice(at, match.index), kind: 'plain' }
    at = match.index + match[0].length
    const [, , code, strong, strong2, soft, soft2, struck, label, url, escaped] = match
    if (code !== undefined) yield { text: code, kind: 'code' }
    else if (strong !== undefined || strong2 !== undefined) yield { text: strong ?? strong2 ?? '', kind: 'bold' }
    else if (soft !== undefined || soft2 !== undefined) yield { text: soft ?? soft2 ?? '', kind: 'italic' }
    else if (struck !== undefined) yield { text: struck, kind: 'struck' }
    else if (label !== undefined && url !== undefined) yield { text: label, kind: 'link', url }
    else yield { text: escaped ?? match[0], kind: 'plain' }
  }
  if (at < text.length) yield { text: text.slice(at), kind: 'plain' }
}

function plainInline(text: string): string {
  return [...inline(text)]
    .map(({ text: piece, url }) => (url !== undefined && url !== piece ? `${piece} (${url})` : piece))
    .join('')
}

/** A mark that may end later; exactly those that `marks` could read. */
const openMark =
  /`|\*\*(?=\S|$)|(?<![\w*])\*(?=[^\s*]|$)|(?<!\w)__?(?=[^\s_]|$)|~~|~$|!?\[[^\]\n]{0,300}(?:$|\](?:$|\([^)]{0,1000}$))|!$|\\$/

/** Up to where no mark is open. */
function safeEnd(text: string): number {
  const bare = text.replaceAll(marks, (match) => '\0'.repeat(match.length))
  const open = openMark.exec(bare)?.index ?? bare.length
  // A word is printed when it has ended: it may still be too long for the line.
  return Math.min(open, Math.max(0, bare.search(/\S*$/)))
}

// Code in a terminal: comments, strings, numbers and keywords in colours. One small scanner for all languages is enough
// to distinguish them.

const keywords = new Set(
  'abstract and as assert async await begin break case catch class const continue def default defer delete do elif else elsif end enum esac except export extends extern fi final finally fn for foreach from fun func function go goto if impl implements import in include instanceof interface is lambda let loop match mod module mut namespace new not of or package pass private protected pub public raise readonly ref rescue return self select static struct super switch then this throw trait try type typedef typeof union unless unsafe until use using var void when where while with yield SELECT FROM WHERE INSERT UPDATE DELETE CREATE TABLE JOIN ON GROUP ORDER BY LIMIT VALUES INTO SET AND OR NOT NULL true false null None True False nil undefined'.split(
    ' ',
  ),
)

const hashed =
  /^(sh|bash|zsh|fish|shell|console|py|python|rb|ruby|ya?ml|toml|r|perl|pl|make|makefile|dockerfile|conf|ini|elixir|nim)$/i
const dashed = /^(sql|lua|haskell|hs|ada|elm)$/i
const uncoloured = /^(text|txt|plain|markdown|md|output)?$/i

/** One line of code. */
function highlight(line: string, language: string, style: Style): string {
  if (/^(diff|patch)$/i.test(language)) {
    return line.startsWith('+') ? style.green(line) : line.startsWith('-') ? style.red(line) : line
  }
  if (uncoloured.test(language)) return line
  const comment = hashed.test(language) ? '#' : dashed.test(language) ? '--' : '//'
  const scanner =
    /"(?:[^"\\]|\\.)*"?|'(?:[^'\\]|\\.)*'?|`(?:[^`\\]|\\.)*`?|\b\d[\w.]*|[A-Za-z_$][\w$]*|--|\/\/|\/\*|#|\s+|./gsu
  let result = ''
  for (const { 0: token, index } of line.matchAll(scanner)) {
    if (token === comment || token === '/*') return result + style.dim(line.slice(index))
    if (/^["'`]/.test(token)) result += style.green(token)
    else if (/^\d/.test(token)) result += style.yellow(token)
    else result += keywords.has(token) ? style.cyan(token) : token
  }
  return result
}

// A Markdown table on a terminal: aligned columns, cells wrapped if the terminal is narrower than the table.

const gap = 2
const leastWidth = 6

/** Undefined if the lines are not a table: the second must define the alignment of columns. */
function tableLines(
  lines: readonly string[],
  width: number,
  style: Style,
  plainText: (cell: string) => string,
): string[] | undefined {
  const [head = [], rule = [], ...rows] = lines.map(cellsOf)
  if (lines.length < 2 || rule.length === 0 || !rule.every((cell) => /^:?-+:?$/.test(cell))) return undefined
  const body = [head, ...rows].map((row) => head.map((_, i) => plainText(row[i] ?? '')))
  const widths = fitWidths(
    head.map((_, i) => Math.max(1, ...body.map((row) => columnsOf(row[i] ?? '')))),
    width - gap * (head.length - 1),
  )
  const right = rule.map((cell) => cell.endsWith(':') && !cell.startsWith(':'))
  const [titles = [], ...others] = body.map((row) => rowLines(row, widths, right))
  const line = widths.map((columns) => '─'.repeat(columns)).join(' '.repeat(gap))
  return [...titles.map(style.bold), style.dim(line), ...others.flat()]
}

function cellsOf(line: string): string[] {
  const inner = line.trim().replace(/^\|/, '').replace(/\|$/, '')
  return inner.split(/(?<!\\)\|/).map((cell) => cell.trim().replaceAll(String.raw`\|`, '|'))
}

/** The widest columns shrink first. */
function fitWidths(natural: readonly number[], room: number): number[] {
  const widths = [...natural]
  for (let excess = widths.reduce((sum, width) => sum + width, 0) - room; excess > 0; excess--) {
    const widest = widths.indexOf(Math.max(...widths))
    if ((widths[widest] ?? 0) <= leastWidth) break
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
