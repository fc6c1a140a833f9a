// The data export of claude.ai: conversations with chat messages. A tool's call and its result are in one assistant
// message, so one chat message becomes several of ours: a reply, the results, the next reply.
//
// A file has many conversations; the first one with messages is read, the others are listed in a note.

import type { Note } from '../core/context.ts'
import { isObject, type Json, type JsonObject } from '../core/json.ts'
import type { MediaPart, Message, Part, Reply, ToolResultPart, UserMessage } from '../core/message.ts'
import { answeredCall, readOutput, writeMessages, type WrittenMessage } from '../wires/anthropic-messages/transcript.ts'
import { callRegistry, type CallRegistry } from '../wires/shared/call-registry.ts'
import { type Block, isBlock } from '../wires/anthropic-messages/types.ts'
import { uuidFor } from './session.ts'
import {
  withSource,
  unreadable,
  writeBySource,
  type Transcript,
  type TranscriptFormat,
} from '../wires/shared/transcript.ts'
import { listIn, textIn } from '../wires/shared/json-fields.ts'

const id = 'claude-export'

export const claudeExportFormat: TranscriptFormat = { id, recognise, read, write }

function recognise(json: Json): boolean {
  const [first] = Array.isArray(json) ? json : [json]
  return (
    isObject(first) &&
    (Array.isArray(first.chat_messages) || isChatMessage(first) || Array.isArray(conversationsIn(first)))
  )
}

function isChatMessage(value: Json | undefined): boolean {
  return isObject(value) && (value.sender === 'human' || value.sender === 'assistant')
}

function conversationsIn(json: JsonObject): Json[] | undefined {
  const { conversations } = json
  const [first] = listIn(conversations)
  return isObject(first) && Array.isArray(first.chat_messages) ? (conversations as Json[]) : undefined
}

function read(json: Json): Transcript {
  const notes: Note[] = []
  const { list, path, model } = chooseConversation(json, notes)
  const branch = branchOf(list, path, notes)
  const registry = callRegistry()
  const messages: Message[] = []
  let carried: Json[] = []
  for (const [index, message] of list.entries()) {
    if (!branch.has(message)) {
      carried.push(message)
      continue
    }
    const own = readChatMessage(message, `${path}[${index}]`, model, registry)
    messages.push(...withSource(id, [...carried, message], own))
    carried = []
  }
  const first = messages.findLastIndex(({ source }) => source?.index === 0)
  const last = messages[first]
  if (carried.length > 0 && last?.source && Array.isArray(last.source.value)) {
    messages[first] = { ...last, source: { ...last.source, value: [...last.source.value, ...carried] } }
  }
  return { messages, notes }
}

interface Chosen {
  list: JsonObject[]
  path: string
  model: string
}

function chooseConversation(json: Json, notes: Note[]): Chosen {
  const all = Array.isArray(json) ? json : isObject(json) ? (conversationsIn(json) ?? [json]) : []
  if (all.length > 0 && isChatMessage(all[0])) return { list: objectsIn(all, '$'), path: '$', model: '' }
  const withMessages = all.findIndex(
    (candidate) => isObject(candidate) && Array.isArray(candidate.chat_messages) && candidate.chat_messages.length > 0,
  )
  const index = Math.max(0, withMessages)
  const conversation = all[index]
  const path = `$[${index}].chat_messages`
  if (!isObject(conversation) || !Array.isArray(conversation.chat_messages)) {
    throw unreadable(id, path, 'a list of chat messages')
  }
  if (all.length > 1) {
    const others = all.flatMap((other, i) =>
      i === index || !isObject(other) ? [] : [JSON.stringify(other.name ?? other.uuid)],
    )
    const named = others.slice(0, 10).join(', ') + (others.length > 10 ? ', …' : '')
    const why = 'one conversation is read at a time; give the others one by one'
    notes.push({ kind: 'dropped', what: `${others.length} other conversations: ${named}`, why, at: '$' })
  }
  const model = textIn(conversation.model)
  return { list: objectsIn(conversation.chat_messages, path), path, model }
}

function objectsIn(list: readonly Json[], path: string): JsonObject[] {
  return list.map((item, index) => {
    if (!isObject(item)) throw unreadable(id, `${path}[${index}]`, 'an object')
    return item
  })
}

/** With edits and retries the list has several branches: the one that ends last is read. */
function branchOf(list: readonly JsonObject[], path: string, notes: Note[]): Set<JsonObject> {
  const byId = new Map(list.map((message) => [message.uuid, message]))
  const linked = list.filter(({ parent_message_uuid }) => typeof parent_message_uuid === 'string').length
  if (linked < list.length - 1) return new Set(list)
  const branch = new Set<JsonObject>()
  for (let message = list.at(-1); message && !branch.has(message); message = byId.get(message.parent_message_uuid)) {
    branch.add(message)
  }
  if (branch.size < list.length) {
    const what = `${list.length - branch.size} messages of other branches`
    notes.push({ kind: 'dropped', what, why: 'the branch that ends last is read', at: path })
  }
  return branch
}

function readChatMessage(message: JsonObject, path: string, model: string, registry: CallRegistry): Message[] {
  const blocks = Array.isArray(message.content) ? message.content.filter(isBlock) : []
  const text = textIn(message.text)
  const content: Block[] = blocks.length > 0 ? blocks : text === '' ? [] : [{ type: 'text', text }]
  if (message.sender === 'human') return [{ role: 'user', parts: [...content.map(readHuman), ...filesOf(message)] }]
  if (message.sender !== 'assistant') throw unreadable(id, `${path}.sender`, 'human or assistant')
  return readAssistant(content, model, message, registry)
}

function readHuman(block: Block): UserMessage['parts'][number] {
  if (block.type === 'text' && typeof block.text === 'string') return { type: 'text', text: block.text }
  return { type: 'opaque', kind: `${id}/${block.type}`, data: block }
}

/** The export has the text of an attachment, but only the name of a file. */
function filesOf(message: JsonObject): UserMessage['parts'] {
  const attached = Array.isArray(message.attachments) ? message.attachments.filter(isObject) : []
  const files = Array.isArray(message.files) ? message.files.filter(isObject) : []
  return [
    ...attached.map((file): UserMessage['parts'][number] => {
      if (typeof file.extracted_content !== 'string') return { type: 'opaque', kind: `${id}/attachment`, data: file }
      const base64 = Buffer.from(file.extracted_content, 'utf8').toString('base64')
      const name = typeof file.file_name === 'string' && file.file_name !== '' ? { name: file.file_name } : {}
      return { type: 'media', mediaType: 'text/plain', ...name, data: { kind: 'base64', base64 } } satisfies MediaPart
    }),
    ...files.map((file): UserMessage['parts'][number] => ({ type: 'opaque', kind: `${id}/file`, data: file })),
  ]
}

function readAssistant(
  blocks: readonly Block[],
  model: string,
  message: JsonObject,
  registry: CallRegistry,
): Message[] {
  const messages: Message[] = []
  let parts: Part[] = []
  let results: ToolResultPart[] = []
  const flushParts = () => {
    if (parts.length > 0) messages.push(replyOf(parts, model, message))
    parts = []
  }
  const flushResults = () => {
    if (results.length > 0) messages.push({ role: 'tool', parts: results })
    results = []
  }
  for (const block of blocks) {
    if (block.type === 'tool_result') {
      flushParts()
      // Older exports have no ids: then results are in the order of the calls.
      const alias = typeof block.tool_use_id === 'string' ? block.tool_use_id : noId
      const failed = block.is_error === true ? { failed: true } : {}
      const value = block.structured_content ?? undefined
      const output = readOutput(block.content)
      const raw = value === undefined ? {} : { value }
      results.push({ type: 'tool-result', ...answeredCall(registry, alias), output, ...raw, ...failed })
      continue
    }
    flushResults()
    const part = readBlock(block, registry)
    parts.push(part)
  }
  flushResults()
  flushParts()
  return messages.length > 0 ? messages : [replyOf([], model, message)]
}

const noId = 'call'

function readBlock(block: Block, registry: CallRegistry): Part {
  switch (block.type) {
    case 'text': {
      const citations = Array.isArray(block.citations) && block.citations.length > 0 ? block.citations : undefined
      return { type: 'text', text: String(block.text ?? ''), ...(citations && { citations }) }
    }
    case 'thinking':
      return { type: 'reasoning', text: String(block.thinking ?? '') }
    case 'tool_use': {
      const alias = typeof block.id === 'string' ? block.id : undefined
      const name = String(block.name ?? '')
      const callId = registry.register(alias ?? noId, name)
      return { type: 'tool-call', callId, ...(alias !== undefined && { alias }), name, input: block.input ?? {} }
    }
    default:
      return { type: 'opaque', kind: `${id}/${block.type}`, data: block }
  }
}

/** Its thinking has no signature and its ids are from claude.ai: no API accepts it back as provider data. */
function replyOf(parts: Part[], model: string, message: JsonObject): Reply {
  const asks = parts.some((part) => part.type === 'tool-call')
  const replyId = typeof message.uuid === 'string' ? { replyId: message.uuid } : {}
  return {
    role: 'assistant',
    parts,
    native: [],
    origin: { protocol: id, provider: 'claude.ai', model, ...replyId },
    stop: { reason: asks ? 'tool-calls' : 'done' },
  }
}

function write(messages: Message[]): Json {
  const groups = writeBySource(messages, id, (run) =>
    chatMessages(writeMessages(run)).map((message): Json => [message]),
  )
  return groups.flat()
}

/** Results go into the assistant's message, after their calls. */
function chatMessages(written: readonly WrittenMessage[]): JsonObject[] {
  const messages: { sender: string; content: Block[] }[] = []
  for (const { role, content } of written) {
    const results = content.filter((block) => block.type === 'tool_result')
    const rest = content.filter((block) => block.type !== 'tool_result')
    const sender = role === 'assistant' ? 'assistant' : 'human'
    if (results.length > 0) push('assistant', results)
    if (rest.length > 0) push(sender, rest)
  }
  return messages.map(({ sender, content }, index) => ({
    uuid: uuidFor(JSON.stringify([index, sender, content])),
    text: content.flatMap((block) => (typeof block.text === 'string' ? [block.text] : [])).join('\n\n'),
    content,
    sender,
    attachments: [],
    files: [],
  }))

  function push(sender: string, content: Block[]): void {
    const last = messages.at(-1)
    if (last?.sender === sender && sender === 'assistant') last.content.push(...content)
    else messages.push({ sender, content: [...content] })
  }
}
