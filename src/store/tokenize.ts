// The words of a text, for search. Cut here and not in the database, because SQLite and PostgreSQL cut differently and
// the same search must find the same everywhere: lower case, without accents, and each character of a script that is
// written without spaces is a word of its own (a longer word of such a script is then looked for as a phrase).

export interface Token {
  word: string
  /** Where it stands in the text. */
  start: number
  end: number
}

export function* tokensOf(text: string): Generator<Token> {
  for (const match of text.matchAll(token)) {
    const end = match.index + match[0].length
    for (const word of plain(match[0])) yield { word, start: match.index, end }
  }
}

/** The words alone, which for plain English can be had much faster. */
export function tokenList(text: string): string[] {
  if (isAscii.test(text)) return shorten(text.toLowerCase()).match(/[a-z0-9]+/g) ?? []
  return Array.from(tokensOf(text), ({ word }) => word)
}

/** The words with anything that is not a word between them, as an index that splits at ASCII marks can take them. */
export function indexText(text: string): string {
  if (isAscii.test(text)) return shorten(text.toLowerCase())
  return tokenList(text).join(' ')
}

/** Long runs are data, not words: only their beginning is looked at. It also keeps below PostgreSQL's 2046 bytes. */
const longest = 64

const isAscii = /^\p{ASCII}*$/u
const token = /[\p{L}\p{N}\p{M}]+/gu
const unspaced =
  /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}]|[^\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}]+/gu

/** Whether the text has characters that are words of their own, so that it holds many more words than usual. */
export function isDense(text: string): boolean {
  return /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}]/u.test(text)
}

function plain(run: string): string[] {
  if (isAscii.test(run)) return [run.toLowerCase().slice(0, longest)]
  // In small letters last: what represents a capital, such as a bold one of mathematics, is only then one.
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

/** A run that is too long covers a place whose number `longest` divides, so that the others need no look. */
function hasLongRun(lower: string): boolean {
  for (let at = 0; at < lower.length; at += longest) {
    let start = at
    let end = at
    while (isWordCode(lower.charCodeAt(end))) end++
    while (isWordCode(lower.charCodeAt(start - 1))) start--
    if (end - start > longest) return true
  }
  return false
}

/** Of a digit or a small letter; there is none beyond the ends of a text. */
function isWordCode(code: number): boolean {
  return (code > 47 && code < 58) || (code > 96 && code < 123)
}
