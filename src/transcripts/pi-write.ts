// Messages as lines of a pi session. What came from such a file goes back as it was; new messages are hung onto the
// end of the tree, with ids and times that follow from what is there: writing twice gives the same lines.

import { createHash } from 'node:crypto'
import { isObject, type Json, type JsonObject } from '../core/json.ts'
import type { MediaPart, Message, Part, Reply, StopReason } from '../core/message.ts'
import { malformedInput, mediaStandIn, summaryLabel } from '../wires/shared/injected-text.ts'
import { wires } from './pi-entry.ts'
import { replyAsText } from './as-text.ts'
import { writeBySource } from './transcript.ts'

export function writeLines(messages: Message[]): Json {
  const fresh = new Set<Json>()
  const ids = aliases(messages)
  const groups = writeBySource(messages, 'pi', (run) => {
    const lines = run.flatMap((message) => newLines(message, ids))
    for (const line of lines) fresh.add(line)
    return lines
  })
  const lines = groups.flat()
  const first = lines[0]
  if (!isObject(first) || first.type !== 'session') lines.unshift(newHeader(lines, fresh))
  return hung(lines, fresh)
}

/** Lines without a parent are of the first version, which has no number. */
function newHeader(lines: readonly Json[], fresh: ReadonlySet<Json>): JsonObject {
  const isOld = lines.some((line) => isObject(line) && !fresh.has(line) && line.parentId === undefined)
  return { type: 'session', ...(!isOld && { version: 3 }), id: digest(lines), timestamp: beginning, cwd: '' }
}

const beginning = '1970-01-01T00:00:00.000Z'

function digest(value: Json | readonly Json[]): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('hex').slice(0, 32)
}

/** Gives new lines their time and, where the file is a tree, their place in it. */
function hung(lines: readonly Json[], fresh: ReadonlySet<Json>): Json[] {
  const header = lines[0]
  const isTree = isObject(header) && typeof header.version === 'number' && header.version >= 2
  const used = new Set(lines.flatMap((line) => (isObject(line) && typeof line.id === 'string' ? [line.id] : [])))
  let parentId: string | null = null
  let timestamp = beginning
  return lines.map((line, index) => {
    if (!isObject(line)) return line
    if (fresh.has(line)) {
      const { type, ...rest } = line
      const id = isTree ? freeId(digest([line, index]), used) : undefined
      const placed: JsonObject = { type, ...(id !== undefined && { id, parentId }), timestamp, ...rest }
      if (id !== undefined) parentId = id
      return placed
    }
    if (index > 0 && typeof line.id === 'string') parentId = line.id
    if (typeof line.timestamp === 'string') timestamp = line.timestamp
    return line
  })
}

function freeId(hash: string, used: Set<string>): string {
  let length = 8
  while (used.has(hash.slice(0, length))) length++
  used.add(hash.slice(0, length))
  return hash.slice(0, length)
}

/** What a call is named in the file: as the provider did where the reply comes from a file, else by our id. */
function aliases(messages: readonly Message[]): ReadonlyMap<string, string> {
  const ids = new Map<string, string>()
  for (const message of messages) {
    if (message.role !== 'assistant') continue
    for (const part of message.parts) {
      if (part.type !== 'tool-call') continue
      ids.set(part.callId, (message.source?.format === 'pi' ? part.alias : undefined) ?? part.callId)
    }
  }
  return ids
}

function newLines(message: Message, ids: ReadonlyMap<string, string>): JsonObject[] {
  const line = (inner: JsonObject): JsonObject => ({ type: 'message', message: inner })
  switch (message.role) {
    case 'system': {
      const content = message.parts.map((part) => part.text).join('\n\n')
      return [{ type: 'custom_message', customType: 'system', content, display: false }]
    }
    case 'user':
      return [line({ role: 'user', content: message.parts.map(userBlock), timestamp: 0 })]
    case 'assistant':
      return [line(replyMessage(replyAsText(message), ids))]
    default:
      return message.parts.map((part) =>
        line({
          role: 'toolResult',
          toolCallId: ids.get(part.callId) ?? part.callId,
          toolName: part.name,
          content: part.output.map(userBlock),
          isError: part.failed === true,
          timestamp: 0,
        }),
      )
  }
}

function userBlock(part: Part): JsonObject {
  if (part.type === 'media') return mediaBlock(part)
  if (part.type === 'compaction') return textBlock(`${summaryLabel}\n${part.text ?? ''}`)
  return textBlock(part.type === 'text' ? part.text : JSON.stringify(part))
}

function textBlock(text: string): JsonObject & { type: 'text' } {
  return { type: 'text', text }
}

function mediaBlock({ data, mediaType, name }: MediaPart): JsonObject {
  if (data.kind === 'base64' && mediaType.startsWith('image/'))
    return { type: 'image', data: data.base64, mimeType: mediaType }
  return textBlock(data.kind === 'url' ? data.url : mediaStandIn(mediaType, name))
}

const stopReasons: Record<StopReason, string> = {
  done: 'stop',
  length: 'length',
  'tool-calls': 'toolUse',
  refusal: 'stop',
  paused: 'stop',
  cancelled: 'aborted',
  interrupted: 'aborted',
  failed: 'error',
}

const noUsage = {
  input: 0,
  output: 0,
  cacheRead: 0,
  cacheWrite: 0,
  totalTokens: 0,
  cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
}

function replyMessage(reply: Reply, ids: ReadonlyMap<string, string>): JsonObject {
  const { protocol, provider, model } = reply.origin
  const api = Object.keys(wires).find((name) => wires[name] === protocol) ?? protocol
  return {
    role: 'assistant',
    content: reply.parts.map((part) => replyBlock(part, ids)),
    api,
    provider,
    model,
    usage: noUsage,
    stopReason: stopReasons[reply.stop.reason],
    timestamp: 0,
  }
}

function replyBlock(part: Part, ids: ReadonlyMap<string, string>): JsonObject {
  switch (part.type) {
    case 'text':
    case 'refusal':
      return textBlock(part.text)
    case 'reasoning':
      return { type: 'thinking', thinking: part.text }
    case 'tool-call': {
      const args = part.malformed === undefined ? part.input : malformedInput(part.malformed)
      return { type: 'toolCall', id: ids.get(part.callId) ?? part.callId, name: part.name, arguments: args }
    }
    default:
      return textBlock(JSON.stringify(part))
  }
}
