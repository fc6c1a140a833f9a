// Rollout files of Codex: one JSON object per line. Only `response_item` lines are items of the conversation; the
// others (session, turn context, events, token counts) are stored in the source of the message that follows them, so
// that the whole file can be restored.

import type { Note, ToolSpec } from '../core/context.ts'
import { isObject, type Json, type JsonObject } from '../core/json.ts'
import type { Message, Origin } from '../core/message.ts'
import { objectField, objectFields, protocolId, stringField } from '../wires/openai-responses/types.ts'
import { codexSession, isOldHead, itemOf } from './codex-session.ts'
import { readGroups, type SourcedItem } from '../wires/openai-responses/transcript.ts'
import { writeSession } from './session-file.ts'
import { withSource, unreadable, type Transcript, type TranscriptFormat } from '../wires/shared/transcript.ts'

const id = 'codex'

export const codexFormat: TranscriptFormat = {
  id,
  recognise,
  read,
  write: (messages) => writeSession(codexSession, messages),
}

const lineTypes: ReadonlySet<string> = new Set([
  'session_meta',
  'turn_context',
  'response_item',
  'event_msg',
  'compacted',
])

function recognise(json: Json): boolean {
  if (!Array.isArray(json)) return false
  return json.slice(0, 5).some((line) => isObject(line) && isLine(line)) || isOldHead(json[0])
}

function isLine(line: JsonObject): boolean {
  return lineTypes.has(stringField(line, 'type') ?? '') && isObject(line.payload)
}

function read(json: Json): Transcript {
  if (!Array.isArray(json)) throw unreadable(id, '$', 'a list of lines')
  const lines = json.map((line, index) => {
    if (!isObject(line)) throw unreadable(id, `line ${index + 1}`, 'an object')
    return line
  })
  const items: (SourcedItem & { line: number })[] = []
  let provider = 'openai'
  let model = ''
  for (const [line, value] of lines.entries()) {
    const payload = objectField(value, 'payload') ?? {}
    if (value.type === 'session_meta') provider = stringField(payload, 'model_provider') ?? provider
    if (value.type === 'turn_context') model = stringField(payload, 'model') ?? model
    const origin: Origin = { protocol: protocolId, provider, model }
    const item = itemOf(value)
    if (item) items.push({ item, origin, line })
    const summary = value.type === 'compacted' ? stringField(payload, 'message') : undefined
    if (summary) items.push({ message: summaryOf(summary), item: {}, origin, line })
  }
  return { messages: inSegments(lines, items), ...head(lines), notes: notesOn(lines) }
}

/** Every line belongs to one message: the one whose items it is between or before, at the end the last one. */
function inSegments(lines: JsonObject[], items: readonly (SourcedItem & { line: number })[]): Message[] {
  const groups = readGroups(items)
  let from = 0
  return groups.flatMap(({ message, end }, index) => {
    const isLast = index === groups.length - 1
    const to = isLast ? lines.length : (items[end - 1]?.line ?? from) + 1
    const segment = lines.slice(from, to)
    from = to
    return withSource(id, segment, [message])
  })
}

function summaryOf(text: string): Message {
  return { role: 'user', parts: [{ type: 'compaction', text }] }
}

/** The history that a compaction replaced is here in full, so its replacement is left out. */
function notesOn(lines: readonly JsonObject[]): Note[] {
  return lines.flatMap((line, index) =>
    line.type === 'compacted' && isObject(line.payload) && Array.isArray(line.payload.replacement_history)
      ? [{ kind: 'dropped', what: 'replacement history', why: 'the whole history is here', at: `line ${index + 1}` }]
      : [],
  )
}

function head(lines: readonly JsonObject[]): Pick<Transcript, 'system' | 'tools'> {
  const meta = lines.find((line) => line.type === 'session_meta')
  const session = (meta && objectField(meta, 'payload')) ?? (isOldHead(lines[0]) ? lines[0] : undefined) ?? {}
  const text =
    stringField(objectField(session, 'base_instructions') ?? {}, 'text') ?? stringField(session, 'instructions')
  const tools = objectFields(session, 'dynamic_tools').flatMap((tool): ToolSpec[] => {
    const name = stringField(tool, 'name')
    const description = stringField(tool, 'description')
    if (name === undefined || !isObject(tool.inputSchema)) return []
    return [{ name, ...(description !== undefined && { description }), input: tool.inputSchema }]
  })
  return { ...(text && { system: [{ type: 'text', text }] }), ...(tools.length > 0 && { tools }) }
}
