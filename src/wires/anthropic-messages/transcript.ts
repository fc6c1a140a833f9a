// Messages of the Anthropic API: a bare list, a request body, or an object that contains such a list with usage.
//
// One message of this format can be two of ours: results and the user's next text share a user message.

import type { Note, ToolSpec } from '../../core/context.ts'
import { isObject, type Json, type JsonObject } from '../../core/json.ts'
import type { MediaPart, Message, Origin, Reply, TextPart, ToolResultPart, UserMessage } from '../../core/message.ts'
import { wireIds } from '../shared/ids.ts'
import { imageType } from '../shared/media.ts'
import { callRegistry, type CallRegistry } from '../shared/call-registry.ts'
import {
  decodeReply,
  withSource,
  type Transcript,
  type TranscriptFormat,
  unreadable,
  writeBySource,
} from '../shared/transcript.ts'
import type { Target } from '../wire.ts'
import { clientTool } from './client-tools.ts'
import { encodeReply } from './encode-reply.ts'
import { encodeResults, encodeSystem, encodeUser } from './encode-user.ts'
import { anthropicMessages } from './index.ts'
import { type Block, callIdGrammar, imageTypes, isBlock, protocolId, toolChangesIn, type Encoding } from './types.ts'
import { objectIn, listIn, textIn, valueAt } from '../shared/json-fields.ts'

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
  const wrapper = objectIn(json)
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
  const wrapper = objectIn(json)
  const list = Array.isArray(json) ? json : wrapper.messages
  const path = Array.isArray(json) ? '$' : '$.messages'
  if (!Array.isArray(list)) throw unreadable(protocolId, path, 'a list of messages')
  const notes: Note[] = []
  const registry = callRegistry()
  const metadata = metadataOf(wrapper)
  const messages = list.flatMap((message, index) => {
    if (!isObject(message)) throw unreadable(protocolId, `${path}[${index}]`, 'an object')
    return withSource(protocolId, message, readMessage(message, `${path}[${index}]`, metadata(index), registry, notes))
  })
  for (const compaction of listIn(wrapper.compactions)) {
    const before = isObject(compaction) ? compaction.beforeMessage : undefined
    if (typeof before !== 'number') continue
    const why = 'the program that wrote this summarised what came before; all of it is in this log'
    notes.push({ kind: 'changed', what: `compaction before message ${before}`, why, at: `${path}[${before}]` })
  }
  const system = readSystem(wrapper.system)
  const tools = withChanges(readTools(wrapper.tools, notes), list)
  return { messages, ...(system.length > 0 && { system }), ...(tools.length > 0 && { tools }), notes }
}

interface ReplyMetadata {
  model: string
  replyId?: string
  stopReason?: string
}

/** Model, id and stop reason of a reply, if the wrapper has them in a separate list. */
function metadataOf(wrapper: JsonObject): (index: number) => ReplyMetadata {
  const model = textIn(wrapper.model)
  const byIndex = new Map<number, JsonObject>()
  for (const row of listIn(wrapper.usage)) {
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
  registry: CallRegistry,
  notes: Note[],
): Message[] {
  const blocks = blocksOf(message.content, `${path}.content`)
  switch (message.role) {
    case 'assistant':
      return [readReply(blocks, { ...metadata, ...replyMetadata(message, metadata.model) }, registry)]
    case 'user':
      return readUser(blocks, registry)
    case 'system': {
      const parts = readSystem(blocks)
      const changes = toolChangesIn(message)
      if (changes.length > 0) {
        const why = 'other APIs have no form for it: the tools are those that are offered in the end'
        notes.push({ kind: 'changed', what: changes.map(({ type }) => type).join(', '), why, at: path })
      }
      if (parts.length + changes.length < blocks.length) {
        const why = 'a system message has only text here'
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
export function readUser(blocks: readonly Block[], registry: CallRegistry): Message[] {
  const results = blocks.flatMap((block) => (block.type === 'tool_result' ? [readResult(block, registry)] : []))
  const parts: UserMessage['parts'] = blocks.filter((block) => block.type !== 'tool_result').map(readUserBlock)
  const messages: Message[] = []
  if (results.length > 0) messages.push({ role: 'tool', parts: results })
  if (parts.length > 0 || results.length === 0) messages.push({ role: 'user', parts })
  return messages
}

function readResult(block: Block, registry: CallRegistry): ToolResultPart {
  return {
    type: 'tool-result',
    ...answeredCall(registry, textIn(block.tool_use_id)),
    output: readOutput(block.content),
    ...(block.is_error === true && { failed: true }),
  }
}

/** Read by the decoder, like any other reply. */
export function readReply(blocks: readonly Block[], metadata: ReplyMetadata, registry: CallRegistry): Reply {
  registry.turn()
  const origin: Origin = { protocol: protocolId, provider: 'anthropic', model: metadata.model }
  const names = blocks.flatMap((block) => (block.type === 'tool_use' ? [textIn(block.name)] : []))
  const body = {
    type: 'message',
    content: [...blocks],
    ...(metadata.replyId !== undefined && { id: metadata.replyId }),
    ...(metadata.stopReason !== undefined && { stop_reason: metadata.stopReason }),
  }
  return decodeReply(anthropicMessages, anthropicMessages.split(body), origin, (position, alias) =>
    registry.register(alias ?? `call-${position}`, names[position] ?? ''),
  )
}

/** The call that a result with this id answers; a result may also be the only trace of its call. */
export function answeredCall(registry: CallRegistry, alias: string): { callId: string; name: string } {
  const { callId, name } = registry.answer(alias, undefined) ?? { callId: alias, name: 'tool' }
  return { callId, name }
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
    const known = readTool(tool)
    if (known) return [known]
    const type = isObject(tool) && typeof tool.type === 'string' ? tool.type : 'tool'
    notes.push({ kind: 'dropped', what: type, why: 'the provider runs it itself', at: `$.tools[${index}]` })
    return []
  })
}

function readTool(tool: Json | undefined): ToolSpec | undefined {
  if (!isObject(tool)) return undefined
  if (typeof tool.name !== 'string' || !isObject(tool.input_schema)) return clientTool(tool)
  const description = typeof tool.description === 'string' ? { description: tool.description } : {}
  return { name: tool.name, ...description, input: tool.input_schema }
}

/** System messages may add tools and take them away: what is offered in the end. */
function withChanges(declared: ToolSpec[], messages: readonly Json[]): ToolSpec[] {
  const changes = messages.flatMap(toolChangesIn)
  if (changes.length === 0) return declared
  const known = new Map(declared.map((tool) => [tool.name, tool]))
  const offered = new Map(known)
  for (const { type, tool } of changes) {
    const defined = readTool(valueAt(tool, 'definition'))
    if (defined) known.set(defined.name, defined)
    const spec = defined ?? known.get(textIn(valueAt(tool, 'name')))
    if (spec && type === 'tool_addition') offered.set(spec.name, spec)
    else if (spec) offered.delete(spec.name)
  }
  return [...offered.values()]
}

function write(messages: Message[]): Json {
  return writeBySource(messages, protocolId, (run) => joinResults(run).map(({ role, content }) => ({ role, content })))
}

/** All results of a turn belong in one message. */
function joinResults(run: Message[]): ReturnType<typeof writeMessages> {
  const joined: ReturnType<typeof writeMessages> = []
  for (const message of writeMessages(run)) {
    const last = joined.at(-1)
    const isResults = (candidate: typeof message) => candidate.content.some((block) => block.type === 'tool_result')
    if (last && isResults(last) && isResults(message)) last.content.push(...message.content)
    else joined.push(message)
  }
  return joined
}

/** Reads the user content of a request back into parts: for transcripts, which are stored requests. */
function readUserBlock(block: Block): UserMessage['parts'][number] {
  if (block.type === 'text' && typeof block.text === 'string') return { type: 'text', text: block.text }
  return readMedia(block) ?? { type: 'opaque', kind: `${protocolId}/${block.type}`, data: block }
}

/** The content of a `tool_result`. What our parts do not support is kept as the text of its JSON. */
export function readOutput(content: Json | undefined): ToolResultPart['output'] {
  if (typeof content === 'string') return content === '' ? [] : [{ type: 'text', text: content }]
  if (!Array.isArray(content)) return []
  return content.map((block): TextPart | MediaPart => {
    const part = isBlock(block) ? readUserBlock(block) : undefined
    return part?.type === 'text' || part?.type === 'media' ? part : { type: 'text', text: JSON.stringify(block) }
  })
}

function readMedia(block: Block): MediaPart | undefined {
  if ((block.type !== 'image' && block.type !== 'document') || !isObject(block.source)) return undefined
  const { type, media_type, data, url, file_id } = block.source
  // Other wires need a type; this one has none for URLs and files.
  const fallback = block.type === 'image' ? imageType(textIn(url), 'image/jpeg') : 'application/pdf'
  const mediaType = typeof media_type === 'string' ? media_type : fallback
  const name = typeof block.title === 'string' ? { name: block.title } : {}
  const media = (data: MediaPart['data']): MediaPart => ({ type: 'media', mediaType, ...name, data: data })
  if (type === 'base64' && typeof data === 'string') return media({ kind: 'base64', base64: data })
  if (type === 'text' && typeof data === 'string') {
    return media({ kind: 'base64', base64: Buffer.from(data, 'utf8').toString('base64') })
  }
  if (type === 'url' && typeof url === 'string') return media({ kind: 'url', url })
  if (type === 'file' && typeof file_id === 'string')
    return media({ kind: 'file', fileId: file_id, provider: 'anthropic' })
  return undefined
}

// Messages of a request for storage: everything this wire supports, with nothing merged, added or adapted to a model.
// For transcripts; a request to be sent is written by `encode`.

export interface WrittenMessage {
  role: 'user' | 'assistant' | 'system'
  content: Block[]
}

/** One message each; empty ones are left out. */
export function writeMessages(messages: readonly Message[]): WrittenMessage[] {
  const idOf = wireIds(
    messages,
    callIdGrammar,
    ({ origin, native }) => origin.protocol === protocolId && native.length > 0,
  )
  return messages.flatMap((message): WrittenMessage[] => {
    const content = contentOf(message, idOf)
    if (content.length === 0) return []
    return [{ role: message.role === 'tool' ? 'user' : message.role, content }]
  })
}

function contentOf(message: Message, idOf: Encoding['idOf']): Block[] {
  const encoding: Encoding = {
    target: anywhere(message.role === 'assistant' ? message.origin : undefined),
    notes: [],
    names: { toWire: (name) => name },
    idOf,
  }
  switch (message.role) {
    case 'system':
      return encodeSystem(message.parts, '', encoding)
    case 'user':
      return encodeUser(message, '', encoding)
    case 'tool':
      return encodeResults(message, '', encoding)
    case 'assistant':
      return encodeReply(message, '', encoding)
  }
}

/** A target that accepts everything, and is the issuer of the reply. */
function anywhere(origin: Origin | undefined): Target {
  const media = [...imageTypes, 'application/pdf', 'text/plain']
  return {
    provider: origin?.provider ?? 'anthropic',
    model: origin?.model ?? '',
    options: {},
    quirks: {},
    capabilities: {
      media,
      mediaUrls: true,
      resultMedia: media,
      tools: true,
      sampling: true,
      forcedTool: true,
      prefill: true,
      midSystem: true,
      efforts: [],
    },
  }
}
