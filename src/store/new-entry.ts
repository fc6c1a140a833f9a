// Prepares input for a store: validated, cleaned, and converted to the stored text. All stores use this, so that each
// stores the same.

import { crc32 } from 'node:zlib'
import { badInput, SynapseError } from '../core/error.ts'
import type { Message, ToolMessage } from '../core/message.ts'
import { cutBlob, type Blob } from './blobs.ts'
import { uuidv7 } from './ids.ts'
import { detachMedia } from './media.ts'
import { inTextSlices, textSlice } from '../core/slices.ts'
import { damaged, isoTime } from './store-errors.ts'
import type { NewEntry } from './store.ts'

export interface PreparedEntry extends CheckedEntry {
  json: string
  checksum: number
  /** Nothing else refers to the message: it can be returned. */
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
  const cached = ownTexts.get(checked.message)
  ownTexts.delete(checked.message)
  const json = cached?.json ?? jsonText(checked.message, 'The message')
  return { ...checked, json, checksum: cached?.checksum ?? crc32(json), isOwn: cached !== undefined }
}

/** The texts of messages that are about to be stored: they need not be written again. */
const ownTexts = new WeakMap<Message, { json: string; checksum?: number }>()

/** A copy of a message in the form in which it will be read again, to be stored once. */
export function ownMessage<M extends Message>(original: M): M {
  if (ownTexts.has(original)) return original
  const json = jsonText(original, 'The message')
  const message = messageIn(json) as M
  ownTexts.set(message, { json })
  return message
}

/**
 * The same for the result of one call with a very long text. It is written in slices, and the event loop continues in
 * between. Any other message is returned unchanged.
 */
export async function ownLongResult(original: ToolMessage): Promise<ToolMessage> {
  const [part, another] = original.parts
  if (!part || another || typeof part.value !== 'string' || part.value.length <= textSlice) return original
  const { value } = part
  const mark = uuidv7()
  const around = jsonText({ ...original, parts: [{ ...part, value: mark }] }, 'The message').split(`"${mark}"`)
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
  for (const result of message.parts) result.value = values.join('')
  ownTexts.set(message, { json: pieces.join(''), checksum: crc32(pieces.at(-1) ?? '', checksum) })
  return message
}

/** For the memory store, which needs no JSON text. */
export function checkEntry(entry: NewEntry, now: number): CheckedEntry {
  checkMessage(entry.message)
  const id = checkId(entry.id, now)
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

/** The message of a JSON text. If the value of a result equals its output, both share one string. */
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

export function checkId(id: string | undefined, now: number): string {
  if (id === undefined) return uuidv7(now)
  if (/^[A-Za-z0-9._:-]{1,100}$/.test(id)) return id
  throw badInput(`${JSON.stringify(id)} cannot be an id: use up to 100 letters, digits and . _ : -`)
}

/** Such owners are reserved: SQLite uses one for conversations that are being imported or deleted. */
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

export function jsonText(value: unknown, subject: string): string {
  try {
    return JSON.stringify(value)
  } catch (cause) {
    const why = cause instanceof Error ? cause.message.split('\n')[0] : 'unknown'
    throw new SynapseError({ kind: 'bad-input', message: `${subject} cannot be stored as JSON: ${why}.` }, { cause })
  }
}

/** As it would be after a round trip through the database. */
export function jsonCopy<T>(value: T, subject: string): T {
  return JSON.parse(jsonText(value, subject)) as T
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
