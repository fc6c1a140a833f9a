// Session logs of Claude Code: one JSON object per line, one content block per line. The lines of one `message.id` are
// one reply, and results may be between them, because tools start while the reply is still streaming.
//
// What is not a message (snapshots, hooks, summaries, sidechains of subagents) is stored in the source of the message
// after it, so that the whole file can be restored.

import type { Note } from '../core/context.ts'
import { isObject, type Json, type JsonObject } from '../core/json.ts'
import type { Message, ToolMessage } from '../core/message.ts'
import type { Block } from '../wires/anthropic-messages/types.ts'
import { blocksOf, readReply, readUser, replyMetadata } from '../wires/anthropic-messages/transcript.ts'
import { callRegistry, type CallRegistry } from '../wires/shared/call-registry.ts'
import { branchOf, claudeCodeSession, hasResult, isAside, isMessageLine } from './claude-code-session.ts'
import { writeSession } from './session-file.ts'
import { withSource, unreadable, type Transcript, type TranscriptFormat } from '../wires/shared/transcript.ts'

const id = 'claude-code'

export const claudeCodeFormat: TranscriptFormat = {
  id,
  recognise,
  read,
  write: (messages) => writeSession(claudeCodeSession, messages),
}

function recognise(json: Json): boolean {
  if (!Array.isArray(json)) return false
  return json
    .slice(0, 200)
    .some((line) => isObject(line) && isMessageLine(line) && ('uuid' in line || 'sessionId' in line))
}

function read(json: Json): Transcript {
  const lines = linesOf(json)
  const branch = branchOf(lines)
  const others = new Set(lines.filter((line, index) => !isAside(line) && !branch.has(index)))
  const skips: Skips = (line) => isAside(line) || others.has(line)
  const registry = callRegistry()
  const messages: Message[] = []
  let carried: JsonObject[] = []
  for (let i = 0; i < lines.length;) {
    const line = lines[i] as JsonObject
    if (skips(line)) {
      carried.push(line)
      i++
      continue
    }
    const end = line.type === 'assistant' ? endOfReply(lines, i, skips) : i + 1
    const group = lines.slice(i, end)
    messages.push(
      ...withSource(
        id,
        [...carried, ...group],
        readGroup(
          group.filter((member) => !skips(member)),
          i,
          registry,
        ),
      ),
    )
    carried = []
    i = end
  }
  if (carried.length > 0) carryBehind(messages, carried)
  const notes = notesOn(lines)
  if (others.size > 0) {
    const why = 'only the active branch of the session is read; the others stay in the file'
    notes.push({ kind: 'dropped', what: `${others.size} lines of other branches`, why })
  }
  return { messages, notes }
}

/** Whether a line is not part of the conversation. */
type Skips = (line: JsonObject) => boolean

function linesOf(json: Json): JsonObject[] {
  const list = isObject(json) ? [json] : json
  if (!Array.isArray(list)) throw unreadable(id, '$', 'a list of lines')
  return list.map((line, index) => {
    if (!isObject(line)) throw unreadable(id, `line ${index + 1}`, 'an object')
    return line
  })
}

/** After the last line of the same reply; another reply in between ends it. */
function endOfReply(lines: readonly JsonObject[], start: number, skips: Skips): number {
  const replyId = replyIdOf(lines[start])
  let end = start + 1
  if (replyId === undefined) return end
  for (let i = start + 1; i < lines.length; i++) {
    const line = lines[i] as JsonObject
    if (skips(line)) continue
    if (line.type === 'assistant') {
      if (replyIdOf(line) !== replyId) break
      end = i + 1
    } else if (!isObject(line.message) || !hasResult(line.message.content)) break
  }
  return end
}

function replyIdOf(line: JsonObject | undefined): string | undefined {
  const reply = isObject(line?.message) ? line.message.id : undefined
  return typeof reply === 'string' ? reply : undefined
}

function readGroup(group: readonly JsonObject[], start: number, registry: CallRegistry): Message[] {
  const spoken = group.filter((line) => line.type === 'assistant')
  const messages: Message[] = []
  if (spoken.length > 0) {
    const blocks: Block[] = []
    const fields: JsonObject = {}
    for (const line of spoken) {
      const message = line.message as JsonObject
      blocks.push(...blocksOf(message.content, `line ${start + group.indexOf(line) + 1}.message.content`))
      for (const [field, value] of Object.entries(message)) if (value !== null) fields[field] = value
    }
    messages.push(readReply(blocks, replyMetadata(fields, ''), registry))
  }
  for (const line of group) if (line.type === 'user') messages.push(...readUserLine(line, start, registry))
  return messages
}

function readUserLine(line: JsonObject, start: number, registry: CallRegistry): Message[] {
  const message = line.message as JsonObject
  const messages = readUser(blocksOf(message.content, `line ${start + 1}.message.content`), registry)
  return messages.map((message) =>
    message.role === 'tool' && message.parts.length === 1 ? withRaw(message, line) : message,
  )
}

/** The tool's actual result, and its time. */
function withRaw(message: ToolMessage, line: JsonObject): ToolMessage {
  const { toolUseResult: value, timestamp } = line
  const more = {
    ...(value !== undefined && { value }),
    ...(typeof timestamp === 'string' && { endedAt: timestamp }),
  }
  return { ...message, parts: message.parts.map((part) => ({ ...part, ...more })) }
}

/** What comes after the last message is stored with it; a log without messages loses it. */
function carryBehind(messages: Message[], lines: readonly JsonObject[]): void {
  const index = messages.findLastIndex((message) => message.source?.index === 0)
  const last = messages[index]
  if (!last?.source || !Array.isArray(last.source.value)) return
  messages[index] = { ...last, source: { ...last.source, value: [...last.source.value, ...lines] } }
}

function notesOn(lines: readonly JsonObject[]): Note[] {
  const notes: Note[] = []
  const count = (fits: (line: JsonObject) => boolean) => lines.filter(fits).length
  const add = (n: number, what: string, why: string) => {
    if (n > 0) notes.push({ kind: 'dropped', what: `${n} ${what}`, why })
  }
  add(
    count((line) => isMessageLine(line) && line.isSidechain === true),
    'lines of sidechains',
    'subagents talk there; the conversation has their results',
  )
  add(
    count((line) => isMessageLine(line) && line.isSidechain !== true && isAside(line)),
    'error messages of the client',
    'no model wrote them',
  )
  for (const [index, line] of lines.entries()) {
    if (line.isCompactSummary !== true) continue
    const why = 'Claude Code summed up what came before; here all of it is stored'
    notes.push({ kind: 'changed', what: 'compaction', why, at: `line ${index + 1}` })
  }
  return notes
}
