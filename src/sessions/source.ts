// A session to be read: a file of an agent, a session in opencode's database, or messages in memory. Files of lines are
// read twice, line by line, and never completely in memory: first to find the current lines, then those lines.

import { createHash } from 'node:crypto'
import { closeSync, openSync, readFileSync, readSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Note } from '../core/context.ts'
import { badInput } from '../core/error.ts'
import { isObject, type Json, type JsonObject } from '../core/json.ts'
import { linesOfFile } from '../transfer/lines.ts'
import { geminiLines } from '../transcripts/gemini-cli.ts'
import { opencodeLines } from '../transcripts/opencode.ts'
import { recogniseFormat } from '../transcripts/index.ts'
import { sessionFormat } from '../transcripts/session-formats.ts'
import { timeOf } from '../transcripts/session-file.ts'
import type { Message } from '../core/message.ts'
import type { SessionFormat, SessionHead, SessionMessage } from '../transcripts/session.ts'
import { ends } from './files.ts'
import { geminiRoot } from './gemini-projects.ts'
import { opencodeLinesOf } from './opencode-db.ts'

export interface SessionSource {
  /** The format of the lines; absent if there are only messages. */
  format?: SessionFormat
  head: SessionHead
  notes: Note[]
  /** A digest of everything that was read: the same session has the same digest. */
  digest: string
  /** What the agent would send next, or with `whole` everything, in order. */
  messages(progress?: Progress): Generator<SessionMessage>
  /** All lines, unchanged. */
  lines(progress?: Progress): Generator<JsonObject>
}

/** From 0 to 1. */
export type Progress = (share: number) => void

export interface SourceOptions {
  whole?: boolean
  progress?: Progress
}

/** The agent whose format a file has; undefined if it is not a session. */
export function formatOfFile(path: string): SessionFormat | undefined {
  const { size, mtimeMs } = statSync(path)
  const { head, whole } = ends({ path, size, changedMs: mtimeMs }, 1024 * 1024, 0)
  const first = head.slice(0, head.indexOf('\n') + 1 || head.length)
  const isLines = parsedLines(first, true).length > 0
  const json: Json | undefined = isLines ? parsedLines(head, whole) : documentIn(path, size)
  return json === undefined ? undefined : sessionFormat(recogniseFormat(json) ?? '')
}

/** The objects of the complete lines in a piece of a file. */
export function parsedLines(text: string, isWhole: boolean): JsonObject[] {
  const lines = text.split('\n')
  if (!isWhole) lines.pop()
  return lines.map(parsedLine).filter((line) => line !== undefined)
}

/** Undefined if the line is not an object, or is a whole session. */
export function parsedLine(line: string): JsonObject | undefined {
  try {
    const value = line === '' ? undefined : (JSON.parse(line) as Json)
    return isObject(value) && !isDocument(value) ? value : undefined
  } catch {
    return undefined
  }
}

/** A session that is one JSON value. */
function isDocument(value: JsonObject): boolean {
  return Array.isArray(value.messages)
}

const mostDocument = 400 * 1024 * 1024

function documentIn(path: string, size: number): Json | undefined {
  if (size > mostDocument) throw badInput(`${path} is one value of more than ${mostDocument / 1024 / 1024} MB.`)
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as Json
  } catch {
    return undefined
  }
}

export async function fileSource(
  path: string,
  format: SessionFormat,
  options: SourceOptions = {},
): Promise<SessionSource> {
  const { size } = statSync(path)
  const document = format.id === 'opencode' || path.endsWith('.json') ? documentIn(path, size) : undefined
  if (document !== undefined && !Array.isArray(document)) {
    const lines = linesOfDocument(format, document)
    return lineSource(format, () => lines, options)
  }
  return linesSource(path, size, format, options)
}

/** A session from text, such as from a pipe. */
export function textSource(text: string, format: SessionFormat, options: SourceOptions = {}): SessionSource {
  const lines = parsedLines(text, true)
  if (lines.length > 0 && format.id !== 'opencode') return lineSource(format, () => lines, options)
  const document = linesOfDocument(format, JSON.parse(text) as Json)
  return lineSource(format, () => document, options)
}

function linesOfDocument(format: SessionFormat, document: Json): JsonObject[] {
  return format.id === 'opencode' ? opencodeLines(document) : geminiLines(document)
}

/** A session in opencode's database. */
export function opencodeSource(file: string, id: string, options: SourceOptions = {}): SessionSource {
  const format = sessionFormat('opencode') as SessionFormat
  return lineSource(format, () => opencodeLinesOf(file, id), options)
}

/** Lines in memory. */
export function lineSource(
  format: SessionFormat,
  lines: () => Iterable<JsonObject>,
  { whole = false }: SourceOptions,
): SessionSource {
  const scan = format.scan()
  const hash = createHash('sha256')
  let index = 0
  for (const line of lines()) {
    hash.update(JSON.stringify(line))
    scan.see(line, index++)
  }
  const scanned = scan.end(whole)
  return {
    format,
    head: scanned.head,
    notes: scanned.notes,
    digest: hash.digest('hex'),
    *messages() {
      const read = format.reader(whole, scanned)
      const positions = new Map(scanned.lines.map((line, position) => [line, position]))
      const isInOrder = scanned.lines.every(
        (line, position) => position === 0 || line > (scanned.lines[position - 1] ?? 0),
      )
      if (!isInOrder) {
        const all = [...lines()]
        for (const line of scanned.lines) yield* read(all[line] ?? {}, line)
        return
      }
      let at = 0
      for (const line of lines()) {
        if (positions.has(at)) yield* read(line, at)
        at++
      }
    },
    *lines() {
      yield* lines()
    },
  }
}

interface Span {
  from: number
  length: number
}

async function linesSource(
  path: string,
  size: number,
  format: SessionFormat,
  { whole = false, progress }: SourceOptions,
): Promise<SessionSource> {
  const scan = format.scan()
  const spans: Span[] = []
  const hash = createHash('sha256')
  const notes: Note[] = []
  let from = 0
  for await (const { number, text, whole: isWhole, upTo } of linesOfFile(path)) {
    const length = upTo - from
    const value = lineValue(text, isWhole, number)
    if (value) {
      scan.see(value, spans.length)
      spans.push({ from, length })
      hash.update(text)
    } else if (!isWhole) {
      const why = 'it ends in the middle: the file was cut off there, or is still being written'
      notes.push({ kind: 'dropped', what: `line ${number}`, why, at: `line ${number}` })
    }
    from = upTo
    progress?.(upTo / size)
  }
  const scanned = scan.end(whole)
  const counting = scanned.lines
  return {
    format,
    head:
      format.id === 'gemini-cli'
        ? { ...scanned.head, cwd: scanned.head.cwd ?? geminiRoot(dirname(dirname(path))) }
        : scanned.head,
    notes: [...notes, ...scanned.notes],
    digest: hash.digest('hex'),
    *messages(report) {
      const read = format.reader(whole, scanned)
      for (const { line, value } of readSpans(path, spans, counting, report)) yield* read(value, line)
    },
    *lines(report) {
      for (const { value } of readSpans(path, spans, spans.keys(), report)) yield value
    },
  }
}

function lineValue(text: string, isWhole: boolean, number: number): JsonObject | undefined {
  if (text.trim() === '') return undefined
  try {
    const value = JSON.parse(text) as Json
    if (isObject(value)) return value
  } catch {
    if (!isWhole) return undefined
  }
  throw badInput(`Line ${number} is not a JSON object.`)
}

function* readSpans(
  path: string,
  spans: readonly Span[],
  lines: Iterable<number>,
  progress?: Progress,
): Generator<{ line: number; value: JsonObject }> {
  const fd = openSync(path, 'r')
  const end = spans.at(-1)
  const size = end ? end.from + end.length : 1
  let buffer = Buffer.allocUnsafe(1024 * 1024)
  try {
    for (const line of lines) {
      const { from, length } = spans[line] as Span
      if (length > buffer.length) buffer = Buffer.allocUnsafe(length)
      const read = readSync(fd, buffer, 0, length, from)
      const value = JSON.parse(buffer.toString('utf8', 0, read)) as Json
      progress?.((from + length) / size)
      if (isObject(value)) yield { line, value }
    }
  } finally {
    closeSync(fd)
  }
}

/** Messages of the store, or of a transcript in any other format. */
export function messagesSource(
  messages: readonly { message: Message; at?: string }[],
  head: SessionHead,
): SessionSource {
  const hash = createHash('sha256')
  for (const { message } of messages) hash.update(JSON.stringify(message))
  return {
    head,
    notes: [],
    digest: hash.digest('hex'),
    *messages() {
      for (const { message, at } of messages) {
        const time = timeOf(message) ?? at
        yield { message, ...(time !== undefined && { at: time }) }
      }
    },
    *lines() {},
  }
}
