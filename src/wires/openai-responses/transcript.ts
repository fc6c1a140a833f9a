// Items of the Responses wire: a bare list, a request body, a response, or a string. One reply of a model is several
// items there; everything from the assistant between two inputs is read as one Reply.

import type { Note } from '../../core/context.ts'
import { isObject, type Json, type JsonObject } from '../../core/json.ts'
import type {
  MediaPart,
  Message,
  Origin,
  Part,
  Reply,
  TextPart,
  ToolCallPart,
  ToolMessage,
  ToolResultPart,
  UserMessage,
} from '../../core/message.ts'
import { searchName } from '../../core/tool-kinds.ts'
import { imageType, mediaFromUrl } from '../shared/media.ts'
import { openaiResponses } from './index.ts'
import { answeredClientTool, clientResult, nameOfClientTool } from './client-tools.ts'
import { marksOf, readItem } from './read-reply.ts'
import { readTools } from './options.ts'
import {
  asksClient,
  clientItemTypes,
  inputItemTypes,
  objectFields,
  protocolId,
  stringField,
  typeOf,
  type Item,
} from './types.ts'
import { callRegistry, type CallRegistry } from '../shared/call-registry.ts'
import { withSource, unreadable, writeBySource, type Transcript, type TranscriptFormat } from '../shared/transcript.ts'

export const openaiResponsesFormat: TranscriptFormat = {
  id: protocolId,
  recognise,
  read,
  write: (messages) => writeBySource(messages, protocolId, (run) => writeItems(run, messages)).flat(),
}

const glance = 20

function recognise(json: Json): boolean {
  if (Array.isArray(json)) return json.slice(0, glance).some((element) => isObject(element) && isSpecific(element))
  if (!isObject(json) || json.messages !== undefined) return false
  if (typeof json.input === 'string') return true
  if (Array.isArray(json.input)) return json.input.slice(0, glance).every((item) => isObject(item) && isItem(item))
  return json.object === 'response' && Array.isArray(json.output)
}

function isItem(item: Item): boolean {
  return inputItemTypes.includes(typeOf(item)) && !(typeOf(item) === 'message' && typeof item.role !== 'string')
}

/** Chat messages look the same as messages here, until their contents or another item show the difference. */
function isSpecific(item: Item): boolean {
  if (!isItem(item)) return false
  if (item.type !== undefined && item.type !== 'message') return true
  return objectFields(item, 'content').some((part) => /^(input|output)_/.test(stringField(part, 'type') ?? ''))
}

function read(json: Json): Transcript {
  const { items, path, body } = unwrap(json)
  for (const [index, item] of items.entries()) {
    if (!isObject(item)) throw unreadable(protocolId, `${path}[${index}]`, 'an object')
  }
  const list = items.filter(isObject)
  const origin: Origin = { protocol: protocolId, provider: 'openai', model: stringField(body, 'model') ?? '' }
  const messages = readGroups(list.map((item) => ({ item, origin }))).flatMap(({ message, start, end }) =>
    withSource(protocolId, list.slice(start, end), [message]),
  )
  const notes: Note[] = []
  const tools = readTools(body, list, notes)
  const system = stringField(body, 'instructions')
  if (Array.isArray(body.compactions) && body.compactions.length > 0) {
    notes.push({ kind: 'dropped', what: 'compactions', why: 'the whole history is here', at: '$.compactions' })
  }
  return {
    messages,
    ...(system && { system: [{ type: 'text', text: system }] }),
    ...(tools.length > 0 && { tools }),
    notes,
  }
}

function unwrap(json: Json): { items: Json[]; path: string; body: JsonObject } {
  if (Array.isArray(json)) return { items: json, path: '$', body: {} }
  if (typeof json === 'string') return { items: [userItem(json)], path: '$', body: {} }
  if (!isObject(json)) throw unreadable(protocolId, '$', 'a list of items, or an object with "input"')
  const { input, output } = json
  if (typeof input === 'string') return { items: [userItem(input)], path: '$.input', body: json }
  if (Array.isArray(input)) return { items: input, path: '$.input', body: json }
  if (Array.isArray(output)) return { items: output, path: '$.output', body: json }
  throw unreadable(protocolId, '$.input', 'a string or a list of items')
}

function userItem(text: string): Item {
  return { role: 'user', content: text }
}

export interface SourcedItem {
  item: Item
  origin: Origin
  /** What the item represents, if it is not of this wire. */
  message?: Message
}

/** A message, and the items it was made from. */
interface Group {
  message: Message
  start: number
  end: number
}

export function readGroups(items: readonly SourcedItem[]): Group[] {
  const groups: Group[] = []
  const registry = callRegistry()
  const run = new Set(items.flatMap(({ item }) => (isRun(item) ? [item.call_id] : [])))
  const side = ({ item }: SourcedItem) =>
    item.type === 'shell_call_output' && run.has(item.call_id) ? 'assistant' : sideOf(item)
  const isReplied = (sourced: SourcedItem | undefined) =>
    sourced !== undefined && !sourced.message && side(sourced) === 'assistant'
  for (let start = 0; start < items.length;) {
    const first = items[start] as SourcedItem
    let end = start + 1
    if (isReplied(first)) while (isReplied(items[end])) end++
    groups.push({ message: readMessage(items.slice(start, end), first, side(first), registry), start, end })
    start = end
  }
  return groups
}

/** Commands that the provider runs itself, so that their output is part of the reply. */
function isRun(item: Item): boolean {
  return typeOf(item) === 'shell_call' && !asksClient(item)
}

function readMessage(
  items: readonly SourcedItem[],
  first: SourcedItem,
  side: Message['role'],
  registry: CallRegistry,
): Message {
  const { item, origin, message } = first
  if (message) return message
  switch (side) {
    case 'assistant':
      return readReply(
        items.map((entry) => entry.item),
        items.at(-1)?.origin ?? origin,
        registry,
      )
    case 'tool':
      return readOutput(item, origin, registry)
    case 'system':
      return { role: 'system', parts: textsOf(item) }
    case 'user':
      return { role: 'user', parts: userParts(item, origin) }
  }
}

function sideOf(item: Item): Message['role'] {
  const type = typeOf(item)
  if (type === 'message') {
    if (item.role === 'assistant') return 'assistant'
    return item.role === 'system' || item.role === 'developer' ? 'system' : 'user'
  }
  if (type === 'function_call_output' || type === 'custom_tool_call_output' || answeredClientTool(item)) return 'tool'
  if (type === 'tool_search_output') return item.execution === 'client' ? 'tool' : 'assistant'
  return clientItemTypes.has(type) || type === 'agent_message' ? 'user' : 'assistant'
}

function readReply(native: Item[], origin: Origin, registry: CallRegistry): Reply {
  registry.turn()
  const toolName = (name: string) => name
  const parts = native.flatMap((item, from): Part[] =>
    readItem(item, from, { callId: (alias, name) => registry.register(alias, name, from), toolName }),
  )
  const calls = parts.some((part) => part.type === 'tool-call')
  return { role: 'assistant', parts, native, origin, stop: { reason: calls ? 'tool-calls' : 'done' } }
}

/** One output may answer all children of a `parallel` call; each of them gets its share, or the whole. */
function readOutput(item: Item, origin: Origin, registry: CallRegistry): ToolMessage {
  const kind = answeredClientTool(item)
  const client = kind && clientResult(item)
  // The official type of a `local_shell_call_output` has the id of the call there (checked 2026-11).
  const alias = stringField(item, 'call_id') ?? (kind === 'local-shell' ? stringField(item, 'id') : undefined)
  const loadedTools = typeOf(item) === 'tool_search_output' ? objectFields(item, 'tools') : undefined
  const name = loadedTools ? searchName : kind ? nameOfClientTool(kind) : stringField(item, 'name')
  const output: ToolResultPart['output'] = loadedTools
    ? [{ type: 'text', text: JSON.stringify(loadedTools) }]
    : client
      ? clientOutput(item, client.text, origin)
      : outputParts(item, origin)
  const calls = registry.answerItem(alias, name)
  const answered = calls.length > 0 ? calls : [{ callId: alias ?? 'call', name: name ?? 'unknown' }]
  const results = answered.map((call): ToolResultPart => {
    return {
      type: 'tool-result',
      callId: call.callId,
      name: call.name,
      output,
      ...(loadedTools && { value: loadedTools }),
      ...(client && valueOf(client.value)),
      ...(client?.failed && { failed: true }),
    }
  })
  const shares = results.length > 1 ? wrappedShares(item.output, results.length) : undefined
  return {
    role: 'tool',
    parts: results.map((result, i) => {
      const share = shares?.[i]
      return share === undefined ? result : { ...result, output: [{ type: 'text', text: share }] }
    }),
  }
}

function wrappedShares(output: Json | undefined, count: number): string[] | undefined {
  if (typeof output !== 'string' || !output.startsWith('[')) return undefined
  try {
    const list = JSON.parse(output) as Json
    if (!Array.isArray(list) || list.length !== count) return undefined
    const shares = list.flatMap((output) =>
      isObject(output) ? [stringField(output, 'output') ?? JSON.stringify(output)] : [],
    )
    return shares.length === count ? shares : undefined
  } catch {
    return undefined
  }
}

/** What an image contains is not there twice. */
function valueOf(fields: JsonObject): { value?: JsonObject } {
  const { output, ...rest } = fields
  const value = isObject(output) ? rest : fields
  return Object.keys(value).length > 0 ? { value } : {}
}

function clientOutput(item: Item, text: string, origin: Origin): (TextPart | MediaPart)[] {
  const { output } = item
  if (!isObject(output)) return [{ type: 'text', text }]
  const image = readInput({ ...output, type: 'input_image' }, origin)
  return image.type === 'opaque' ? [{ type: 'text', text: JSON.stringify(output) }] : [image]
}

function outputParts(item: Item, origin: Origin): (TextPart | MediaPart)[] {
  if (typeof item.output === 'string') return [{ type: 'text', text: item.output }]
  if (!Array.isArray(item.output)) return [{ type: 'text', text: JSON.stringify(item.output ?? '') }]
  return objectFields(item, 'output').map((part) => {
    const read = readInput(part, origin)
    return read.type === 'opaque' ? { type: 'text', text: JSON.stringify(part) } : read
  })
}

function userParts(item: Item, origin: Origin): UserMessage['parts'] {
  const fromAgent = typeOf(item) === 'agent_message' ? agentParts(item, origin) : undefined
  if (fromAgent) return fromAgent
  if (typeOf(item) !== 'message') return [{ type: 'opaque', kind: `${protocolId}/${typeOf(item)}`, data: item }]
  if (typeof item.content === 'string') return [{ type: 'text', text: item.content }]
  return objectFields(item, 'content').map((part) => readInput(part, origin))
}

/**
 * What another agent of Codex says: the task of a sub-agent, and its answer. Undefined: only OpenAI can read it. A model
 * of another provider encrypts nothing, so that Codex sends its plain text as `encrypted_content` (checked 2026-11).
 */
function agentParts(item: Item, origin: Origin): UserMessage['parts'] | undefined {
  const parts: UserMessage['parts'] = []
  for (const part of objectFields(item, 'content')) {
    const text = stringField(part, 'encrypted_content')
    if (text !== undefined && encrypted.test(text)) return undefined
    parts.push(text === undefined ? readInput(part, origin) : { type: 'text', text })
  }
  return parts.length > 0 ? parts : undefined
}

const encrypted = /^[\w+/=-]{40,}$/

function readInput(part: JsonObject, origin: Origin): TextPart | MediaPart | Extract<Part, { type: 'opaque' }> {
  const type = stringField(part, 'type') ?? ''
  const fileId = stringField(part, 'file_id')
  const name = stringField(part, 'filename')
  const url = stringField(part, 'image_url') ?? stringField(part, 'file_data') ?? stringField(part, 'file_url')
  const isImage = type === 'input_image'
  if (/^(input_text|output_text|text)$/.test(type)) return { type: 'text', text: stringField(part, 'text') ?? '' }
  if (isImage || type === 'input_file') {
    const fallback = isImage ? imageType(url ?? '', 'image/png') : typeByName(name ?? url ?? '')
    const named = name === undefined ? {} : { name }
    if (url !== undefined) return { ...mediaFromUrl(url, fallback), ...named }
    if (fileId !== undefined) {
      return { type: 'media', mediaType: fallback, ...named, data: { kind: 'file', fileId, provider: origin.provider } }
    }
  }
  return { type: 'opaque', kind: `${protocolId}/${type || 'content'}`, data: part }
}

const typesByName: readonly [RegExp, string][] = [
  [/\.txt$/i, 'text/plain'],
  [/\.md$/i, 'text/markdown'],
  [/\.csv$/i, 'text/csv'],
  [/\.json$/i, 'application/json'],
]

function typeByName(name: string): string {
  return typesByName.find(([pattern]) => pattern.test(name))?.[1] ?? 'application/pdf'
}

function textsOf(item: Item): TextPart[] {
  if (typeof item.content === 'string') return [{ type: 'text', text: item.content }]
  return objectFields(item, 'content').map((part) => ({ type: 'text', text: stringField(part, 'text') ?? '' }))
}

const anyMedia = ['image/*', 'application/*', 'text/*', 'audio/*', 'video/*']

/** Items for messages from other formats. A native reply is written unchanged: repair is for requests. */
export function writeItems(run: readonly Message[], all: readonly Message[]): Item[] {
  const items: Item[] = []
  let index = all.indexOf(run[0] as Message)
  const end = index + run.length
  while (index < end) {
    const message = all[index] as Message
    if (isNative(message)) {
      items.push(...message.native.filter(isObject))
      index++
      continue
    }
    let stop = index + 1
    while (stop < end && !isNative(all[stop] as Message)) stop++
    items.push(...encodeItems(all.slice(0, stop), index))
    index = stop
  }
  return items
}

function isNative(message: Message): message is Reply {
  if (message.role !== 'assistant' || message.origin.protocol !== protocolId || message.native.length === 0)
    return false
  return message.parts.every((part) => part.type !== 'tool-call' || hasOwnForm(part, message.native))
}

/** A host without a form for a kind of tool made a function call in its place. */
function hasOwnForm({ from, kind, namespace }: ToolCallPart, native: readonly Json[]): boolean {
  const item = from === undefined ? undefined : native[from]
  const marks = isObject(item) ? marksOf(item) : {}
  return marks.kind === kind && marks.namespace === namespace
}

/** The items of the messages from `covers` on, with the call ids assigned by the earlier ones. */
function encodeItems(messages: Message[], covers: number): Item[] {
  const { capabilities } = openaiResponses
  const { body } = openaiResponses.encode(
    { system: [], messages, tools: [], cacheAfter: [], state: { kind: 'response-chain', id: '', covers } },
    {
      provider: 'openai',
      model: '',
      options: {},
      quirks: {},
      capabilities: { ...capabilities, media: anyMedia, resultMedia: anyMedia, toolKinds: true },
    },
  )
  return objectFields(body, 'input')
}
