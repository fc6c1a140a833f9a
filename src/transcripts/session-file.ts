// Sessions of coding agents as transcripts: a list of lines in, messages with their lines as sources out, and back.

import type { Note } from '../core/context.ts'
import { isObject, type Json, type JsonObject } from '../core/json.ts'
import type { Message } from '../core/message.ts'
import { type NewSession, type SessionFormat, type SessionHead, type Step, timeAt, uuidFor } from './session.ts'
import { sessionFormat } from './session-formats.ts'
import { stepper } from './steps.ts'
import { withSource, unreadable, writeBySource, type Transcript } from '../wires/shared/transcript.ts'

export function objectLines(format: string, json: Json): JsonObject[] {
  if (!Array.isArray(json)) throw unreadable(format, '$', 'a list of lines')
  return json.map((line, index) => {
    if (!isObject(line)) throw unreadable(format, `line ${index + 1}`, 'an object')
    return line
  })
}

/** All of a session, including what precedes a compaction; lines that are not messages belong to the next one. */
export function readSession(format: SessionFormat, lines: readonly JsonObject[], notes: Note[]): Transcript {
  const scan = format.scan()
  for (const [index, line] of lines.entries()) scan.see(line, index)
  const scanned = scan.end(true)
  const read = format.reader(true, scanned)
  const parsed = scanned.lines.flatMap((line) => {
    const messages = read(lines[line] ?? {}, line).map(({ message }) => message)
    return messages.length > 0 ? [{ line, messages }] : []
  })
  let next = 0
  const messages = parsed.flatMap(({ line, messages: contents }, index) => {
    const end = index === parsed.length - 1 ? lines.length : Math.max(next, line + 1)
    const value: Json[] = lines.slice(next, end)
    next = end
    return withSource(format.id, value, contents)
  })
  return { messages, notes: [...notes, ...scanned.notes] }
}

/** Lines from this format unchanged; new ones after them, or a whole new session. */
export function writeSession(format: SessionFormat, history: readonly Message[]): JsonObject[] {
  if (history.length === 0) return []
  const messages = format.joinsResults ? withWholeReplies(history, format.id) : history
  const runs = new Map<Json, Message[]>()
  const groups = writeBySource(messages, format.id, (run) => {
    const mark: JsonObject = {}
    runs.set(mark, run)
    return [mark]
  })
  const session = sessionFor(
    messages,
    groups.filter((group) => !runs.has(group)),
  )
  const steps = stepper(format.adaptUser)
  const isNew = runs.size === groups.length
  const written: JsonObject[] = []
  let writer = isNew ? format.writer(session) : undefined
  if (writer) written.push(...writer.open())
  let at = session.startedAt
  let position = 0
  const write = (newSteps: readonly Step[]): void => {
    writer ??= format.writer(session, written.at(-1) ?? {})
    for (const step of newSteps) written.push(...writer.add(step))
  }
  for (const group of groups) {
    const run = runs.get(group)
    if (run) {
      for (const message of run) {
        at = timeOf(message) ?? at
        write(steps.push(message, at))
      }
      position += run.length
      continue
    }
    // Pending lines belong before the lines that follow.
    if (position > 0) write(steps.end())
    const lines = (Array.isArray(group) ? group : [group]).filter(isObject)
    written.push(...lines)
    writer = undefined
    const count = messages[position]?.source?.of ?? 1
    for (const message of messages.slice(position, position + count)) {
      at = timeOf(message) ?? at
      write(steps.seen(message, at))
    }
    position += count
  }
  const rest = steps.end()
  if (rest.length > 0) write(rest)
  if (isNew && writer) written.push(...writer.close())
  return format.withHead ? format.withHead(written, session) : written
}

/** If a format has a call and its result in one record, a reply that gets new results is written again. */
function withWholeReplies(messages: readonly Message[], format: string): Message[] {
  const fresh = new Set<string>()
  for (const { role, parts, source } of messages) {
    if (role !== 'tool' || source?.format === format) continue
    for (const { callId } of parts) fresh.add(callId)
  }
  return messages.map((message) => {
    if (message.role !== 'assistant' || message.source?.format !== format) return message
    const isOpen = message.parts.some((part) => part.type === 'tool-call' && fresh.has(part.callId))
    if (!isOpen) return message
    const { source: _, ...rest } = message
    return rest
  })
}

const noTime = '1970-01-01T00:00:00.000Z'

/** The session of these messages: with the data of their source lines, under an id derived from them. */
function sessionFor(messages: readonly Message[], lines: readonly Json[]): NewSession {
  const head = headOfSources(messages)
  const startedAt = head.startedAt ?? noTime
  const digest = uuidFor(JSON.stringify(messages))
  const id = (lines.length > 0 ? head.id : undefined) ?? digest
  return { ...head, id, cwd: head.cwd ?? '', startedAt, updatedAt: head.updatedAt ?? startedAt }
}

export function headOfSources(messages: readonly Message[]): SessionHead {
  const format = messages.find(({ source }) => source && sessionFormat(source.format))?.source?.format
  const scan = sessionFormat(format ?? '')?.scan()
  if (!scan) return {}
  let index = 0
  for (const { source } of messages) {
    if (source?.format !== format || !Array.isArray(source?.value)) continue
    for (const line of source.value) if (isObject(line)) scan.see(line, index++)
  }
  return scan.end(true).head
}

/** The time of a message, if its source line has one. */
export function timeOf({ source }: Message): string | undefined {
  if (source?.value === undefined) return undefined
  const lines = Array.isArray(source.value) ? source.value : [source.value]
  for (const line of lines.toReversed()) {
    if (!isObject(line)) continue
    const inner = isObject(line.info) && isObject(line.info.time) ? line.info.time.created : undefined
    const at = timeAt(line.timestamp) ?? timeAt(inner)
    if (at !== undefined) return at
  }
  return undefined
}
