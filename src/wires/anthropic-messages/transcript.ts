// Messages of the Anthropic API: a bare list, a request body, or an object that contains such a list with usage.
//
// One message of this format can be two of ours: results and the user's next text share a user message.

import type { Note, ToolSpec } from '../../core/context.ts'
import { fold } from '../../core/fold.ts'
import { isObject, type Json, type JsonObject } from '../../core/json.ts'
import type { Message, Origin, Reply, TextPart, ToolResultPart, UserMessage } from '../../core/message.ts'
import { anthropicMessages } from './index.ts'
import { readOutput, readUserBlock } from './read-request.ts'
import { isBlock, protocolId, type Block } from './types.ts'
import { writeMessages } from './write-request.ts'
import { sourced, unreadable, writeBySource, type Transcript, type TranscriptFormat } from '../shared/transcript.ts'

export const anthropicMessagesFormat: TranscriptFormat = { id: protocolId, recognise, read, write }

const telling: ReadonlySet<string> = new Set([
  'tool_use',
  'tool_result',
  'thinking',
  'redacted_thinking',
  'server_tool_use',
  'document',
  'compaction',
])

/** Plain text messages look alike on several wires: a block, a field or a tool of this one is required. */
function recognise(json: Json): boolean {
  const wrapper = isObject(json) ? json : {}
  const list = Array.isArray(json) ? json : wrapper.messages
  if (!Array.isArray(list) || list.length === 0) return false
  const looksRight = list
    .slice(0, 3)
    .every((message) => isObject(message) && isRole(message.role) && 'content' in message && !('tool_calls' in message))
  if (!looksRight || list.some((message) => isObject(message) && message.role === 'tool')) return false
  if (wrapper.anthropic_version !== undefined || wrapper.format === protocolId) return true
  if (typeof wrapper.model === 'string' && /claude/i.test(wrapper.model)) return true
  if (typeof wrapper.system === 'string' || Array.isArray(wrapper.system)) return true
  if (Array.isArray(wrapper.tools) && wrapper.tools.some((tool) => isObject(tool) && 'input_schema' in tool))
    return true
  return list.some(
    (message) => isObject(message) && Array.isArray(message.content) && message.content.some(isTellingBlock),
  )
}

function isRole(role: Json | undefined): boolean {
  return role === 'user' || role === 'assistant' || role === 'system'
}

function isTellingBlock(block: Json): boolean {
  return isBlock(block) && (telling.has(block.type) || (block.type === 'image' && isObject(block.source)))
}

function read(json: Json): Transcript {
  const wrapper = isObject(json) ? json : {}
  const list = Array.isArray(json) ? json : wrapper.messages
  const path = Array.isArray(json) ? '$' : '$.messages'
  if (!Array.isArray(list)) throw unreadable(protocolId, path, 'a list of messages')
  const notes: Note[] = []
  const book = callBook()
  const metadata = metadataOf(wrapper)
  const messages = list.flatMap((message, index) => {
    if (!isObject(message)) throw unreadable(protocolId, `${path}[${index}]`, 'an object')
    return sourced(protocolId, message, readMessage(message, `${path}[${index}]`, metadata(index), book, notes))
  })
  for (const compaction of Array.isArray(wrapper.compactions) ? wrapper.compactions : []) {
    const at = isObject(compaction) ? compaction.beforeMessage : undefined
    if (typeof at !== 'number') continue
    const why = 'the software that kept this summed up what came before; here all of it is kept'
    notes.push({ kind: 'changed', what: `compaction before message ${at}`, why, at: `${path}[${at}]` })
  }
  const system = readSystem(wrapper.system)
  const tools = readTools(wrapper.tools, notes)
  return { messages, ...(system.length > 0 && { system }), ...(tools.length > 0 && { tools }), notes }
}

export interface ReplyMetadata {
  model: string
  replyId?: string
  stopReason?: string
}

/** Model, id and stop reason of a reply, if the wrapper has them in a separate list. */
function metadataOf(wrapper: JsonObject): (index: number) => ReplyMetadata {
  const model = typeof wrapper.model === 'string' ? wrapper.model : ''
  const byIndex = new Map<number, JsonObject>()
  for (const row of Array.isArray(wrapper.usage) ? wrapper.usage : []) {
    if (isObject(row) && typeof row.message === 'number') byIndex.set(row.message, row)
  }
  return (index) => replyMetadata(byIndex.get(index) ?? {}, model)
}

export function replyMetadata(row: JsonObject, model: string): ReplyMetadata {
  return {
    model: typeof row.model === 'string' ? row.model : model,
    ...(typeof row.id === 'string' && { replyId: row.id }),
    ...(typeof row.stop_reason === 'string' && { stopReason: row.stop_reason }),
  }
}

function readMessage(
  message: JsonObject,
  path: string,
  metadata: ReplyMetadata,
  book: CallBook,
  notes: Note[],
): Message[] {
  const blocks = blocksOf(message.content, `${path}.content`)
  switch (message.role) {
    case 'assistant':
      return [readReply(blocks, { ...metadata, ...replyMetadata(message, metadata.model) }, book)]
    case 'user':
      return readUser(blocks, book)
    case 'system': {
      const parts = readSystem(blocks)
      if (parts.length < blocks.length) {
        const why = 'a system message here holds text only'
        notes.push({ kind: 'dropped', what: 'what is not text in a system message', why, at: path })
      }
      return [{ role: 'system', parts }]
    }
    default:
      throw unreadable(protocolId, `${path}.role`, 'user, assistant or system')
  }
}

export function blocksOf(content: Json | undefined, path: string): Block[] {
  if (typeof content === 'string') return [{ type: 'text', text: content }]
  if (!Array.isArray(content)) throw unreadable(protocolId, path, 'a text or a list of blocks')
  return content.map((block, index) => {
    if (!isBlock(block)) throw unreadable(protocolId, `${path}[${index}]`, 'a block with a type')
    return block
  })
}

/** Results first, as the API requires, then the user's text. */
export function readUser(blocks: readonly Block[], book: CallBook): Message[] {
  const results = blocks.flatMap((block) => (block.type === 'tool_result' ? [readResult(block, book)] : []))
  const parts: UserMessage['parts'] = blocks.filter((block) => block.type !== 'tool_result').map(readUserBlock)
  const messages: Message[] = []
  if (results.length > 0) messages.push({ role: 'tool', parts: results })
  if (parts.length > 0 || results.length === 0) messages.push({ role: 'user', parts })
  return messages
}

function readResult(block: Block, book: CallBook): ToolResultPart {
  return {
    type: 'tool-result',
    ...book.answer(String(block.tool_use_id)),
    output: readOutput(block.content),
    ...(block.is_error === true && { failed: true }),
  }
}

/** Read by the decoder, like any other reply. */
export function readReply(blocks: readonly Block[], metadata: ReplyMetadata, book: CallBook): Reply {
  book.turn()
  const origin: Origin = { protocol: protocolId, provider: 'anthropic', model: metadata.model }
  const decoder = anthropicMessages.decoder(origin, {
    callId: (position, alias) => book.open(alias ?? `call-${position}`),
  })
  const whole = {
    type: 'message',
    content: [...blocks],
    ...(metadata.replyId !== undefined && { id: metadata.replyId }),
    ...(metadata.stopReason !== undefined && { stop_reason: metadata.stopReason }),
  }
  const chunks = anthropicMessages.split(whole)
  const { reply } = fold([...chunks.flatMap((chunk) => decoder.push(chunk)), ...decoder.end()], origin)
  for (const part of reply.parts) if (part.type === 'tool-call') book.name(part.callId, part.name)
  return reply
}

export interface CallBook {
  /** A reply starts: its calls are named from here on. */
  turn(): void
  /** Our id for a call: the provider's, unless an earlier call has it. */
  open(alias: string): string
  name(callId: string, name: string): void
  /**
   * The call of a result: the first one with this id in the last reply that has no result, otherwise the last of all.
   */
  answer(alias: string): { callId: string; name: string }
}

export function callBook(): CallBook {
  const count = new Map<string, number>()
  const names = new Map<string, string>()
  const waiting = new Map<string, string[]>()
  const lastOf = (alias: string): string => {
    const n = count.get(alias) ?? 1
    return n === 1 ? alias : `${alias}~${n}`
  }
  return {
    turn() {
      waiting.clear()
    },
    open(alias) {
      count.set(alias, (count.get(alias) ?? 0) + 1)
      const callId = lastOf(alias)
      waiting.set(alias, [...(waiting.get(alias) ?? []), callId])
      return callId
    },
    name(callId, name) {
      names.set(callId, name)
    },
    answer(alias) {
      const callId = waiting.get(alias)?.shift() ?? lastOf(alias)
      return { callId, name: names.get(callId) ?? 'tool' }
    },
  }
}

function readSystem(system: Json | undefined): TextPart[] {
  if (typeof system === 'string') return system === '' ? [] : [{ type: 'text', text: system }]
  if (!Array.isArray(system)) return []
  return system.flatMap((block) =>
    isBlock(block) && typeof block.text === 'string' ? [{ type: 'text' as const, text: block.text }] : [],
  )
}

function readTools(tools: Json | undefined, notes: Note[]): ToolSpec[] {
  if (!Array.isArray(tools)) return []
  return tools.flatMap((tool, index): ToolSpec[] => {
    if (isObject(tool) && typeof tool.name === 'string' && isObject(tool.input_schema)) {
      const description = typeof tool.description === 'string' ? { description: tool.description } : {}
      return [{ name: tool.name, ...description, input: tool.input_schema }]
    }
    const type = isObject(tool) && typeof tool.type === 'string' ? tool.type : 'tool'
    notes.push({ kind: 'dropped', what: type, why: 'the provider runs it itself', at: `$.tools[${index}]` })
    return []
  })
}

function write(messages: Message[]): Json {
  return writeBySource(messages, protocolId, (run) => joinResults(run).map(({ role, content }) => ({ role, content })))
}

/** All results of a turn belong in one message. */
function joinResults(run: Message[]): ReturnType<typeof writeMessages> {
  const joined: ReturnType<typeof writeMessages> = []
  for (const message of writeMessages(run)) {
    const last = joined.at(-1)
    const isResults = (one: typeof message) => one.content.some((block) => block.type === 'tool_result')
    if (last && isResults(last) && isResults(message)) last.content.push(...message.content)
    else joined.push(message)
  }
  return joined
}
