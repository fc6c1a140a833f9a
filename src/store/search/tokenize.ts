// The words of a text, for search. Split here and not in the database, because SQLite and PostgreSQL split differently
// and the same search must find the same everywhere: lower case, without accents, and each character of a script
// without spaces is a separate word (a longer word of such a script is then searched as a phrase).

export interface Token {
  word: string
  /** Its position in the text. */
  start: number
  end: number
}

export function* tokensOf(text: string): Generator<Token> {
  for (const match of text.matchAll(token)) {
    const end = match.index + match[0].length
    for (const word of plain(match[0])) yield { word, start: match.index, end }
  }
}

/** Only the words, which is much faster for plain English. */
export function tokenList(text: string): string[] {
  if (isAscii.test(text)) return shorten(text.toLowerCase()).match(/[a-z0-9]+/g) ?? []
  return Array.from(tokensOf(text), ({ word }) => word)
}

/** The words separated by anything that is not a word, for an index that splits at ASCII punctuation. */
export function indexText(text: string): string {
  if (isAscii.test(text)) return shorten(text.toLowerCase())
  return tokenList(text).join(' ')
}

/** Long runs are data, not words: only their beginning is used. This also stays below PostgreSQL's 2046 bytes. */
const longest = 64

const isAscii = /^\p{ASCII}*$/u
const token = /[\p{L}\p{N}\p{M}]+/gu
const unspaced =
  /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}]|[^\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}]+/gu

/** Whether the text has characters that are separate words, so that it has many more words than usual. */
export function isDense(text: string): boolean {
  return /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}]/u.test(text)
}

function plain(run: string): string[] {
  if (isAscii.test(run)) return [run.toLowerCase().slice(0, longest)]
  // Lower case last: a variant of a capital, such as a bold mathematical one, only becomes one then.
  const folded = run
    .normalize('NFKD')
    .replaceAll(/[\u0300-\u036f]/g, '')
    .normalize('NFKC')
    .toLowerCase()
  const words: string[] = []
  for (const [piece] of folded.matchAll(token)) {
    for (const [word] of piece.matchAll(unspaced)) words.push(word.slice(0, longest).toWellFormed())
  }
  return words
}

function shorten(lower: string): string {
  return hasLongRun(lower) ? lower.replaceAll(/[a-z0-9]+/g, (word) => word.slice(0, longest)) : lower
}

/** A run that is too long covers a position that is a multiple of `longest`, so the others need no check. */
function hasLongRun(lower: string): boolean {
  for (let offset = 0; offset < lower.length; offset += longest) {
    let start = offset
    let end = offset
    while (isWordCode(lower.charCodeAt(end))) end++
    while (isWordCode(lower.charCodeAt(start - 1))) start--
    if (end - start > longest) return true
  }
  return false
}

/** Of a digit or a lower-case letter; there is none beyond the ends of a text. */
function isWordCode(code: number): boolean {
  return (code > 47 && code < 58) || (code > 96 && code < 123)
}
