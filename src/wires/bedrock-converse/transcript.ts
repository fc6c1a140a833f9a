// Messages of Converse: a bare list, or the body of a request. One message of this format can be two of ours: results
// and the user's next text share a user message.

import type { ToolSpec } from '../../core/context.ts'
import { isObject, type Json, type JsonObject } from '../../core/json.ts'
import type { MediaPart, Message, Origin, Reply, TextPart, ToolResultPart, UserMessage } from '../../core/message.ts'
import { callRegistry, type CallRegistry } from '../shared/call-registry.ts'
import { listIn, objectIn, textIn } from '../shared/json-fields.ts'
import {
  decodeReply,
  withSource,
  type Transcript,
  type TranscriptFormat,
  unreadable,
  writeBySource,
} from '../shared/transcript.ts'
import type { Target } from '../wire.ts'
import { encodeReply, encodeResults, encodingFor } from './encode-messages.ts'
import { bedrockConverse } from './index.ts'
import { userPieces } from '../shared/pieces.ts'
import { documentFormats, imageFormats, inside, kindOf, protocolId } from './types.ts'

export const bedrockConverseFormat: TranscriptFormat = { id: protocolId, recognise, read, write }

const kinds: ReadonlySet<string> = new Set([
  'text',
  'toolUse',
  'toolResult',
  'reasoningContent',
  'image',
  'document',
  'cachePoint',
  'citationsContent',
])

/** No other format has blocks without a type that are identified by the name of their only member. */
function recognise(json: Json): boolean {
  const list = listOf(json)
  if (!list || list.length === 0) return false
  return list.slice(0, 3).every((message) => {
    if (!isObject(message) || !Array.isArray(message.content) || message.content.length === 0) return false
    return message.content.every(
      (block) => isObject(block) && Object.keys(block).length === 1 && kinds.has(kindOf(block)),
    )
  })
}

function listOf(json: Json): Json[] | undefined {
  const list = isObject(json) ? json.messages : json
  return Array.isArray(list) ? list : undefined
}

function read(json: Json): Transcript {
  const body = objectIn(json)
  const list = listOf(json)
  if (!list) throw unreadable(protocolId, '$', 'a list of messages, or an object with one in messages')
  const model = textIn(body.modelId)
  const registry = callRegistry()
  const messages = list.flatMap((message, index) => {
    const path = `${Array.isArray(json) ? '$' : '$.messages'}[${index}]`
    if (!isObject(message)) throw unreadable(protocolId, path, 'an object')
    return withSource(protocolId, message, readMessage(message, path, model, registry))
  })
  const system = textsIn(body.system)
  const tools = listIn(inside(body, 'toolConfig')?.tools).flatMap(readTool)
  return { messages, notes: [], ...(system.length > 0 && { system }), ...(tools.length > 0 && { tools }) }
}

function readMessage(message: JsonObject, path: string, model: string, registry: CallRegistry): Message[] {
  if (!Array.isArray(message.content)) throw unreadable(protocolId, `${path}.content`, 'a list of blocks')
  const blocks = message.content.map((block, index) => {
    if (!isObject(block)) throw unreadable(protocolId, `${path}.content[${index}]`, 'a block')
    return block
  })
  switch (message.role) {
    case 'assistant':
      return [readReply(blocks, model, registry)]
    case 'user':
      return readUser(blocks, registry)
    case 'system':
      return [{ role: 'system', parts: textsIn(blocks) }]
    default:
      throw unreadable(protocolId, `${path}.role`, 'user, assistant or system')
  }
}

function textsIn(blocks: Json | undefined): TextPart[] {
  return listIn(blocks).flatMap((block) =>
    isObject(block) && typeof block.text === 'string' ? [{ type: 'text' as const, text: block.text }] : [],
  )
}

function readUser(blocks: readonly JsonObject[], registry: CallRegistry): Message[] {
  const results = blocks.flatMap((block) => {
    const result = inside(block, 'toolResult')
    return result ? [readResult(result, registry)] : []
  })
  const parts: UserMessage['parts'] = blocks.filter((block) => block.toolResult === undefined).map(readUserBlock)
  const messages: Message[] = []
  if (results.length > 0) messages.push({ role: 'tool', parts: results })
  if (parts.length > 0 || results.length === 0) messages.push({ role: 'user', parts })
  return messages
}

function readUserBlock(block: JsonObject): UserMessage['parts'][number] {
  if (typeof block.text === 'string') return { type: 'text', text: block.text }
  return readMedia(block) ?? { type: 'opaque', kind: `${protocolId}/${kindOf(block)}`, data: block }
}

function readMedia(block: JsonObject): MediaPart | undefined {
  const kind = kindOf(block)
  const formats = kind === 'image' ? imageFormats : kind === 'document' ? documentFormats : {}
  const value = inside(block, kind)
  const bytes = inside(value, 'source')?.bytes
  const mediaType = Object.entries(formats).find(([, format]) => format === value?.format)?.[0]
  if (typeof bytes !== 'string' || mediaType === undefined) return undefined
  const name = typeof value?.name === 'string' ? { name: value.name } : {}
  return { type: 'media', mediaType, ...name, data: { kind: 'base64', base64: bytes } }
}

function readResult(result: JsonObject, registry: CallRegistry): ToolResultPart {
  const alias = typeof result.toolUseId === 'string' ? result.toolUseId : undefined
  const { callId, name } = registry.answer(alias, undefined) ?? { callId: alias ?? 'call', name: 'tool' }
  const output = listIn(result.content).map((piece): TextPart | MediaPart => {
    if (isObject(piece) && typeof piece.text === 'string') return { type: 'text', text: piece.text }
    const media = isObject(piece) ? readMedia(piece) : undefined
    return (
      media ?? { type: 'text', text: JSON.stringify(isObject(piece) && piece.json !== undefined ? piece.json : piece) }
    )
  })
  return { type: 'tool-result', callId, name, output, ...(result.status === 'error' && { failed: true }) }
}

/** Read by the decoder, like any other reply. */
function readReply(blocks: readonly JsonObject[], model: string, registry: CallRegistry): Reply {
  registry.turn()
  const names = blocks.flatMap((block) => {
    const use = inside(block, 'toolUse')
    return use && use.type === undefined ? [textIn(use.name)] : []
  })
  const origin: Origin = { protocol: protocolId, provider: 'bedrock', model }
  const body = { output: { message: { role: 'assistant', content: [...blocks] } }, stopReason: 'end_turn' }
  const reply = decodeReply(bedrockConverse, [body], origin, (position, alias) =>
    registry.register(alias, names[position] ?? ''),
  )
  return { ...reply, native: [...blocks], stop: { reason: reply.stop.reason } }
}

function readTool(tool: Json): ToolSpec[] {
  const spec = inside(tool, 'toolSpec')
  if (!spec || typeof spec.name !== 'string') return []
  const description = typeof spec.description === 'string' ? { description: spec.description } : {}
  return [{ name: spec.name, ...description, input: inside(inside(spec, 'inputSchema'), 'json') ?? { type: 'object' } }]
}

function write(messages: Message[]): Json {
  return writeBySource(messages, protocolId, (run) => {
    const encoding = encodingFor({ system: [], messages: run, tools: [], cacheAfter: [] }, anywhere, true)
    const merged: { role: string; content: JsonObject[] }[] = []
    for (const message of run) {
      const content = contentOf(message, encoding)
      const role = message.role === 'tool' ? 'user' : message.role
      const last = merged.at(-1)
      const isResults = (blocks: JsonObject[]) => blocks.some((block) => block.toolResult !== undefined)
      if (last && isResults(last.content) && isResults(content)) last.content.push(...content)
      else if (content.length > 0) merged.push({ role, content })
    }
    return merged
  })
}

function contentOf(message: Message, encoding: ReturnType<typeof encodingFor>): JsonObject[] {
  switch (message.role) {
    case 'system':
      return message.parts.map(({ text }) => ({ text }))
    case 'user':
      return userPieces(message, '', encoding)
    case 'tool':
      return encodeResults(message, '', encoding)
    case 'assistant':
      return message.origin.protocol === protocolId && message.native.length > 0
        ? message.native.filter(isObject)
        : encodeReply(message, '', encoding)
  }
}

/** A target that accepts everything. */
const anywhere: Target = {
  provider: '',
  model: '',
  options: {},
  quirks: {},
  capabilities: { ...bedrockConverse.capabilities, cacheMarks: false },
}
