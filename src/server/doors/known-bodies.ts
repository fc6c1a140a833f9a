// Clients send their whole history with every request. Of a body that begins with the same bytes as an earlier one, only
// the rest is parsed, hashed and searched: the elements of its list before that are the same objects, and are not
// compared again either.

import { createHash, type Hash } from 'node:crypto'
import { isObject, type Json, type JsonObject } from '../../core/json.ts'
import { badInput } from '../../core/error.ts'
import { tokenPrefix } from '../../wires/shared/sealed-token.ts'
import { parseJson } from '../body.ts'
import { afterList, outlineOf, type Outline, type Span } from './json-outline.ts'

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
  const rest = afterList(bytes, list.end)
  if (!rest) return undefined
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
