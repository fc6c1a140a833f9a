// Session logs of Claude Code: one JSON object per line, one content block per line. The lines of one `message.id` are
// one reply, and results may stand between them, because tools start while the reply is still being written.
//
// What is not a message (snapshots, hooks, summaries, sidechains of subagents) is carried in the source of the message
// behind it, so that the whole file comes back.

import { createHash } from 'node:crypto'
import type { Note } from '../core/context.ts'
import { isObject, type Json, type JsonObject } from '../core/json.ts'
import type { Message, ToolMessage } from '../core/message.ts'
import type { Block } from '../wires/anthropic-messages/types.ts'
import { writeMessages, type WrittenMessage } from '../wires/anthropic-messages/write-request.ts'
import { blocksOf, callBook, readReply, readUser, toldBy, type CallBook } from './anthropic-messages.ts'
import { sourced, unreadable, writeBySource, type Transcript, type TranscriptFormat } from './transcript.ts'

const id = 'claude-code'

export const claudeCodeFormat: TranscriptFormat = { id, recognise, read, write }

function recognise(json: Json): boolean {
  if (!Array.isArray(json)) return false
  return json.slice(0, 200).some((line) => isObject(line) && isSaid(line) && ('uuid' in line || 'sessionId' in line))
}

function isSaid(line: JsonObject): boolean {
  return (line.type === 'user' || line.type === 'assistant') && isObject(line.message)
}

/** Lines that Claude Code itself never sends to the model. */
function isAside(line: JsonObject): boolean {
  return !isSaid(line) || line.isSidechain === true || line.isApiErrorMessage === true || isSynthetic(line)
}

function isSynthetic(line: JsonObject): boolean {
  return isObject(line.message) && line.message.model === '<synthetic>'
}

function read(json: Json): Transcript {
  const lines = linesOf(json)
  const book = callBook()
  const messages: Message[] = []
  let carried: JsonObject[] = []
  for (let i = 0; i < lines.length;) {
    const line = lines[i] as JsonObject
    if (isAside(line)) {
      carried.push(line)
      i++
      continue
    }
    const end = line.type === 'assistant' ? endOfReply(lines, i) : i + 1
    const group = lines.slice(i, end)
    messages.push(...sourced(id, [...carried, ...group], readGroup(group, i, book)))
    carried = []
    i = end
  }
  if (carried.length > 0) carryBehind(messages, carried)
  return { messages, notes: notesOn(lines) }
}

function linesOf(json: Json): JsonObject[] {
  const list = isObject(json) ? [json] : json
  if (!Array.isArray(list)) throw unreadable(id, '$', 'a list of lines')
  return list.map((line, index) => {
    if (!isObject(line)) throw unreadable(id, `line ${index + 1}`, 'an object')
    return line
  })
}

/** Behind the last line of the same reply; another reply in between ends it. */
function endOfReply(lines: readonly JsonObject[], start: number): number {
  const replyId = replyIdOf(lines[start])
  let end = start + 1
  if (replyId === undefined) return end
  for (let i = start + 1; i < lines.length; i++) {
    const line = lines[i] as JsonObject
    if (isAside(line)) continue
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

function hasResult(content: Json | undefined): boolean {
  return Array.isArray(content) && content.some((block) => isObject(block) && block.type === 'tool_result')
}

function readGroup(group: readonly JsonObject[], start: number, book: CallBook): Message[] {
  const said = group.filter((line) => !isAside(line))
  const spoken = said.filter((line) => line.type === 'assistant')
  const messages: Message[] = []
  if (spoken.length > 0) {
    const blocks: Block[] = []
    const told: JsonObject = {}
    for (const line of spoken) {
      const message = line.message as JsonObject
      blocks.push(...blocksOf(message.content, `line ${start + group.indexOf(line) + 1}.message.content`))
      for (const [field, value] of Object.entries(message)) if (value !== null) told[field] = value
    }
    messages.push(readReply(blocks, toldBy(told, ''), book))
  }
  for (const line of said) if (line.type === 'user') messages.push(...readUserLine(line, start, book))
  return messages
}

function readUserLine(line: JsonObject, start: number, book: CallBook): Message[] {
  const message = line.message as JsonObject
  const messages = readUser(blocksOf(message.content, `line ${start + 1}.message.content`), book)
  return messages.map((one) => (one.role === 'tool' && one.parts.length === 1 ? withRaw(one, line) : one))
}

/** What the tool really returned, and when. */
function withRaw(message: ToolMessage, line: JsonObject): ToolMessage {
  const { toolUseResult: value, timestamp } = line
  const more = {
    ...(value !== undefined && { value }),
    ...(typeof timestamp === 'string' && { endedAt: timestamp }),
  }
  return { ...message, parts: message.parts.map((part) => ({ ...part, ...more })) }
}

/** What comes after the last message goes with it; a log without messages has nothing to carry it. */
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
    count((line) => isSaid(line) && line.isSidechain === true),
    'lines of sidechains',
    'subagents talk there; the conversation has their results',
  )
  add(
    count((line) => isSaid(line) && line.isSidechain !== true && isAside(line)),
    'error messages of the client',
    'no model said them',
  )
  for (const [index, line] of lines.entries()) {
    if (line.isCompactSummary !== true) continue
    const why = 'Claude Code summed up what came before; here all of it is kept'
    notes.push({ kind: 'changed', what: 'compaction', why, at: `line ${index + 1}` })
  }
  return notes
}

/** Lines of ours continue from the line before them, in its session. */
function write(messages: Message[]): Json {
  const ours = new Set<Json>()
  const groups = writeBySource(messages, id, (run) =>
    writeMessages(run).map((written): Json => {
      const line = lineFor(written)
      ours.add(line)
      return [line]
    }),
  )
  let parentUuid: Json = null
  let sessionId: Json | undefined
  return groups.flat().map((line): Json => {
    if (!isObject(line)) return line
    const uuid = ours.has(line) ? uuidFor(JSON.stringify([parentUuid, line])) : line.uuid
    const whole = ours.has(line) ? { parentUuid, ...(sessionId !== undefined && { sessionId }), ...line, uuid } : line
    parentUuid = uuid ?? parentUuid
    sessionId = line.sessionId ?? sessionId
    return whole
  })
}

function lineFor({ role, content }: WrittenMessage): JsonObject {
  if (role === 'assistant') {
    const message = { id: `msg_${uuidFor(JSON.stringify(content))}`, type: 'message', role, content }
    return { isSidechain: false, type: role, message }
  }
  // The log has no system messages of the API; Claude Code writes its own words to the model as the user's.
  const isMeta = role === 'system' ? { isMeta: true } : {}
  return { isSidechain: false, type: 'user', ...isMeta, message: { role: 'user', content } }
}

/** Made of what it names, so that the same log gives the same file. */
export function uuidFor(seed: string): string {
  const hex = createHash('sha256').update(seed).digest('hex')
  return [hex.slice(0, 8), hex.slice(8, 12), `8${hex.slice(13, 16)}`, `8${hex.slice(17, 20)}`, hex.slice(20, 32)].join(
    '-',
  )
}
