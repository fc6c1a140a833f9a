// Reads archives. Every line is verified, by its hash and by its shape, before anything is returned; a truncated file
// gives what comes before the cut, and reports it.

import { badInput } from '../core/error.ts'
import type { Note } from '../core/context.ts'
import { isObject, type Json, type JsonObject } from '../core/json.ts'
import type { Archive } from '../store/archive.ts'
import { archiveVersion, sealOf } from './archive-write.ts'
import { checkEntry, checkExchange, checkOverlay, checkToolRun, readManifest } from './archive-shape.ts'
import type { Line } from './lines.ts'

/** A larger conversation is refused: it cannot be a real one. */
export const mostEntries = 100_000

export interface ReadArchive {
  archive: Archive
  notes: Note[]
}

/** One at a time, each when its last line was read. A bad line throws a sentence with its number. */
export async function* readArchives(lines: AsyncIterable<Line>): AsyncGenerator<ReadArchive> {
  let open: Reading | undefined
  for await (const line of lines) {
    if (line.text.trim() === '') continue
    if (open === undefined) {
      open = startReading(line)
      continue
    }
    const value = unseal(line, open.last)
    if (value === undefined) {
      // Only a last line without a line break may be incomplete.
      yield cutOff(open, line.number)
      open = undefined
      continue
    }
    open.last = value.seal
    if (value.json['end'] !== undefined) {
      checkCounts(open, line.number)
      yield { archive: open.archive, notes: [] }
      open = undefined
    } else add(open, value.json, line.number)
  }
  if (open) yield cutOff(open, undefined)
}

interface Reading {
  archive: Archive
  ids: Set<string>
  counts: JsonObject
  last: string
}

export function isArchive(firstLine: string): boolean {
  return firstLine.startsWith('{"synapse-archive":')
}

function startReading(line: Line): Reading {
  if (!isArchive(line.text)) throw badInput(`Line ${line.number} should be the manifest of an archive.`)
  const value = unseal(line, '')
  if (!value) throw badInput(`Line ${line.number} is cut off, and it is the manifest: nothing can be read.`)
  if (value.json['synapse-archive'] !== archiveVersion) {
    throw badInput(
      `This archive is of version ${JSON.stringify(value.json['synapse-archive'])}; ${archiveVersion} is known here.`,
    )
  }
  const { conversation, branches, counts } = readManifest(value.json, line.number)
  if (Number(counts['entries']) > mostEntries) throw tooMany(line.number)
  const archive = { conversation, branches, entries: [], exchanges: [], toolRuns: [], overlays: [] }
  return { archive, ids: new Set(), counts, last: value.seal }
}

const sealLength = ',"sha256":"'.length + 64 + '"}'.length

/** The value of a line with a correct hash; undefined for an incomplete last line. */
function unseal(line: Line, last: string): { json: JsonObject; seal: string } | undefined {
  const { text, number } = line
  const body = `${text.slice(0, -sealLength)}}`
  const [, seal] = /,"sha256":"([0-9a-f]{64})"\}$/.exec(text.slice(-sealLength)) ?? []
  let json: Json | undefined
  try {
    json = JSON.parse(body) as Json
  } catch {
    json = undefined
  }
  if (seal === undefined || !isObject(json)) {
    if (!line.whole) return undefined
    throw badInput(`Line ${number} is not a line of an archive.`)
  }
  if (sealOf(last, body) !== seal) {
    throw badInput(`Line ${number} is not what was exported: it, or a line before it, was changed, moved or left out.`)
  }
  return { json, seal }
}

function add({ archive, ids }: Reading, json: JsonObject, number: number): void {
  if (json['entry'] !== undefined) {
    if (archive.entries.length >= mostEntries) throw tooMany(number)
    const entry = checkEntry(json['entry'], ids, number)
    ids.add(entry.id)
    archive.entries.push(entry)
  } else if (json['exchange'] !== undefined) archive.exchanges.push(checkExchange(json['exchange'], ids, number))
  else if (json['toolRun'] !== undefined) archive.toolRuns.push(checkToolRun(json['toolRun'], ids, number))
  else if (json['overlay'] !== undefined) archive.overlays.push(checkOverlay(json['overlay'], ids, number))
  else throw badInput(`Line ${number} is of an unknown kind.`)
}

function checkCounts({ archive, counts, ids }: Reading, number: number): void {
  for (const kind of ['entries', 'exchanges', 'toolRuns', 'overlays'] as const) {
    if (archive[kind].length !== counts[kind]) {
      throw badInput(
        `The manifest names ${JSON.stringify(counts[kind])} ${kind}, but up to line ${number} there are ${archive[kind].length}.`,
      )
    }
  }
  const { head } = archive.conversation
  if (head !== null && !ids.has(head)) throw badInput(`The head ${head} is not among the entries (line ${number}).`)
  for (const { entryId, name } of archive.branches) {
    if (!ids.has(entryId)) throw badInput(`The branch ${JSON.stringify(name)} leads to no entry (line ${number}).`)
  }
}

/** The readable part, made consistent. */
function cutOff({ archive, ids, counts }: Reading, line: number | undefined): ReadArchive {
  const { conversation, branches, entries } = archive
  const isKnown = (id: string | null) => id !== null && ids.has(id)
  const { branch, ...about } = conversation
  const head = isKnown(conversation.head) ? conversation.head : (entries.at(-1)?.id ?? null)
  const valid = branches.filter(({ entryId }) => isKnown(entryId))
  const stays = head === conversation.head && branch !== undefined && valid.some(({ name }) => name === branch)
  const missing = Number(counts['entries']) - entries.length
  const at = line === undefined ? {} : { at: `line ${line}` }
  return {
    archive: { ...archive, conversation: { ...about, head, ...(stays && { branch }) }, branches: valid },
    notes: [
      {
        kind: 'dropped',
        what: missing > 0 ? `${missing} entries and what comes after them` : 'the end',
        why: 'the file was cut off there',
        ...at,
      },
    ],
  }
}

function tooMany(number: number): Error {
  return badInput(`Line ${number}: conversations are limited to ${mostEntries} entries.`)
}
