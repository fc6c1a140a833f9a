// Sessions of the coding agent pi: JSON lines, first a header, then entries. Since version 2 the entries are a tree by
// `parentId`, and the last line is the current position; before that they are simply in order. Lines that are not
// messages, and those of other branches, are stored with the message that follows them, so that the file can be
// restored.

import type { Note } from '../core/context.ts'
import { isObject, type Json, type JsonObject } from '../core/json.ts'
import type { Message } from '../core/message.ts'
import { callRegistry } from '../wires/shared/call-registry.ts'
import { readEntry } from './pi-entry.ts'
import { piSession } from './pi-session.ts'
import { writeSession } from './session-file.ts'
import { unreadable, type Transcript, type TranscriptFormat } from '../wires/shared/transcript.ts'

const formatId = 'pi'

export const piFormat: TranscriptFormat = {
  id: formatId,
  recognise,
  read,
  write: (messages) => writeSession(piSession, messages),
}

function recognise(json: Json): boolean {
  const header = Array.isArray(json) ? json[0] : json
  return (
    isObject(header) && header.type === 'session' && typeof header.id === 'string' && typeof header.cwd === 'string'
  )
}

/** A message, and its source line; a summary comes before the line that it covers up to. */
interface Found {
  message: Message
  line: number
  isSummary: boolean
}

function read(json: Json): Transcript {
  const lines = (Array.isArray(json) ? json : [json]).map((line, index) => {
    if (!isObject(line)) throw unreadable(formatId, `$[${index}]`, 'an object')
    return line
  })
  if (lines[0]?.type !== 'session') throw unreadable(formatId, '$[0]', 'the header of a session')
  const notes: Note[] = []
  const branch = currentBranch(lines, notes)
  const messages: Found[] = []
  const registry = callRegistry()
  for (const line of branch) {
    const entry = lines[line] as JsonObject
    const message = readEntry(entry, `$[${line}]`, registry, notes)
    if (!message) continue
    if (entry.type === 'compaction')
      messages.splice(...placeOfSummary(entry, line, lines, messages), { message, line, isSummary: true })
    else messages.push({ message, line, isSummary: false })
  }
  noteOtherBranches(lines, branch, notes)
  return { messages: withSources(messages, lines), notes }
}

function currentBranch(lines: readonly JsonObject[], notes: Note[]): number[] {
  const byId = new Map<string, number>()
  for (const [index, line] of lines.entries()) {
    if (index > 0 && typeof line.id === 'string' && line.parentId !== undefined) byId.set(line.id, index)
  }
  if (byId.size === 0) return lines.map((_, index) => index).slice(1)

  const branch: number[] = []
  let at: number | undefined = [...byId.values()].at(-1)
  const seen = new Set<number>()
  while (at !== undefined && !seen.has(at)) {
    seen.add(at)
    branch.push(at)
    const parent: Json | undefined = lines[at]?.parentId
    const next: number | undefined = typeof parent === 'string' ? byId.get(parent) : undefined
    if (typeof parent === 'string' && next === undefined) {
      const why = 'the entry that it follows is not in the file'
      notes.push({ kind: 'dropped', what: 'everything before this entry', why, at: `$[${at}]` })
    }
    at = next
  }
  return branch.toReversed()
}

/** A summary covers what came before the first kept entry, which is earlier than its own line. */
function placeOfSummary(
  entry: JsonObject,
  line: number,
  lines: readonly JsonObject[],
  messages: readonly Found[],
): [start: number, deleteCount: 0] {
  const { firstKeptEntryId: id, firstKeptEntryIndex: index } = entry
  let firstLine = line
  if (typeof id === 'string') firstLine = lines.findIndex((candidate) => candidate.id === id)
  else if (typeof index === 'number') firstLine = index
  if (firstLine < 0) firstLine = line
  const start = messages.findIndex((candidate) => !candidate.isSummary && candidate.line >= firstLine)
  return [start < 0 ? messages.length : start, 0]
}

function noteOtherBranches(lines: readonly JsonObject[], branch: readonly number[], notes: Note[]): void {
  const isOn = new Set(branch)
  const others = lines.filter((line, index) => line.type === 'message' && !isOn.has(index)).length
  if (others === 0) return
  const why = 'only the active branch of the session is read; the others stay in the file'
  notes.push({ kind: 'dropped', what: `${others} messages of other branches`, why })
}

function withSources(messages: readonly Found[], lines: readonly JsonObject[]): Message[] {
  let next = 0
  const last = messages.findLastIndex((candidate) => !candidate.isSummary)
  return messages.map(({ message, line, isSummary }, index) => {
    const end = isSummary ? next : index === last ? lines.length : line + 1
    const value: Json[] = lines.slice(next, end)
    next = end
    return { ...message, source: { format: formatId, value, index: 0, of: 1 } }
  })
}
