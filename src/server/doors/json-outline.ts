// Where the fields of a JSON object are in its bytes, found without parsing their values.

export interface Span {
  start: number
  end: number
}

export interface Outline {
  /** The elements of one list: from the bracket to the end of the last element. */
  list?: (Span & { field: string }) | undefined
  /** The values of the other fields. */
  fields: ReadonlyMap<string, Span>
}

const quote = 0x22
const [backslash, comma] = [...Buffer.from('\\,')]
const [openingBrace, closingBrace, openingBracket, closingBracket] = [...Buffer.from('{}[]')]

/** Of an object that is known to be JSON. `known`: the outline of one with the same bytes up to the end of its list. */
export function outlineOf(bytes: Buffer, field: string, known?: Outline): Outline | undefined {
  let list = known?.list
  const before = [...(known?.fields ?? [])].filter(([, { end }]) => list && end < list.start)
  const fields = new Map(before)
  let at = bytes.indexOf('{') + 1
  if (list) {
    const end = endOfList(bytes, list.end)
    list = { ...list, end: end.last }
    at = end.after
  }
  for (;;) {
    at = skipSpace(bytes, at)
    if (bytes[at] === comma) at = skipSpace(bytes, at + 1)
    if (bytes[at] !== quote) return { list, fields }
    const end = endOfString(bytes, at)
    const name = bytes.toString('latin1', at + 1, end - 1)
    const start = skipSpace(bytes, skipSpace(bytes, end) + 1)
    // An escaped name may be that of another field.
    if (name.includes('\\') || name === list?.field || fields.has(name)) return undefined
    if (!list && name === field && bytes[start] === openingBracket) {
      const { last, after } = endOfList(bytes, start + 1)
      list = { field, start: start + 1, end: last }
      at = after
    } else {
      at = endOfValue(bytes, start)
      fields.set(name, { start, end: at })
    }
  }
}

/** What follows the last element of a list as if there were none before; undefined: it is not the end of an element. */
export function afterList(bytes: Buffer, end: number): Buffer | undefined {
  const next = skipSpace(bytes, end)
  const isLonger = bytes[next] === comma && bytes[skipSpace(bytes, next + 1)] !== closingBracket
  if (!isLonger && bytes[next] !== closingBracket) return undefined
  return bytes.subarray(isLonger ? next + 1 : next)
}

/** From the beginning of an element, or the end of one: the end of the last element, and of the list. */
function endOfList(bytes: Buffer, from: number): { last: number; after: number } {
  let last = from
  for (;;) {
    let at = skipSpace(bytes, last)
    if (bytes[at] === comma) at = skipSpace(bytes, at + 1)
    if (at >= bytes.length || bytes[at] === closingBracket) return { last, after: at + 1 }
    last = endOfValue(bytes, at)
  }
}

function endOfValue(bytes: Buffer, from: number): number {
  let depth = 0
  for (let at = from; at < bytes.length; at++) {
    const byte = bytes[at]
    if (byte === quote) {
      at = endOfString(bytes, at) - 1
      if (depth === 0) return at + 1
    } else if (byte === openingBrace || byte === openingBracket) depth++
    else if (byte === closingBrace || byte === closingBracket) {
      if (depth === 0) return at
      if (--depth === 0) return at + 1
    } else if (depth === 0 && (byte === comma || isSpace(byte))) return at
  }
  return bytes.length
}

function endOfString(bytes: Buffer, from: number): number {
  for (let at = from + 1; at < bytes.length; at++) {
    if (bytes[at] === backslash) at++
    else if (bytes[at] === quote) return at + 1
    // A picture may have megabytes without a quote.
    else if ((at - from) % 4096 === 0) at = beforeQuote(bytes, at)
  }
  return bytes.length
}

/** The byte before the next quote, or before the backslashes that precede it. */
function beforeQuote(bytes: Buffer, from: number): number {
  const next = bytes.indexOf(quote, from)
  let at = next < 0 ? bytes.length - 1 : next - 1
  while (at > from && bytes[at] === backslash) at--
  return at
}

function skipSpace(bytes: Buffer, from: number): number {
  let at = from
  while (isSpace(bytes[at])) at++
  return at
}

function isSpace(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09
}
