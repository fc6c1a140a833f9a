// Clients send their whole history with every request. The messages that an earlier request contained are not read
// again: the same objects are used, so that everything computed from them, such as digests and sizes, is known as well.

import type { Json, JsonObject } from '../../core/json.ts'
import { callsOf, type Message } from '../../core/message.ts'
import type { ReadRequest } from '../../wires/read-request.ts'
import { beginningOf } from './known-bodies.ts'

interface Reading {
  key: string
  /** The field of the body that lists the messages in the form of the wire. */
  field: string
  items: readonly Json[]
  /** How many items come before the first message, such as system prompts. */
  head: number
  messages: readonly Message[]
  callIds: ReadonlySet<string>
  /** Characters of the body. */
  size: number
}

/** A shorter list is read as fast as it is compared. */
const least = 16
const most = { readings: 64, size: 64_000_000 }

/** The most recent ones first. */
let latest: Reading[] = []

/** Reads a body; `key`: only bodies with the same one are read in the same way. */
export function readContinuing(
  key: string,
  { body, size }: { body: JsonObject; size: number },
  read: (body: JsonObject) => ReadRequest,
): ReadRequest {
  const known = latest.find((one) => one.key === key && isBeginningOf(one, body))
  const rest = known && readRest(known, body, read)
  const request = rest ?? read(body)
  const reading = known && rest ? longer(known, body, rest) : readingOf(key, body, request)
  if (reading) remember({ ...reading, size }, known)
  return request
}

function isBeginningOf({ field, items }: Reading, body: JsonObject): boolean {
  const list = body[field]
  if (!Array.isArray(list) || list.length < items.length) return false
  if (beginningOf(list) === items) return true
  // The end is where other conversations with the same beginning differ.
  for (let i = items.length - 1; i >= 0; i--) if (!isSame(items[i], list[i])) return false
  return true
}

function isSame(a: Json | undefined, b: Json | undefined): boolean {
  if (a === b) return true
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false
  if (Array.isArray(a)) return Array.isArray(b) && a.length === b.length && a.every((one, i) => isSame(one, b[i]))
  if (Array.isArray(b)) return false
  const names = Object.keys(a)
  return names.length === Object.keys(b).length && names.every((name) => isSame(a[name], b[name]))
}

/** Undefined: the new messages depend on the earlier ones, so all of them have to be read together. */
function readRest(
  { field, items, head, messages, callIds }: Reading,
  body: JsonObject,
  read: (body: JsonObject) => ReadRequest,
): ReadRequest | undefined {
  const list = listIn(body, field)
  const rest = read({ ...body, [field]: [...list.slice(0, head), ...list.slice(items.length)] })
  const calls = rest.messages.flatMap(callsOf)
  const ids = new Set(calls.map(({ callId }) => callId))
  const results = rest.messages.flatMap((message) => (message.role === 'tool' ? message.parts : []))
  const isApart =
    (rest.messages.length === 0 || rest.messages[0]?.role === 'assistant') &&
    calls.every(({ callId, alias }) => !callIds.has(callId) && !callIds.has(alias ?? callId)) &&
    results.every(({ callId }) => ids.has(callId)) &&
    !isAboutMessages(rest, field)
  return isApart ? { ...rest, messages: messages.concat(rest.messages) } : undefined
}

function longer(known: Reading, body: JsonObject, { messages }: ReadRequest): Reading | undefined {
  const callIds = idsIn(messages.slice(known.messages.length), known.callIds)
  return canContinue(messages) ? { ...known, items: listIn(body, known.field), messages, callIds } : undefined
}

/** Undefined: what follows could not be read apart from it. */
function readingOf(key: string, body: JsonObject, request: ReadRequest): Reading | undefined {
  const { messages } = request
  if (messages.length < least || !canContinue(messages)) return undefined
  const sources = messages.flatMap(({ source }) => (source?.index === 0 ? (source.value ?? []) : []))
  const field = Object.keys(body).find((name) => listIn(body, name).at(-1) === sources.at(-1))
  if (field === undefined || isAboutMessages(request, field)) return undefined
  const items = listIn(body, field)
  const head = items.length - sources.length
  // An item that is not a message, such as a declaration of tools, may have an effect on others.
  if (head < 0 || !sources.every((source, i) => source === items[head + i])) return undefined
  return { key, field, items, head, messages, callIds: idsIn(messages, new Set()), size: 0 }
}

function listIn(body: JsonObject, field: string): readonly Json[] {
  const list = body[field]
  return Array.isArray(list) ? list : []
}

/** Messages of one reply are read as one. */
function canContinue(messages: readonly Message[]): boolean {
  return messages.at(-1)?.role !== 'assistant'
}

function idsIn(messages: readonly Message[], before: ReadonlySet<string>): ReadonlySet<string> {
  const ids = messages.flatMap(callsOf).flatMap(({ callId, alias }) => [callId, alias ?? callId])
  return ids.length === 0 ? before : new Set([...before, ...ids])
}

/** Notes name messages by their places. */
function isAboutMessages({ notes }: ReadRequest, field: string): boolean {
  return notes.some(({ at }) => at?.startsWith(`$.${field}[`))
}

function remember(reading: Reading, before: Reading | undefined): void {
  const others = latest.filter((one) => one !== before)
  let size = 0
  latest = [reading, ...others].slice(0, most.readings).filter((one, i) => (size += one.size) <= most.size || i === 0)
}
