// An item of a reply, read as parts. Used for streams and for transcripts. One item can be several parts (the contents
// of a message, the children of a `parallel` call), and every item is at least one: an unknown one is opaque.
// Ciphertext, ids and phases stay in `native`.

import { isObject, type Json, type JsonObject } from '../../core/json.ts'
import type { Part, ReasoningPart, ServerToolPart, ToolCallPart } from '../../core/message.ts'
import { namespacedName, searchName } from '../../core/tool-kinds.ts'
import { readArguments } from '../shared/decoding.ts'
import { calledClientTool, inputOfClientTool, nameOfClientTool } from './client-tools.ts'
import { asksClient, type Item, objectFields, protocolId, stringField, typeOf } from './types.ts'

interface ItemReader {
  /** Our id for the next call. */
  callId(alias: string | undefined, name: string): string
  /** Our name of the tool. */
  toolName(wireName: string): string
}

export function readItem(item: Item, from: number | undefined, reader: ItemReader): Part[] {
  const parts = partsOf(item, reader)
  return from === undefined ? parts : parts.map((part) => ({ ...part, from }))
}

function partsOf(item: Item, reader: ItemReader): Part[] {
  const type = typeOf(item)
  switch (type) {
    case 'message':
      return readContents(item)
    case 'reasoning':
      return [readReasoning(item)]
    case 'function_call':
      return readFunctionCall(item, reader)
    case 'custom_tool_call':
      if (!asksClient(item))
        return [serverTool(stringField(item, 'name') ?? type, parseArguments(item.input), undefined)]
      return [readCustomCall(item, reader)]
    case 'tool_search_call':
      return asksClient(item) ? [readSearch(item, reader)] : [opaque(type, item)]
    case 'compaction':
      return [{ type: 'compaction' }]
    case 'image_generation_call':
      return readImage(item)
    default: {
      const kind = calledClientTool(item)
      if (kind) return [readUnnamed(item, nameOfClientTool(kind), inputOfClientTool(kind, item), reader)]
      return [readServerTool(type, item) ?? opaque(type, item)]
    }
  }
}

function opaque(type: string, item: Item): Part {
  return { type: 'opaque', kind: `${protocolId}/${type || 'item'}`, data: item }
}

/** The name of the tool that an item calls, with its namespace. */
export function calledName(item: Item): string {
  const name = stringField(item, 'name') ?? ''
  const namespace = stringField(item, 'namespace')
  return namespace ? namespacedName(namespace, name) : name
}

/** The fields of a call item about its tool, besides the name. */
export function marksOf(item: Item): Pick<ToolCallPart, 'kind' | 'namespace'> {
  const namespace = stringField(item, 'namespace')
  const kind = calledClientTool(item)
  return {
    ...(kind && { kind }),
    ...(typeOf(item) === 'custom_tool_call' && { kind: 'free-form' }),
    ...(typeOf(item) === 'tool_search_call' && { kind: 'search' }),
    ...(namespace && { namespace }),
  }
}

function readContents(item: Item): Part[] {
  const content = item.content
  if (typeof content === 'string') return [{ type: 'text', text: content }]
  return objectFields(item, 'content').map(readContent)
}

function readContent(content: JsonObject): Part {
  const type = stringField(content, 'type') ?? ''
  if (type === 'output_text' || type === 'text' || type === 'input_text') {
    const annotations = content.annotations
    return {
      type: 'text',
      text: stringField(content, 'text') ?? '',
      ...(Array.isArray(annotations) && annotations.length > 0 && { citations: annotations }),
    }
  }
  if (type === 'refusal') return { type: 'refusal', text: stringField(content, 'refusal') ?? '' }
  return { type: 'opaque', kind: `${protocolId}/${type || 'content'}`, data: content }
}

/** Open models show their reasoning in `content`; the others provide a summary at most. */
function readReasoning(item: Item): ReasoningPart {
  const text = objectFields(item, 'content')
  if (text.length > 0) return { type: 'reasoning', text: text.map((word) => stringField(word, 'text') ?? '').join('') }
  const summary = objectFields(item, 'summary').map((part) => stringField(part, 'text') ?? '')
  return { type: 'reasoning', text: summary.join('\n\n'), hidden: true }
}

function readFunctionCall(item: Item, reader: ItemReader): ToolCallPart[] {
  const alias = stringField(item, 'call_id') || undefined
  const name = calledName(item)
  const read = readArguments(stringField(item, 'arguments') ?? '')
  const children = unwrap(name, read.input)
  const calls = children ?? [{ name, ...read }]
  return calls.map((call) => ({
    type: 'tool-call',
    callId: reader.callId(alias, call.name),
    ...(alias && { alias }),
    ...call,
    name: reader.toolName(call.name),
    ...marksOf(item),
  }))
}

/** A custom tool takes raw text. As an input it is one field, so that any other wire can carry the call. */
function readCustomCall(item: Item, reader: ItemReader): ToolCallPart {
  const alias = stringField(item, 'call_id') || undefined
  const name = calledName(item)
  return {
    type: 'tool-call',
    callId: reader.callId(alias, name),
    ...(alias && { alias }),
    name: reader.toolName(name),
    input: { input: stringField(item, 'input') ?? '' },
    ...marksOf(item),
  }
}

/** A tool search by the client: a call like any other, whose name the wire omits. */
function readSearch(item: Item, reader: ItemReader): ToolCallPart {
  const input = isObject(item.arguments) ? item.arguments : (parseArguments(item.arguments) ?? {})
  return readUnnamed(item, searchName, input, reader)
}

/** A call of a tool that has no name on this wire. */
function readUnnamed(item: Item, name: string, input: Json, reader: ItemReader): ToolCallPart {
  const alias = stringField(item, 'call_id') || undefined
  return {
    type: 'tool-call',
    callId: reader.callId(alias, name),
    ...(alias && { alias }),
    name: reader.toolName(name),
    input,
    ...marksOf(item),
  }
}

function readImage(item: Item): Part[] {
  const prompt = stringField(item, 'revised_prompt')
  const tool = serverTool('image_generation', prompt === undefined ? undefined : { prompt }, undefined)
  const result = stringField(item, 'result')
  if (!result) return [tool]
  const mediaType = `image/${stringField(item, 'output_format') ?? 'png'}`
  return [tool, { type: 'media', mediaType, data: { kind: 'base64', base64: result } }]
}

function readServerTool(type: string, item: Item): ServerToolPart | undefined {
  switch (type) {
    case 'web_search_call':
      return serverTool('web_search', item.action ?? parseArguments(item.arguments), undefined)
    case 'file_search_call':
      return serverTool('file_search', { queries: item.queries ?? [] }, item.results)
    case 'code_interpreter_call':
      return serverTool(
        'code_interpreter',
        item.arguments === undefined ? { code: item.code ?? '' } : parseArguments(item.arguments),
        item.outputs,
      )
    case 'mcp_call':
      return serverTool(stringField(item, 'name') ?? type, parseArguments(item.arguments), item.output ?? item.error)
    case 'mcp_list_tools':
      return serverTool(type, { server_label: item.server_label ?? '' }, item.tools ?? item.error)
    case 'tool_search_call':
      return asksClient(item) ? undefined : serverTool('tool_search', item.arguments, undefined)
    case 'tool_search_output':
      return item.execution === 'client' ? undefined : serverTool('tool_search', undefined, item.tools)
    case 'x_search_call':
    case 'code_execution_call':
    case 'view_image_call':
    case 'view_x_video_call':
      return serverTool(stringField(item, 'name') ?? type, parseArguments(item.arguments ?? item.action), item.output)
    default:
      return undefined
  }
}

function serverTool(name: string, input: Json | undefined, output: Json | undefined): ServerToolPart {
  return {
    type: 'server-tool',
    name,
    ...(input !== undefined && input !== null && { input }),
    ...(output !== undefined && output !== null && { output }),
  }
}

/** Arguments as JSON text; other text is kept unchanged. */
function parseArguments(value: Json | undefined): Json | undefined {
  if (typeof value !== 'string') return value
  const read = readArguments(value)
  return read.malformed === undefined && isObject(read.input) ? read.input : value
}

// The hidden `parallel` call. Models sometimes wrap several calls into one call of an undeclared tool (R22): we run the
// children, and the server expects one output, for the wrapper's `call_id`.

interface Child {
  name: string
  input: JsonObject
}

const names: ReadonlySet<string> = new Set(['parallel', 'multi_tool_use.parallel'])
const recipientPrefix = 'functions.'

export function isWrapperName(name: string | undefined): boolean {
  return name !== undefined && names.has(name)
}

/** The calls inside, or undefined if this is an ordinary call: any deviation from the wrapper's form is enough. */
function unwrap(name: string, input: Json): Child[] | undefined {
  if (!isWrapperName(name) || !isObject(input)) return undefined
  const uses = input.tool_uses
  if (!Array.isArray(uses) || uses.length === 0) return undefined
  const children: Child[] = []
  for (const use of uses) {
    if (!isObject(use)) return undefined
    const recipient = use.recipient_name
    const parameters = use.parameters
    if (typeof recipient !== 'string' || !recipient.startsWith(recipientPrefix) || !isObject(parameters)) {
      return undefined
    }
    const child = recipient.slice(recipientPrefix.length)
    if (child === '') return undefined
    children.push({ name: child, input: parameters })
  }
  return children
}

/** The one output that answers the wrapper: the children's results in order, each under its recipient's name. */
export function wrappedOutput(results: readonly { name: string; text: string }[]): string {
  return JSON.stringify(
    results.map(({ name, text }) => ({ recipient_name: `${recipientPrefix}${name}`, output: text })),
  )
}
