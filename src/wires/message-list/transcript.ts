// What Mistral's, Ollama's and Cohere's chat formats have in common as files: a list of messages, alone or in the body of
// a request, with tools written as functions, and replies that the wire itself can read. Each gives a dialect.

import type { ToolSpec } from '../../core/context.ts'
import { isObject, type Json, type JsonObject } from '../../core/json.ts'
import type {
  MediaPart,
  Message,
  Origin,
  Part,
  Reply,
  TextPart,
  ToolMessage,
  ToolResultPart,
  UserMessage,
} from '../../core/message.ts'
import type { Wire } from '../wire.ts'
import { callRegistry, type CallRegistry } from '../shared/call-registry.ts'
import { wireIds, type IdGrammar } from '../shared/ids.ts'
import { flatCall, flatResult, flatResultLabel, mediaStandIn, summaryLabel } from '../shared/injected-text.ts'
import {
  decodeReply,
  withSource,
  type Transcript,
  type TranscriptFormat,
  unreadable,
  writeBySource,
} from '../shared/transcript.ts'
import { objectIn, textIn, valueAt } from '../shared/json-fields.ts'
import { functionIn } from '../shared/request-options.ts'

export function listIn(json: Json): { messages: Json[]; path: string } | undefined {
  if (Array.isArray(json)) return { messages: json, path: '$' }
  if (isObject(json) && Array.isArray(json.messages)) return { messages: json.messages, path: '$.messages' }
  return undefined
}

/** How a wire writes its messages. */
export interface TranscriptDialect extends Pick<TranscriptFormat, 'recognise'> {
  id: string
  /** The provider whose wire it is. */
  provider: string
  wire: Wire
  callIds: IdGrammar
  /** Roles may be in capitals. */
  anyCase?: true
  /** The smallest complete answer with this message in it. */
  whole(message: JsonObject): Json
  /** Throws for content that an answer cannot have. */
  checkAnswer?(content: Json | undefined, at: string): void
  /** The parts of a system, user or tool message. */
  parts(message: JsonObject, at: string): UserMessage['parts']
  /** The name of the tool, on wires whose results have it. */
  resultName?(message: JsonObject): string | undefined
  /** The content of a result that is neither text nor media. */
  resultText(part: OtherPart): string
  /** The fields of a user or tool message that carry these parts. */
  content(parts: UserMessage['parts']): JsonObject
  /** The fields of a result that name its call. */
  resultOf(part: ToolResultPart, callId: string): JsonObject
  /** A reply of another wire. */
  message(reply: Reply, idOf: (callId: string) => string): JsonObject
}

type OtherPart = Exclude<UserMessage['parts'][number], TextPart | MediaPart>

export function messageListFormat(dialect: TranscriptDialect): TranscriptFormat {
  const { id, recognise } = dialect
  return {
    id,
    recognise,
    read: (json) =>
      readList(json, id, (value, at, model, registry) => readMessage(dialect, value, at, model, registry)),
    write(messages) {
      const idOf = wireIds(messages, dialect.callIds, (reply) => reply.origin.protocol === id)
      return writeBySource(messages, id, (run) => run.flatMap((message) => writeMessage(dialect, message, idOf)))
    },
  }
}

function readMessage(
  dialect: TranscriptDialect,
  value: JsonObject,
  at: string,
  model: string,
  registry: CallRegistry,
): Message {
  const { id, provider, wire, anyCase } = dialect
  switch (anyCase && typeof value.role === 'string' ? value.role.toLowerCase() : value.role) {
    case 'system':
      return { role: 'system', parts: dialect.parts(value, at).filter((part) => part.type === 'text') }
    case 'user':
      return { role: 'user', parts: dialect.parts(value, at) }
    case 'assistant':
      dialect.checkAnswer?.(value.content, `${at}.content`)
      return readReply(wire, { protocol: id, provider, model }, value, dialect.whole(value), registry)
    case 'tool':
      return readResult(dialect, value, at, registry)
    default:
      throw unreadable(id, `${at}.role`, 'system, user, assistant or tool')
  }
}

function readResult(dialect: TranscriptDialect, value: JsonObject, at: string, registry: CallRegistry): ToolMessage {
  const id = typeof value.tool_call_id === 'string' && value.tool_call_id !== '' ? value.tool_call_id : undefined
  const named = dialect.resultName?.(value)
  const call = registry.answer(id, named)
  const output = dialect.parts(value, at).map((part): TextPart | MediaPart => {
    return part.type === 'text' || part.type === 'media' ? part : { type: 'text', text: dialect.resultText(part) }
  })
  const name = named ?? call?.name ?? 'tool'
  return { role: 'tool', parts: [{ type: 'tool-result', callId: call?.callId ?? id ?? '', name, output }] }
}

function writeMessage(dialect: TranscriptDialect, message: Message, idOf: (callId: string) => string): Json[] {
  switch (message.role) {
    case 'system':
      return [{ role: 'system', content: message.parts.map((part) => part.text).join('\n\n') }]
    case 'user':
      return [{ role: 'user', ...dialect.content(message.parts) }]
    case 'assistant': {
      const [native] = message.native
      const isOwn = message.origin.protocol === dialect.id && isObject(native)
      return [isOwn ? native : dialect.message(replyAsText(message), idOf)]
    }
    default:
      return message.parts.map((part) => ({
        role: 'tool',
        ...dialect.resultOf(part, idOf(part.callId)),
        ...dialect.content(outputAsText(part)),
      }))
  }
}

/** Content that is a text or a list of chunks. */
export function chunkParts(
  { content }: JsonObject,
  format: string,
  at: string,
  readChunk: (chunk: JsonObject) => UserMessage['parts'][number],
): UserMessage['parts'] {
  if (content === undefined || content === null) return []
  if (typeof content === 'string') return [{ type: 'text', text: content }]
  if (!Array.isArray(content)) throw unreadable(format, `${at}.content`, 'a string, a list or null')
  return content.map((chunk, index) => {
    if (!isObject(chunk)) throw unreadable(format, `${at}.content[${index}]`, 'an object')
    return readChunk(chunk)
  })
}

/** A single text is written as such. */
export function chunkContent(chunks: readonly JsonObject[]): { content: Json } {
  const [only] = chunks
  if (chunks.length === 0) return { content: '' }
  const isText = chunks.length === 1 && only?.type === 'text' && typeof only.text === 'string'
  return { content: isText ? (only.text ?? '') : [...chunks] }
}

export function checkChunks(format: string): (content: Json | undefined, at: string) => void {
  return (content, at) => {
    if (content === undefined || content === null || typeof content === 'string' || Array.isArray(content)) return
    throw unreadable(format, at, 'a string, a list or null')
  }
}

type ReadMessage = (value: JsonObject, at: string, model: string, registry: CallRegistry) => Message

function readList(json: Json, format: string, readMessage: ReadMessage): Transcript {
  const list = listIn(json)
  if (!list) throw unreadable(format, '$', 'a list of messages, or an object with one in messages')
  const body = objectIn(json)
  const model = textIn(body.model)
  const registry = callRegistry()
  const messages = list.messages.flatMap((value, index) => {
    const path = `${list.path}[${index}]`
    if (!isObject(value)) throw unreadable(format, path, 'an object')
    return withSource(format, value, [readMessage(value, path, model, registry)])
  })
  const tools = Array.isArray(body.tools) ? body.tools.flatMap(readTool) : undefined
  return { messages, notes: [], ...(tools && { tools }) }
}

function readTool(tool: Json): ToolSpec[] {
  const fn = functionIn(tool)
  if (!fn) return []
  const description = typeof fn.description === 'string' ? { description: fn.description } : {}
  return [{ name: fn.name, ...description, input: isObject(fn.parameters) ? fn.parameters : { type: 'object' } }]
}

export function callsIn(message: JsonObject): JsonObject[] {
  return Array.isArray(message.tool_calls) ? message.tool_calls.filter(isObject) : []
}

/** Read by the wire, from a complete answer with `message` in it; the native data stays as in the file. */
function readReply(wire: Wire, origin: Origin, message: JsonObject, body: Json, registry: CallRegistry): Reply {
  const calls = callsIn(message)
  registry.turn()
  const reply = decodeReply(wire, wire.split(body, 1 << 20), origin, (position, alias) =>
    registry.register(alias, textIn(valueAt(calls[position], 'function', 'name'))),
  )
  return { ...reply, native: [message], stop: { reason: reply.stop.reason } }
}

/** What a chat format has no field for is written as text instead of being lost. */
function replyAsText(reply: Reply): Reply {
  return { ...reply, parts: reply.parts.map(partAsText) }
}

function partAsText(part: Part): Part {
  switch (part.type) {
    case 'compaction':
      return { type: 'text', text: `${summaryLabel}\n${part.text ?? ''}` }
    case 'media':
      return { type: 'text', text: mediaStandIn(part.mediaType, part.name) }
    case 'server-tool': {
      const call = flatCall(part.name, part.input ?? {})
      if (part.output === undefined) return { type: 'text', text: call }
      const result = flatResult(flatResultLabel, part.name, JSON.stringify(part.output), false)
      return { type: 'text', text: `${call}\n${result}` }
    }
    default:
      return part
  }
}

/** The output of a result if the format cannot mark a failed one. */
function outputAsText(result: ToolResultPart): (TextPart | MediaPart)[] {
  const [first, ...rest] = result.output
  if (!result.failed || (first?.type === 'text' && first.text.startsWith('Error: '))) return result.output
  if (first?.type === 'text') return [{ ...first, text: `Error: ${first.text}` }, ...rest]
  return [{ type: 'text', text: 'Error: ' }, ...result.output]
}
