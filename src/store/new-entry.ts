// Prepares input for a store: validated, cleaned, and converted to the stored text. All stores use this, so that each
// stores the same.

import { crc32 } from 'node:zlib'
import { badInput, SynapseError } from '../core/error.ts'
import type { Entry } from '../core/log.ts'
import type { Message, ToolMessage } from '../core/message.ts'
import { cutBlob, type Blob } from './blobs.ts'
import { uuidv7 } from './ids.ts'
import { detachMedia } from './media.ts'
import { outlineOf } from './outline-message.ts'
import { inSlices, inTextSlices, textSlice } from '../core/slices.ts'
import { damaged, isoTime } from './store-errors.ts'
import type { NewEntry } from './store.ts'

export interface PreparedEntry extends CheckedEntry {
  json: string
  checksum: number
  /** Nothing else refers to the message: it can be given out. */
  isOwn: boolean
}

export interface CheckedEntry {
  id: string
  at: string
  /** Absent: the head. */
  parentId?: string | null
  head: NonNullable<NewEntry['head']>
  role: Message['role']
  /** Without its large media. */
  message: Message
  blobs: Blob[]
  /** Blobs that the message names without including them. */
  named: string[]
}

export function prepareEntry(entry: NewEntry, now: number): PreparedEntry {
  const checked = checkEntry(entry, now)
  const known = textsOfOwn.get(checked.message)
  textsOfOwn.delete(checked.message)
  const json = known?.json ?? jsonText(checked.message, 'The message')
  return { ...checked, json, checksum: known?.checksum ?? crc32(json), isOwn: known !== undefined }
}

/** The texts of messages that are about to be stored: they need not be written again. */
const textsOfOwn = new WeakMap<Message, { json: string; checksum?: number }>()

/** A copy of a message in the form in which it will be read again, to be stored once. */
export function ownMessage<M extends Message>(given: M): M {
  if (textsOfOwn.has(given)) return given
  const json = jsonText(given, 'The message')
  const message = messageIn(json) as M
  textsOfOwn.set(message, { json })
  return message
}

/**
 * The same for the result of one call with a very long text, which is written in slices: everything else continues in
 * between. Any other message is returned as it is.
 */
export async function ownLongResult(given: ToolMessage): Promise<ToolMessage> {
  const [part, another] = given.parts
  if (!part || another || typeof part.value !== 'string' || part.value.length <= textSlice) return given
  const { value } = part
  const mark = uuidv7()
  const around = jsonText({ ...given, parts: [{ ...part, value: mark }] }, 'The message').split(`"${mark}"`)
  const pieces = [`${around[0]}"`]
  const values: string[] = []
  let checksum = crc32(pieces[0] ?? '')
  await inTextSlices(value, (slice) => {
    const json = JSON.stringify(slice)
    const piece = json.slice(1, -1)
    pieces.push(piece)
    // Through JSON, because the text may be a slice of a much longer one, which would stay in memory.
    values.push(JSON.parse(json) as string)
    checksum = crc32(piece, checksum)
  })
  pieces.push(`"${around[1]}`)
  const message = JSON.parse(around.join('""')) as ToolMessage
  for (const one of message.parts) one.value = values.join('')
  textsOfOwn.set(message, { json: pieces.join(''), checksum: crc32(pieces.at(-1) ?? '', checksum) })
  return message
}

/** For a store that has no use for the text. */
export function checkEntry(entry: NewEntry, now: number): CheckedEntry {
  checkMessage(entry.message)
  const id = givenId(entry.id, now)
  const at = entry.at === undefined ? new Date(now).toISOString() : isoTime(entry.at, 'The time of an entry')
  const { message, blobs, named } = detachMedia(entry.message)
  return {
    id,
    at,
    ...(entry.parentId !== undefined && { parentId: entry.parentId }),
    head: entry.head ?? 'advance',
    role: message.role,
    message,
    blobs: [...blobs].map(([sha256, bytes]) => cutBlob(bytes, sha256)),
    named: [...named].filter((sha256) => !blobs.has(sha256)),
  }
}

/** The message in the form in which it will be read again: nothing is shared with the caller. */
export function messageOf(entry: PreparedEntry): Message {
  return entry.isOwn ? entry.message : messageIn(entry.json)
}

/** The message of a JSON text. A result that a program and the model read alike is there once. */
export function messageIn(json: string): Message {
  const message = JSON.parse(json) as Message
  if (message.role !== 'tool') return message
  for (const part of message.parts) {
    const [first] = part.output
    if (first?.type === 'text' && part.value === first.text) part.value = first.text
  }
  return message
}

/** The message of a row, which must be unchanged: SQLite itself has no checksums. */
export function readMessage(id: string, checksum: number, json: string): Message {
  if (crc32(json) === checksum) return messageIn(json)
  throw damaged(`Entry ${id}`)
}

/** A list instead of an object: reading a path of thousands of entries takes a fifth less time. */
export type PathRow = [id: string, depth: number, at: string, checksum: number, message: string]

export function byDepth(a: PathRow, b: PathRow): number {
  return a[1] - b[1]
}

/** The end of a path, and how many entries its conversation has. */
export interface PathEnd {
  n: number
  depth: number
  conversation: number
  conversation_id: string
  entries: number
}

/** A path as long as its conversation is all of it: then it can be read without following parents. */
export function isWhole(end: PathEnd, last: number): boolean {
  return last === Infinity && end.entries === end.depth + 1
}

/** Whether the rows are one line of this length: otherwise the conversation grew, or has branches. */
export function isLine(rows: readonly PathRow[], end: PathEnd): boolean {
  return rows.length === end.entries && rows.every((row, i) => row[1] === i)
}

/** The last entries of a path, from its rows in order of depth: all of them, or one more than requested. */
export async function wholePath(rows: readonly PathRow[], last: number, conversationId: string): Promise<Entry[]> {
  const end = rows.at(-1)
  if (!end) return []
  const [endId, endDepth] = end
  // The depth of the last one says how many must come before it.
  if (rows.length !== Math.min(endDepth + 1, last + 1)) throw damaged(`The history of entry ${endId}`)
  const entries: Entry[] = []
  await inSlices(Math.max(0, rows.length - last), (from, most) => {
    const end = Math.min(from + most, rows.length)
    // By index: iterating over pairs allocates for each row.
    for (let i = from; i < end; i++) {
      const row = rows[i] as PathRow
      const message = readMessage(row[0], row[3], row[4])
      entries.push({
        id: row[0],
        conversationId,
        parentId: rows[i - 1]?.[0] ?? null,
        depth: row[1],
        message,
        at: row[2],
      })
    }
    return end < rows.length ? end : undefined
  })
  return entries
}

/** The message only if it is needed; provider and model of a reply. */
export type OutlinedRow = [
  id: string,
  depth: number,
  at: string,
  checksum: number,
  role: Message['role'],
  provider: string | null,
  model: string | null,
  message: string | null,
]

/** The beginning of a path, in order of depth, without the content of its messages. */
export function outlinedEntries(rows: readonly OutlinedRow[], conversationId: string): Entry[] {
  return rows.map(([id, depth, at, checksum, role, provider, model, message], i) => ({
    id,
    conversationId,
    parentId: rows[i - 1]?.[0] ?? null,
    depth,
    message: message === null ? outlineOf(role, provider ?? '', model ?? '') : readMessage(id, checksum, message),
    at,
  }))
}

export function givenId(id: string | undefined, now: number): string {
  if (id === undefined) return uuidv7(now)
  if (/^[A-Za-z0-9._:-]{1,100}$/.test(id)) return id
  throw badInput(`${JSON.stringify(id)} cannot be an id: use up to 100 letters, digits and . _ : -`)
}

/** Stores use such owners themselves: SQLite deletes what an interrupted import or deletion left to one of them. */
export function checkOwner(owner: string): void {
  if (!owner.startsWith('synapse:')) return
  throw badInput(
    `${JSON.stringify(owner)} cannot own conversations: choose an owner that does not begin with "synapse:".`,
  )
}

/** Text that every database accepts: PostgreSQL refuses NUL, and half a surrogate pair is not UTF-8. */
export function plainText(text: string): string {
  return text.toWellFormed().replaceAll('\0', '\uFFFD')
}

export function cleanLabels(labels: readonly string[] | undefined): string[] {
  const clean = (labels ?? []).map((label) => plainText(label).trim()).filter((label) => label !== '')
  return [...new Set(clean)].sort()
}

export function jsonText(value: unknown, what: string): string {
  try {
    return JSON.stringify(value)
  } catch (cause) {
    const why = cause instanceof Error ? cause.message.split('\n')[0] : 'unknown'
    throw new SynapseError({ kind: 'bad-input', message: `${what} cannot be stored as JSON: ${why}.` }, { cause })
  }
}

/** As it would be after a round trip through the database. */
export function jsonCopy<T>(value: T, what: string): T {
  return JSON.parse(jsonText(value, what)) as T
}

function checkMessage(message: Message): void {
  const { role, parts, origin }: { role: string; parts: unknown; origin?: unknown } = message
  if (!['system', 'user', 'assistant', 'tool'].includes(role) || !Array.isArray(parts)) {
    throw badInput('An entry needs a message with a role (system, user, assistant, tool) and a list of parts.')
  }
  if (role === 'assistant' && (typeof origin !== 'object' || origin === null)) {
    throw badInput('A message of the assistant needs its origin: protocol, provider and model.')
  }
}
