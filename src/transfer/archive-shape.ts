// The required shape of archive lines: ids that exist, parents before their children (so that there are no cycles),
// fields of the right type.

import { badInput, errorMessage } from '../core/error.ts'
import { isObject, type Json, type JsonObject } from '../core/json.ts'
import type { Exchange, Overlay, RecordedToolRun } from '../core/log.ts'
import type { Archive, ArchivedEntry } from '../store/archive.ts'
import { readTranscript } from '../transcripts/index.ts'
import { listIn } from '../wires/shared/json-fields.ts'

type Kind = 'string' | 'number' | 'boolean' | 'object' | 'list'
type Ids = ReadonlySet<string>

export function readManifest(
  json: JsonObject,
  line: number,
): { conversation: Archive['conversation']; branches: Archive['branches']; counts: JsonObject } {
  const about = objectIn(json['conversation'], 'conversation', line)
  need(about, { labels: 'list', settings: 'object' }, line)
  allow(about, { title: 'string', branch: 'string' }, line)
  const { head } = about
  if (head !== null && typeof head !== 'string') throw wrong(line, 'head', 'an id or null')
  const labels = listIn(about['labels']).map((label) => {
    if (typeof label !== 'string') throw wrong(line, 'labels', 'a list of texts')
    return label
  })
  const branches = listIn(json['branches']).map((branch) => {
    const named = objectIn(branch, 'a branch', line)
    return { name: text(named, 'name', line), entryId: text(named, 'entryId', line) }
  })
  const { title, settings, branch } = about
  return {
    conversation: {
      id: text(about, 'id', line),
      ...(typeof title === 'string' && { title }),
      labels,
      settings: isObject(settings) ? settings : {},
      createdAt: text(about, 'createdAt', line),
      head,
      ...(typeof branch === 'string' && { branch }),
    },
    branches,
    counts: objectIn(json['counts'], 'counts', line),
  }
}

export function checkEntry(json: Json, ids: Ids, line: number): ArchivedEntry {
  const entry = objectIn(json, 'entry', line)
  const { parentId, message } = entry
  const [id, at] = [text(entry, 'id', line), text(entry, 'at', line)]
  if (parentId !== null && typeof parentId !== 'string') throw wrong(line, 'parentId', 'an id or null')
  if (ids.has(id)) throw badInput(`Line ${line}: there is already an entry ${id}.`)
  if (parentId !== null && !ids.has(parentId)) {
    throw badInput(`Line ${line}: the parent ${parentId} of entry ${id} does not come before it.`)
  }
  try {
    const [read] = readTranscript([{ synapse: 1 }, message ?? null], { format: 'synapse' }).messages
    if (!read) throw wrong(line, 'message', 'a message')
    return { id, parentId, at, message: read }
  } catch (error) {
    throw badInput(`Line ${line}: ${errorMessage(error)}`)
  }
}

export function checkExchange(json: Json, ids: Ids, line: number): Omit<Exchange, 'conversationId'> {
  const exchange = objectIn(json, 'exchange', line)
  need(
    exchange,
    {
      id: 'string',
      basedOn: 'string',
      provider: 'string',
      protocol: 'string',
      model: 'string',
      bodySha256: 'string',
      notes: 'list',
      startedAt: 'string',
      outcome: 'string',
      attempts: 'number',
    },
    line,
  )
  allow(
    exchange,
    { endedAt: 'string', replyEntryId: 'string', usage: 'object', cost: 'number', failure: 'object' },
    line,
  )
  if (!['open', 'done', 'failed', 'cancelled', 'interrupted'].includes(text(exchange, 'outcome', line))) {
    throw wrong(line, 'outcome', 'open, done, failed, cancelled or interrupted')
  }
  pointsTo(exchange, ['basedOn', 'replyEntryId'], ids, line)
  return exchange as JsonObject & Omit<Exchange, 'conversationId'>
}

export function checkToolRun(json: Json, ids: Ids, line: number): Omit<RecordedToolRun, 'conversationId'> {
  const run = objectIn(json, 'toolRun', line)
  need(
    run,
    {
      callId: 'string',
      entryId: 'string',
      name: 'string',
      argsSha256: 'string',
      idempotencyKey: 'string',
      repeatable: 'boolean',
      starts: 'number',
      startedAt: 'string',
    },
    line,
  )
  allow(run, { endedAt: 'string', outcome: 'string', resultEntryId: 'string' }, line)
  if (run['outcome'] !== undefined && !['done', 'failed', 'unknown'].includes(text(run, 'outcome', line))) {
    throw wrong(line, 'outcome', 'done, failed or unknown')
  }
  pointsTo(run, ['entryId', 'resultEntryId'], ids, line)
  return run as JsonObject & Omit<RecordedToolRun, 'conversationId'>
}

export function checkOverlay(json: Json, ids: Ids, line: number): Omit<Overlay, 'conversationId'> {
  const overlay = objectIn(json, 'overlay', line)
  need(
    overlay,
    { id: 'string', entryId: 'string', kind: 'string', data: 'object', undone: 'boolean', at: 'string' },
    line,
  )
  pointsTo(overlay, ['entryId'], ids, line)
  return overlay as JsonObject & Omit<Overlay, 'conversationId'>
}

function pointsTo(object: JsonObject, fields: readonly string[], ids: Ids, line: number): void {
  for (const field of fields) {
    const id = object[field]
    if (id !== undefined && !(typeof id === 'string' && ids.has(id))) {
      throw badInput(`Line ${line}: ${field} names the entry ${JSON.stringify(id)}, which is not there.`)
    }
  }
}

function text(object: JsonObject, field: string, line: number): string {
  const value = object[field]
  if (typeof value !== 'string') throw wrong(line, field, 'a string')
  return value
}

function need(object: JsonObject, fields: Record<string, Kind>, line: number): void {
  for (const [field, kind] of Object.entries(fields)) {
    if (!isOf(object[field], kind)) throw wrong(line, field, `a ${kind}`)
  }
}

function allow(object: JsonObject, fields: Record<string, Kind>, line: number): void {
  for (const [field, kind] of Object.entries(fields)) {
    if (object[field] !== undefined && !isOf(object[field], kind)) throw wrong(line, field, `a ${kind}`)
  }
}

function isOf(value: Json | undefined, kind: Kind): boolean {
  return kind === 'list' ? Array.isArray(value) : kind === 'object' ? isObject(value) : typeof value === kind
}

function objectIn(value: Json | undefined, what: string, line: number): JsonObject {
  if (isObject(value)) return value
  throw wrong(line, what, 'an object')
}

function wrong(line: number, field: string, expected: string): Error {
  return badInput(`Line ${line}: ${field} should be ${expected}.`)
}
