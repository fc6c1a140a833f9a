// Clients send their whole history with every request. Of a body that begins with the same bytes as an earlier one, only
// the rest is parsed, hashed and searched: the elements of its list before that are the same objects, and are not
// compared again either.

import { createHash, type Hash } from 'node:crypto'
import { isObject, type Json, type JsonObject } from '../../core/json.ts'
import { badInput } from '../../core/error.ts'
import { tokenPrefix } from '../../wires/shared/sealed-token.ts'
import { parseJson } from '../body.ts'

export interface ParsedBody {
  bytes: Buffer
  value: JsonObject
  /** Where the values of its fields are; empty if it has a field twice, of which the last one counts. */
  fields: ReadonlyMap<string, Span>
  /** Whether it contains a token of ours. */
  hasToken: boolean
  /** The SHA-256 of a text and the body after it, as base64url. */
  digest(before: string): string
}

interface Span {
  start: number
  end: number
}

interface Outline {
  /** The elements of the list of messages: from the bracket to the end of the last element. */
  list?: (Span & { field: string }) | undefined
  /** The values of the other fields. */
  fields: ReadonlyMap<string, Span>
}

interface Known {
  bytes: Buffer
  outline: Required<Outline>
  items: readonly Json[]
  hasToken: boolean
  /** The hash of a text and the bytes up to the end of the list, to be continued. */
  hashed?: { before: string; state: Hash }
}

/** A shorter body is parsed as fast as it is compared. */
const least = 16_384
const most = { bodies: 64, size: 32_000_000 }

/** The most recent ones first. They must not be changed. */
let latest: Known[] = []

/**
 * `field`: the one that lists the messages on the wire of the body. `isCached`: the body may stay in memory for the next
 * request.
 */
export function parseBody(given: Uint8Array, field: string, isCached: boolean): ParsedBody {
  const bytes = Buffer.from(given.buffer, given.byteOffset, given.byteLength)
  const before = bytes.length < least ? undefined : latest.find((one) => isBeginningOf(one, field, bytes))
  const rest = before && parseRest(bytes, before)
  const { value, outline } = rest ?? parseAll(bytes, field)
  const known = rest && before
  const hasToken = holdsToken(bytes, known)
  const own = isCached && bytes.length >= least ? knownOf({ bytes, value, outline }, hasToken) : undefined
  if (own) remember(own, before)
  const fields = outline?.fields ?? new Map<string, Span>()
  return { bytes, value, fields, hasToken, digest: (text) => digestOf(text, bytes, known, own) }
}

/** The list of an earlier body that this one continues: it has the same elements, and others after them. */
export function beginningOf(list: readonly Json[]): readonly Json[] | undefined {
  return beginnings.get(list)?.deref()
}

/** The list that each list continues. */
const beginnings = new WeakMap<readonly Json[], WeakRef<readonly Json[]>>()

function holdsToken(bytes: Buffer, known: Known | undefined): boolean {
  const end = known?.outline.list?.end
  return bytes.includes(tokenPrefix, end === undefined || known?.hasToken ? 0 : Math.max(0, end - tokenPrefix.length))
}

function digestOf(before: string, bytes: Buffer, known: Known | undefined, own: Known | undefined): string {
  const continues = known?.hashed?.before === before
  const start = continues ? (known.outline.list?.end ?? 0) : 0
  const state = continues && known.hashed ? known.hashed.state.copy() : createHash('sha256').update(before)
  const end = own?.outline.list?.end ?? start
  state.update(bytes.subarray(start, end))
  if (own) own.hashed = { before, state: state.copy() }
  return state.update(bytes.subarray(end)).digest('base64url')
}

interface Parsed {
  value: JsonObject
  /** Undefined: it has a field twice. */
  outline: Outline | undefined
}

function parseAll(bytes: Buffer, field: string): Parsed {
  const value = parseJson(bytes).value as Json
  if (!isObject(value)) throw badInput('The body must be a JSON object.')
  return { value, outline: outlineOf(bytes, field) }
}

function isBeginningOf({ bytes, outline: { list } }: Known, field: string, body: Buffer): boolean {
  if (list?.field !== field || body.length <= list.end) return false
  return bytes.compare(body, 0, list.end, 0, list.end) === 0
}

/** Undefined: everything has to be parsed, because there is an error, or a field that is there twice. */
function parseRest(bytes: Buffer, { items, outline: known }: Known): Parsed | undefined {
  const { list } = known
  if (!list) return undefined
  const next = skipSpace(bytes, list.end)
  const isLonger = bytes[next] === comma && bytes[skipSpace(bytes, next + 1)] !== closingBracket
  if (!isLonger && bytes[next] !== closingBracket) return undefined
  const rest = bytes.subarray(isLonger ? next + 1 : next)
  let value: Json
  try {
    value = parseJson(Buffer.concat([bytes.subarray(0, list.start), rest])).value as Json
  } catch {
    return undefined
  }
  const added = isObject(value) ? value[list.field] : undefined
  const outline = outlineOf(bytes, list.field, known)
  if (!isObject(value) || !Array.isArray(added) || !outline) return undefined
  const all = items.concat(added)
  beginnings.set(all, new WeakRef(items))
  return { value: { ...value, [list.field]: all }, outline }
}

/** Undefined: it has no list that another body could continue. */
function knownOf({ bytes, value, outline }: Parsed & { bytes: Buffer }, hasToken: boolean): Known | undefined {
  if (!outline?.list) return undefined
  const { list, fields } = outline
  const items = value[list.field]
  if (!Array.isArray(items) || items.length === 0) return undefined
  return { bytes, items, outline: { list, fields }, hasToken }
}

function remember(own: Known, before: Known | undefined): void {
  const others = latest.filter((one) => one !== before)
  let size = 0
  latest = [own, ...others].slice(0, most.bodies).filter(({ bytes: held }) => (size += held.length) <= most.size)
}

const quote = 0x22
const [backslash, comma] = [...Buffer.from('\\,')]
const [openingBrace, closingBrace, openingBracket, closingBracket] = [...Buffer.from('{}[]')]

/** Of an object that is known to be JSON. `known`: the outline of one with the same bytes up to the end of its list. */
function outlineOf(bytes: Buffer, field: string, known?: Outline): Outline | undefined {
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
