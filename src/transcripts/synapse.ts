// Synapse's own export: JSON lines, first a manifest (`{"synapse":1}`), then one message per line exactly as in memory,
// including the `source` of another format: an imported conversation can still be written in its original format.

import { toolKinds, type Grammar, type ToolSpec } from '../core/context.ts'
import { isObject, type Json, type JsonObject } from '../core/json.ts'
import type { Message, TextPart } from '../core/message.ts'
import { unreadable, type Transcript, type TranscriptFormat } from '../wires/shared/transcript.ts'
import { objectIn } from '../wires/shared/json-fields.ts'

const formatId = 'synapse'
const version = 1

export const synapseFormat: TranscriptFormat = { id: formatId, recognise, read, write }

function recognise(json: Json): boolean {
  const manifest = Array.isArray(json) ? json[0] : json
  return isObject(manifest) && typeof manifest.synapse === 'number'
}

function read(json: Json): Transcript {
  const [manifest, ...lines] = Array.isArray(json) ? json : [json]
  if (!isObject(manifest) || manifest.synapse === undefined) {
    throw unreadable(formatId, '$[0]', 'the manifest, {"synapse":1}')
  }
  if (manifest.synapse !== version)
    throw unreadable(formatId, '$[0].synapse', `${version}, the version that is known here`)
  const system = Array.isArray(manifest.system) ? manifest.system.map(textPart) : undefined
  const tools = Array.isArray(manifest.tools) ? manifest.tools.map(toolSpec) : undefined
  return {
    messages: lines.map((line, index) => message(line, `$[${index + 1}]`)),
    ...(system && { system }),
    ...(tools && { tools }),
    notes: [],
  }
}

function textPart(part: Json, index: number): TextPart {
  if (isObject(part) && part.type === 'text' && typeof part.text === 'string') return { type: 'text', text: part.text }
  throw unreadable(formatId, `$[0].system[${index}]`, 'a text part')
}

function toolSpec(tool: Json, index: number): ToolSpec {
  const { name, description, input, kind: given, grammar, namespace, declared } = objectIn(tool)
  if (typeof name !== 'string' || !isObject(input)) throw unreadable(formatId, `$[0].tools[${index}]`, 'a tool')
  const kind = toolKinds.find((one) => one === given)
  return {
    name,
    ...(typeof description === 'string' && { description }),
    input,
    ...(kind && { kind }),
    ...(isGrammar(grammar) && { grammar }),
    ...(isNamespace(namespace) && { namespace }),
    ...(isObject(declared) && { declared }),
  }
}

function isGrammar(value: Json | undefined): value is Grammar & JsonObject {
  return isObject(value) && typeof value.syntax === 'string' && typeof value.definition === 'string'
}

function isNamespace(value: Json | undefined): value is { name: string } & JsonObject {
  return isObject(value) && typeof value.name === 'string'
}

const roles = new Set(['system', 'user', 'assistant', 'tool'])

/** Validated as far as the rest of the program needs: once stored, it is part of every request. */
function message(line: Json, path: string): Message {
  if (!isObject(line)) throw unreadable(formatId, path, 'a message')
  if (typeof line.role !== 'string' || !roles.has(line.role)) {
    throw unreadable(formatId, `${path}.role`, 'system, user, assistant or tool')
  }
  if (!Array.isArray(line.parts)) throw unreadable(formatId, `${path}.parts`, 'a list')
  for (const [index, part] of line.parts.entries()) checkPart(part, line.role, `${path}.parts[${index}]`)
  if (line.role === 'assistant') checkReply(line, path)
  return line as Message & JsonObject
}

function checkPart(part: Json, role: string, path: string): void {
  if (!isObject(part) || typeof part.type !== 'string') throw unreadable(formatId, path, 'a part with a type')
  checkStrings(part, strings.get(part.type) ?? [], path)
  for (const field of optional) if (part[field] !== undefined) checkStrings(part, [field], path)
  if (part.type === 'tool-call' && part.input === undefined) throw unreadable(formatId, `${path}.input`, 'a value')
  if ((role === 'tool') !== (part.type === 'tool-result')) {
    throw unreadable(formatId, path, role === 'tool' ? 'a tool result' : 'a part that this role can have')
  }
  if (part.type === 'tool-result') checkOutput(part.output, `${path}.output`)
  if (part.type === 'media') checkData(part.data, `${path}.data`)
}

/** The fields of a part that are text, by its type. */
const strings: ReadonlyMap<string, readonly string[]> = new Map([
  ['text', ['text']],
  ['reasoning', ['text']],
  ['refusal', ['text']],
  ['media', ['mediaType']],
  ['tool-call', ['callId', 'name']],
  ['tool-result', ['callId', 'name']],
  ['server-tool', ['name']],
  ['opaque', ['kind']],
])
/** Of any part that has them. */
const optional = ['text', 'alias', 'malformed']

function checkStrings(value: JsonObject, fields: readonly string[], path: string): void {
  for (const field of fields) {
    if (typeof value[field] !== 'string') throw unreadable(formatId, `${path}.${field}`, 'a string')
  }
}

function checkOutput(output: Json | undefined, path: string): void {
  if (!Array.isArray(output)) throw unreadable(formatId, path, 'a list')
  for (const [index, part] of output.entries()) {
    if (!isObject(part) || (part.type !== 'text' && part.type !== 'media')) {
      throw unreadable(formatId, `${path}[${index}]`, 'text or media')
    }
    checkPart(part, '', `${path}[${index}]`)
  }
}

/** The fields of media data that are text, by its kind. */
const dataFields: ReadonlyMap<Json | undefined, readonly string[]> = new Map([
  ['base64', ['base64']],
  ['blob', ['sha256']],
  ['url', ['url']],
  ['file', ['fileId', 'provider']],
])

function checkData(data: Json | undefined, path: string): void {
  const fields = isObject(data) ? dataFields.get(data.kind) : undefined
  if (!isObject(data) || !fields) throw unreadable(formatId, path, `one of ${[...dataFields.keys()].join(', ')}`)
  checkStrings(data, fields, path)
}

function checkReply(line: JsonObject, path: string): void {
  if (!Array.isArray(line.native)) throw unreadable(formatId, `${path}.native`, 'a list')
  const { origin, stop } = line
  const named =
    isObject(origin) && ['protocol', 'provider', 'model'].every((field) => typeof origin[field] === 'string')
  if (!named) throw unreadable(formatId, `${path}.origin`, 'protocol, provider and model')
  if (!isObject(stop) || typeof stop.reason !== 'string') throw unreadable(formatId, `${path}.stop`, 'a reason')
}

function write(messages: Message[]): Json {
  const lines = messages.map((line) => JSON.parse(JSON.stringify(line)) as Json)
  return [{ synapse: version }, ...lines]
}
