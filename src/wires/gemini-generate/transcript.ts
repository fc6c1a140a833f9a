// Gemini contents, bare or inside a request body.
//
// Older models give calls no ids, so a response is matched to its call by id, otherwise by name and order.

import type { Note, ToolSpec } from '../../core/context.ts'
import { isObject, type Json, type JsonObject } from '../../core/json.ts'
import type {
  MediaPart,
  Message,
  Origin,
  Reply,
  TextPart,
  ToolMessage,
  ToolResultPart,
  UserMessage,
} from '../../core/message.ts'
import { encodeContents, encodingFor } from './encode-messages.ts'
import { geminiGenerate } from './index.ts'
import { dataKeys, field, jsonSchema, snake } from './types.ts'
import { fileAt, inRuns, writeItems } from '../google/transcript.ts'
import { addCall, type Calls } from '../shared/call-registry.ts'
import { decodeReply, withSource, type Transcript, type TranscriptFormat, unreadable } from '../shared/transcript.ts'
import { objectIn, textIn, valuesIn } from '../shared/json-fields.ts'

const { id } = geminiGenerate
const provider = 'google'

export const geminiGenerateFormat: TranscriptFormat = { id, recognise, read, write }

function recognise(json: Json): boolean {
  const contents = isObject(json) ? json.contents : json
  if (!Array.isArray(contents)) return false
  return contents.length > 0 && contents.slice(0, 3).every(looksLikeContent)
}

function looksLikeContent(value: Json): boolean {
  if (!isObject(value) || value.content !== undefined || value.parts === undefined) return false
  const { role } = value
  if (role !== undefined && role !== 'user' && role !== 'model' && role !== 'function') return false
  return valuesIn(value.parts).every((part) => isObject(part) && part.type === undefined)
}

function read(json: Json): Transcript {
  const notes: Note[] = []
  if (Array.isArray(json))
    return {
      messages: readContents(
        json.map((content) => ({ content })),
        '$',
      ),
      notes,
    }
  const body = isObject(json) && isObject(json.generateContentRequest) ? json.generateContentRequest : json
  if (!isObject(body) || body.contents === undefined)
    throw unreadable(id, '$', 'a list of contents, or an object with one')
  const system = textsIn(field(body, 'systemInstruction'))
  const tools = toolsIn(body, notes)
  return {
    messages: readContents(
      valuesIn(body.contents).map((content) => ({ content })),
      '$.contents',
    ),
    ...(system.length > 0 && { system }),
    ...(tools.length > 0 && { tools }),
    notes,
  }
}

/** One content, and its model if that differs from the request's. */
export interface GivenContent {
  content: Json
  model?: string
}

export function readContents(entries: readonly GivenContent[], path: string): Message[] {
  const calls = openCalls()
  return entries.flatMap(({ content, model = '' }, index): Message[] => {
    const contentPath = `${path}[${index}]`
    if (!isObject(content)) throw unreadable(id, contentPath, 'a content: an object with a role and parts')
    const parts = valuesIn(content.parts).map((part, position): JsonObject => {
      if (!isObject(part)) throw unreadable(id, `${contentPath}.parts[${position}]`, 'an object')
      return camelPart(part)
    })
    const texts = parts.flatMap((part): TextPart[] =>
      typeof part.text === 'string' ? [{ type: 'text', text: part.text }] : [],
    )
    if (content.role === 'system') return withSource(id, content, [{ role: 'system', parts: texts }])
    if (content.role === 'model') return withSource(id, content, [readReply(parts, model, calls)])
    return withSource<UserMessage | ToolMessage>(id, content, readUser(parts, calls))
  })
}

interface OpenCall {
  callId: string
  answered: boolean
}

interface OpenCalls {
  /** Our id for a call: its own if it is new in the conversation. */
  newId(alias: string | undefined): string
  add(reply: Reply): void
  /** The call that a response answers. */
  answer(alias: string | undefined, name: string): string
}

function openCalls(): OpenCalls {
  const used = new Set<string>()
  const byAlias = new Map<string, Calls<OpenCall>>()
  const byName = new Map<string, Calls<OpenCall>>()
  const withoutAlias = new Map<string, Calls<OpenCall>>()
  let n = 0
  const newId = (alias: string | undefined): string => {
    let callId = alias ?? `call-${n++}`
    while (used.has(callId)) callId = `call-${n++}`
    used.add(callId)
    return callId
  }
  return {
    newId,
    add(reply) {
      for (const part of reply.parts) {
        if (part.type !== 'tool-call') continue
        const { callId, alias, name } = part
        const call: OpenCall = { callId, answered: false }
        addCall(byName, name, call)
        if (alias === undefined) addCall(withoutAlias, name, call)
        else addCall(byAlias, alias, call)
      }
    },
    answer(alias, name) {
      const named = (alias === undefined ? byName : withoutAlias).get(name)
      const call = (alias === undefined ? undefined : byAlias.get(alias)?.firstOpen()) ?? named?.firstOpen()
      if (call) call.answered = true
      return call?.callId ?? newId(alias)
    },
  }
}

function readReply(parts: JsonObject[], model: string, calls: OpenCalls): Reply {
  const origin: Origin = { protocol: id, provider, model }
  const chunk = { candidates: [{ content: { role: 'model', parts }, finishReason: 'STOP' }] }
  const reply = decodeReply(geminiGenerate, [chunk], origin, (_, alias) => calls.newId(alias))
  calls.add(reply)
  return { ...reply, stop: { reason: reply.stop.reason } }
}

function readUser(parts: readonly JsonObject[], calls: OpenCalls): (UserMessage | ToolMessage)[] {
  return inRuns(
    parts.map((part) =>
      isObject(part.functionResponse) ? readResult(part.functionResponse, calls) : readUserPart(part),
    ),
  )
}

function readUserPart(part: JsonObject): UserMessage['parts'][number] {
  if (typeof part.text === 'string') return { type: 'text', text: part.text }
  const media = readMedia(part)
  if (media) return media
  const key = dataKeys.find((name) => part[name] !== undefined) ?? Object.keys(part)[0] ?? 'empty'
  return { type: 'opaque', kind: `${id}/${key}`, data: part }
}

function readMedia({ inlineData, fileData }: JsonObject): MediaPart | undefined {
  const data = isObject(inlineData) ? inlineData : objectIn(fileData)
  const mediaType = typeof data.mimeType === 'string' ? data.mimeType : 'application/octet-stream'
  const name = typeof data.displayName === 'string' ? { name: data.displayName } : {}
  if (typeof data.data === 'string') {
    return { type: 'media', mediaType, ...name, data: { kind: 'base64', base64: data.data } }
  }
  const uri = data.fileUri
  if (typeof uri !== 'string') return undefined
  return { type: 'media', mediaType, ...name, data: fileAt(uri) }
}

function readResult({ id: alias, name, response, parts }: JsonObject, calls: OpenCalls): ToolResultPart {
  const toolName = textIn(name)
  const fields = objectIn(response)
  const failed = fields.error !== undefined && fields.output === undefined
  const output = fields.output ?? fields.error
  const plain = typeof output === 'string' && Object.keys(fields).length === 1
  const text = plain ? output : Object.keys(fields).length === 0 ? '' : JSON.stringify(output ?? fields)
  const media = valuesIn(parts).flatMap((part) => (isObject(part) ? (readMedia(camelPart(part)) ?? []) : []))
  return {
    type: 'tool-result',
    callId: calls.answer(typeof alias === 'string' && alias !== '' ? alias : undefined, toolName),
    name: toolName,
    output: [...(text === '' ? [] : [{ type: 'text' as const, text }]), ...media],
    ...(!plain && response !== undefined && { value: response }),
    ...(failed && { failed }),
  }
}

function textsIn(instruction: Json | undefined): TextPart[] {
  if (typeof instruction === 'string') return [{ type: 'text', text: instruction }]
  const parts = isObject(instruction) ? valuesIn(instruction.parts) : valuesIn(instruction)
  return parts.flatMap((part): TextPart[] =>
    isObject(part) && typeof part.text === 'string' ? [{ type: 'text', text: part.text }] : [],
  )
}

function toolsIn(body: JsonObject, notes: Note[]): ToolSpec[] {
  return valuesIn(body.tools).flatMap((tool, index): ToolSpec[] => {
    if (!isObject(tool)) return []
    for (const kind of Object.keys(tool)) {
      if (kind === 'functionDeclarations' || kind === 'function_declarations') continue
      notes.push({ kind: 'dropped', what: `tool ${kind}`, why: 'the provider runs it itself', at: `$.tools[${index}]` })
    }
    return valuesIn(field(tool, 'functionDeclarations')).flatMap((declared): ToolSpec[] => {
      if (!isObject(declared) || typeof declared.name !== 'string') return []
      const schema = field(declared, 'parametersJsonSchema') ?? jsonSchema(declared.parameters ?? null)
      return [
        {
          name: declared.name,
          ...(typeof declared.description === 'string' && { description: declared.description }),
          input: isObject(schema) ? schema : { type: 'object', properties: {} },
        },
      ]
    })
  })
}

/** The API also accepts snake_case; here it is camelCase. Arguments and responses are not changed. */
function camelPart(part: JsonObject): JsonObject {
  const entries = Object.entries(part).map(([key, value]): [string, Json | undefined] => {
    const name = camel(key)
    const shell = isObject(value) && name !== 'functionCall' && name !== 'functionResponse' && name !== 'partMetadata'
    return [name, shell ? Object.fromEntries(Object.entries(value).map(([k, v]) => [camel(k), v])) : value]
  })
  return Object.fromEntries(entries)
}

const snakes = new Map(
  [
    ...dataKeys,
    'thoughtSignature',
    'videoMetadata',
    'mediaResolution',
    'partMetadata',
    'mimeType',
    'fileUri',
    'displayName',
    'toolType',
  ].map((name) => [snake(name), name]),
)

function camel(key: string): string {
  return snakes.get(key) ?? key
}

function write(messages: Message[]): Json {
  return writeItems(messages, geminiGenerate, encodingFor, (context, pen) => encodeContents(context, pen, 'bare'))
}
