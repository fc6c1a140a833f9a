// The specific words of a text: what cannot be guessed once it is gone. Paths, URLs, addresses, identifiers (with a
// digit, an underscore or an inner capital), hashes and numbers; in plain text also names, and terms in Chinese, Japanese
// or Korean. One pass over the characters, because it runs over every result that is folded.

/** The distinct specific words of a text, in the order in which they first occur. */
export function specificWords(text: string, into = new Set<string>()): Set<string> {
  let at = 0
  for (;;) {
    beyondPlain.lastIndex = at
    if (!beyondPlain.test(text)) return into
    const found = beyondPlain.lastIndex - 1
    let start = found > at ? signBefore(text, found) : found
    while (start > at && inWord[text.charCodeAt(start - 1)] === 1) start--
    const code = text.charCodeAt(start)
    if (code === 43) at = readPhone(text, start, into)
    else if (isDigit(code) && (text.charCodeAt(start + 1) === 32 || text.charCodeAt(start + 2) === 32))
      at = readDate(text, start, into)
    else if (isIdeograph(code)) at = readTerm(text, start, into)
    else if (code === 58) at = start + 1
    else at = readWord(text, start, into)
  }
}

/**
 * A character with which something begins that is more than a word in small letters, or that makes it more. One class
 * and nothing else: with alternatives the search takes twice the time.
 */
const beyondPlain = /[A-Z0-9_@./\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u10ff\u30a0-\u30ff\u3400-\u9fff\uac00-\ud7af]/g

/** The character before it, if that is the `:` of `://` or the `+` of a number. */
function signBefore(text: string, found: number): number {
  const before = text.charCodeAt(found - 1)
  const isSign = (before === 58 && text.startsWith('//', found)) || (before === 43 && isDigit(text.charCodeAt(found)))
  return isSign ? found - 1 : found
}

/** 1: a character that makes no word specific. 2: any other character of a word. */
const inWord = Uint8Array.from({ length: 128 }, (_, code) => {
  const character = String.fromCharCode(code)
  return /[a-z~-]/.test(character) ? 1 : /[\w@./]/.test(character) ? 2 : 0
})

/** Latin letters with accents, Greek, Cyrillic and the like. */
function isLetter(code: number): boolean {
  return code >= 0xc0 && code < 0x1100 && code !== 0xd7 && code !== 0xf7
}

function isDigit(code: number): boolean {
  return code >= 48 && code <= 57
}

const phone = /\+\d{1,4}(?:[ -]?\(?\d{1,8}\)?){1,6}/y

/** A telephone number has spaces in it. */
function readPhone(text: string, start: number, into: Set<string>): number {
  phone.lastIndex = start
  const [found = ''] = phone.exec(text) ?? []
  if (found.length < 8) return start + 1
  into.add(found)
  return start + found.length
}

const date = /\d{1,2} (?:\p{Lu}\p{Ll}{2,9})(?: \d{4}(?!\d))?/uy

/** A date with the name of its month. */
function readDate(text: string, start: number, into: Set<string>): number {
  date.lastIndex = start
  const [found] = date.exec(text) ?? []
  if (found === undefined) return readWord(text, start, into)
  into.add(found)
  return start + found.length
}

function readWord(text: string, start: number, into: Set<string>): number {
  let end = start
  let isPlain = true
  while (end < text.length) {
    const code = text.charCodeAt(end)
    const kind = code < 128 ? (inWord[code] as number) : isLetter(code) ? 2 : 0
    if (kind === 1) end++
    else {
      if (kind === 2) end++
      // Of a URL the scheme too, and the rest.
      else if (code === 58 && text.startsWith('://', end)) end += 3
      else if (code === 44 && isThousands(text, end)) end++
      else break
      isPlain = false
    }
  }
  // Most words, which need not be looked at again.
  if (isPlain) return end
  let from = start
  let to = end
  while (from < to && isEdge(text.charCodeAt(from))) from++
  while (to > from && (isEdge(text.charCodeAt(to - 1)) || text.charCodeAt(to - 1) === 47)) to--
  // A path is found with and without its first folder.
  if (from > start && text.charCodeAt(from) === 47 && text.charCodeAt(from - 1) === 46) from++
  const length = to - from
  if (length < 2 || length > longestWord) return end
  if (isSpecific(text, from, to)) into.add(text.slice(from, to))
  else if (isCapitalised(text, from, to)) return readName(text, from, to, end, into)
  return end
}

/** A comma between digits, followed by three of them. */
function isThousands(text: string, comma: number): boolean {
  if (!isDigit(text.charCodeAt(comma - 1)) || isDigit(text.charCodeAt(comma + 4))) return false
  for (let at = comma + 1; at <= comma + 3; at++) if (!isDigit(text.charCodeAt(at))) return false
  return true
}

/** A longer word is data, not something that anyone types again. */
const longestWord = 200

/** `.`, `-` and `@` around a word are not part of it. */
function isEdge(code: number): boolean {
  return code === 46 || code === 45 || code === 64
}

function isSpecific(text: string, from: number, to: number): boolean {
  let digits = 0
  let letters = 0
  let slashes = 0
  let dot = from - 1
  let isJoined = false
  for (let i = from; i < to; i++) {
    const code = text.charCodeAt(i)
    if (code >= 48 && code <= 57) digits++
    else if (code === 47) slashes++
    else if (code === 46) dot = i
    else if (code === 95 || code === 64) isJoined ||= i > from && i < to - 1
    else if (code !== 45 && code !== 126) {
      letters++
      if (code >= 65 && code <= 90 && i > from) isJoined ||= isLower(text.charCodeAt(i - 1))
    }
  }
  if (digits > 0 && digits + letters > 1) return true
  if (letters < 2) return false
  return isJoined || slashes > 0 || (dot > from && to - dot <= longestExtension && dot < to - 1)
}

/** Including the dot. */
const longestExtension = 6

function isLower(code: number): boolean {
  return code >= 97 && code <= 122
}

function isCapitalised(text: string, from: number, to: number): boolean {
  const first = text.charCodeAt(from)
  if (from >= to || !((first >= 65 && first <= 90) || (first >= 0xc0 && first < 0xdf))) return false
  for (let i = from + 1; i < to; i++) {
    const code = text.charCodeAt(i)
    if (!isLower(code) && code < 0xdf) return false
  }
  return true
}

/** Two or three capitalised words with a space between them are a name, of a person or a thing. */
function readName(text: string, from: number, to: number, end: number, into: Set<string>): number {
  let last = to
  for (let words = 1; words < 3 && text.charCodeAt(last) === 32; words++) {
    let next = last + 1
    while (next < text.length && isNameLetter(text.charCodeAt(next))) next++
    if (next - last < 3 || !isCapitalised(text, last + 1, next)) break
    last = next
  }
  if (last > to) into.add(text.slice(from, last))
  else if (isInSentence(text, from) || isQuoted(text, from, to)) into.add(text.slice(from, to))
  return Math.max(last, end)
}

/** After a word in small letters, or after a label, a capital begins a name, not a sentence. */
function isInSentence(text: string, from: number): boolean {
  if (text.charCodeAt(from - 1) !== 32) return false
  const before = text.charCodeAt(from - 2)
  return before === 58 || (isLower(before) && isLower(text.charCodeAt(from - 3)))
}

/** The whole text in quotation marks. */
function isQuoted(text: string, from: number, to: number): boolean {
  return text.charCodeAt(from - 1) === 34 && text.charCodeAt(to) === 34
}

function isNameLetter(code: number): boolean {
  return isLower(code) || (code >= 65 && code <= 90) || isLetter(code)
}

function isIdeograph(code: number): boolean {
  return (code >= 0x3400 && code < 0xa000) || isKatakana(code) || isHangul(code)
}

function isKatakana(code: number): boolean {
  return code >= 0x30a0 && code < 0x3100
}

function isHangul(code: number): boolean {
  return code >= 0xac00 && code < 0xd7b0
}

/** Chinese characters that join words, and are hardly ever part of a name or a term. */
const joining = new Set('的了是在和与及或也就都而但把被这那我你他她它们很请吗呢吧啊')
/** Characters that are part of some terms: what is too long for a term is also split at them. */
const oftenJoining = new Set('让对从向到给为以于之其不没会能要着过由只')

/** Chinese terms are split at the characters that join them, as there are no spaces; a digit may be part of one. */
function readTerm(text: string, start: number, into: Set<string>): number {
  let end = start
  let from = start
  for (; end < text.length; end++) {
    const code = text.charCodeAt(end)
    if (isDigit(code)) end = readNumber(text, end, into) - 1
    else if (!isIdeograph(code)) break
    else if (joining.has(text.charAt(end))) {
      addTerm(text, from, end, into)
      from = end + 1
    }
  }
  addTerm(text, from, end, into)
  return end
}

const number = /\d+(?:[.,:]\d+)*/y

/** Including its point, which ends a term; a number without one is part of it. */
function readNumber(text: string, start: number, into: Set<string>): number {
  number.lastIndex = start
  const [found = ''] = number.exec(text) ?? []
  if (/\D/.test(found)) into.add(found)
  return start + found.length
}

const longestTerm = 12

function addTerm(text: string, from: number, to: number, into: Set<string>): void {
  if (to - from <= longestTerm) return addPiece(from, to)
  let piece = from
  for (let at = from; at <= to; at++) {
    const isCut = at === to || oftenJoining.has(text.charAt(at))
    if (!isCut && at - piece < longestTerm) continue
    addPiece(piece, at)
    piece = isCut ? at + 1 : at
  }

  function addPiece(first: number, last: number): void {
    if (last - first >= 2) into.add(text.slice(first, last))
  }
}
