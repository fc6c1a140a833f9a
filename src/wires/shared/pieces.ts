// What wires with messages as lists of parts, Gemini's and Converse, encode in the same way: text, media, summaries,
// calls and results, each in the form of its wire.

import type { Context, Note } from '../../core/context.ts'
import { isObject, type Json, type JsonObject } from '../../core/json.ts'
import type {
  CompactionPart,
  MediaPart,
  Message,
  OpaquePart,
  Part,
  Reply,
  ServerToolPart,
  SystemMessage,
  ToolCallPart,
  ToolResultPart,
  UserMessage,
} from '../../core/message.ts'
import { cleanJson } from './clean-json.ts'
import { ByCall, continuedState } from './continued.ts'
import { encodeCache, type Cached } from './encode-cache.ts'
import { requestIds, type IdGrammar } from './ids.ts'
import { malformedInput, mediaStandIn, summaryLabel, systemLabel } from './injected-text.ts'
import { mediaFromUrl, acceptsMedia } from './media.ts'
import { mapNames, type NameMap } from './names.ts'
import { isReplayable } from './replayable.ts'
import { serverToolText } from './server-tool-text.ts'
import { cleanText, isBlank } from './text.ts'
import type { Target } from '../wire.ts'

/** The form of a message's parts on one of the wires. A part with `text` is text, any other is not. */
export interface Form {
  id: string
  text(text: string): JsonObject
  bytes(mediaType: string, base64: string): JsonObject | undefined
  /** By its URL, at Google or elsewhere. */
  file(mediaType: string, uri: string): JsonObject | undefined
  /** What only this wire has; undefined if it is from another, or cannot be sent. */
  own(part: OpaquePart): JsonObject | undefined
  /** Valid ids of calls and names of tools on the wire. */
  ids(target: Target): IdGrammar
  names: { pattern: RegExp; length: number }
  /** A text of only blanks is refused; the number of the rule. */
  blanks?: string
  /** The rule that keeps system messages out of the history. */
  midSystem: string
}

/** What is the same for every message of a request. */
export interface Encoding {
  form: Form
  target: Target
  names: NameMap
  notes: Note[]
  wireId(callId: string): string
  /** The call is sent back unchanged, without an id. */
  isIdless(callId: string): boolean
  /** The name of the call: the newest models compare (G-5). */
  resultName(result: ToolResultPart): string
  /** Whether reasoning of another provider is written as thoughts: in transcripts, never to a model. */
  keepThoughts: boolean
  cached: Cached
}

export function createEncoding(form: Form, context: Context, target: Target, keepThoughts: boolean): Encoding {
  const notes: Note[] = []
  const names = mapNames(context, form.names.pattern, form.names.length, notes)
  const replayed = (reply: Reply) => isReplayable(reply, form.id, target)
  const wireId = requestIds(context, target, form.id, form.ids(target), replayed)
  const calls = callsIn(context, form, target, replayed)
  const asks = {
    wireId,
    isIdless: (callId: string) => calls.get(callId)?.idless === true,
    nameOf: (callId: string) => calls.get(callId)?.name,
    toWire: names.toWire,
  }
  const { lookups, cached } = encodeCache(context, target, `${form.id} ${keepThoughts}`, asks, notes)
  return {
    form,
    target,
    names: { ...names, toWire: lookups.toWire },
    notes,
    wireId: lookups.wireId,
    isIdless: lookups.isIdless,
    resultName: ({ callId, name }) => lookups.toWire(lookups.nameOf(callId) ?? name),
    keepThoughts,
    cached,
  }
}

interface Asked {
  name: string
  /** It is sent back unchanged, without an id. */
  idless: boolean
}

const callsOf = continuedState(() => new ByCall<Asked>())

function callsIn(
  { messages, fromLog }: Context,
  form: Form,
  target: Target,
  replayed: (reply: Reply) => boolean,
): ReadonlyMap<string, Asked> {
  const add = (calls: ByCall<Asked>, message: Message, index: number): void => {
    if (message.role !== 'assistant') return
    for (const part of message.parts) {
      if (part.type !== 'tool-call' || calls.values.has(part.callId)) continue
      const idless = part.alias === undefined && replayed(message)
      calls.add(part.callId, { name: part.name, idless }, index)
    }
  }
  // Which replies are sent back unchanged depends on the wire and the provider.
  if (fromLog) return callsOf(messages, `${form.id} ${target.provider}`, add).values
  const calls = new ByCall<Asked>()
  for (const [index, message] of messages.entries()) add(calls, message, index)
  return calls.values
}

export function isReplayed(reply: Reply, { form, target }: Encoding): boolean {
  return isReplayable(reply, form.id, target)
}

/** The original call, unless its id is taken, its tool is renamed, or its arguments are not an object. */
export function patchCall(
  call: JsonObject,
  part: ToolCallPart,
  wire: { id: string | undefined; arguments: 'args' | 'arguments' },
  at: string,
  { names, notes }: Encoding,
): JsonObject {
  const name = names.toWire(part.name)
  const change = (what: string, why: string) => notes.push({ kind: 'changed', what, why, at })
  const patch: JsonObject = {}
  if (wire.id !== undefined && wire.id !== call.id) {
    patch.id = wire.id
    const why = call.id === undefined ? 'it came without one' : 'another call of this request has the same'
    change(`the id of a call of ${part.name}`, why)
  }
  if (name !== call.name) {
    patch.name = name
    change(`the name in a call of ${part.name}`, 'the tool is declared under another name')
  }
  if (part.malformed !== undefined) {
    patch[wire.arguments] = malformedInput(cleanText(part.malformed, at, notes))
    change(`the arguments of a call of ${part.name}`, 'they are not a JSON object')
  }
  return Object.keys(patch).length > 0 ? { ...call, ...patch } : call
}

export function noteReasoning(reply: Reply, at: string, { keepThoughts, notes }: Encoding): void {
  if (keepThoughts || !reply.parts.some((part) => part.type === 'reasoning')) return
  notes.push({ kind: 'dropped', what: 'reasoning', why: 'it is valid only for the provider that made it', at })
}

/** The parts of a reply; its calls and thoughts are written by each wire itself. */
export function replyPieces(part: Part, at: string, encoding: Encoding): JsonObject[] {
  const { notes } = encoding
  switch (part.type) {
    case 'text':
      return textPieces(part.text, at, encoding)
    case 'refusal':
      notes.push({ kind: 'changed', what: 'refusal to text', why: 'the wire has no refusals', at })
      return textPieces(part.text, at, encoding)
    case 'media':
      return [mediaPiece(part, at, encoding)]
    case 'server-tool':
      return serverToolPieces(part, at, encoding)
    case 'compaction':
      return summaryPieces(part, at, encoding)
    case 'opaque':
      return ownPieces(part, at, encoding)
    case 'tool-result':
      notes.push({ kind: 'dropped', what: 'tool result inside a reply', why: 'a reply has no results', at })
      return []
    default:
      return []
  }
}

/** The arguments of a call, which must be an object. */
export function callInput(part: ToolCallPart, at: string, { notes }: Encoding): Json {
  const input: Json = cleanJson(part.input, at, notes)
  if (part.malformed === undefined && isObject(input)) return input
  const what = `the arguments of a call of ${part.name}`
  notes.push({ kind: 'changed', what, why: 'they are not a JSON object', at })
  return malformedInput(cleanText(part.malformed ?? JSON.stringify(input), at, notes))
}

function serverToolPieces(part: ServerToolPart, at: string, encoding: Encoding): JsonObject[] {
  const text = serverToolText(part)
  if (text === undefined) {
    const what = `call of ${part.name}`
    encoding.notes.push({ kind: 'dropped', what, why: 'it has no input or output', at })
    return []
  }
  const what = `call of ${part.name} to text`
  encoding.notes.push({ kind: 'changed', what, why: 'its provider ran it elsewhere', at })
  return textPieces(text, at, encoding)
}

export function userPieces(message: UserMessage, at: string, encoding: Encoding): JsonObject[] {
  return message.parts.flatMap((part): JsonObject[] => {
    switch (part.type) {
      case 'text':
        return textPieces(part.text, at, encoding)
      case 'media':
        return [mediaPiece(part, at, encoding)]
      case 'compaction':
        return summaryPieces(part, at, encoding)
      default:
        return ownPieces(part, at, encoding)
    }
  })
}

export function systemPieces(message: SystemMessage, at: string, encoding: Encoding): JsonObject[] {
  const text = message.parts.map((part) => part.text).join('\n')
  if (text === '') return []
  const why = 'a system message cannot be inside the history'
  encoding.notes.push({ kind: 'changed', what: 'system message to user text', why, at, rule: encoding.form.midSystem })
  return textPieces(`${systemLabel}\n${text}`, at, encoding)
}

/** These wires refuse empty text; some also refuse blanks. */
export function textPieces(text: string, at: string, { form, notes }: Encoding): JsonObject[] {
  if (text === '') return []
  if (form.blanks === undefined || !isBlank(text)) return [form.text(cleanText(text, at, notes))]
  notes.push({ kind: 'dropped', what: 'blank text', why: 'the wire refuses it', at, rule: form.blanks })
  return []
}

function summaryPieces(part: CompactionPart, at: string, encoding: Encoding): JsonObject[] {
  if (part.text !== undefined) return textPieces(`${summaryLabel}\n${part.text}`, at, encoding)
  encoding.notes.push({ kind: 'dropped', what: 'summary without words', why: 'only its own provider can read it', at })
  return []
}

function ownPieces(part: OpaquePart, at: string, { form, notes }: Encoding): JsonObject[] {
  const piece = form.own(part)
  if (piece) return [piece]
  notes.push({ kind: 'dropped', what: part.kind, why: 'the wire has no field for it', at })
  return []
}

/** Media, or a line of text in place of what cannot be sent. */
function mediaPiece(part: MediaPart, at: string, { form, target, notes }: Encoding): JsonObject {
  const encoded = acceptsMedia(target.capabilities.media, part.mediaType) ? mediaData(part, form, target) : undefined
  if (encoded) return encoded
  const why = part.data.kind === 'file' ? 'the file is stored at another provider' : 'the model does not support it'
  notes.push({ kind: 'changed', what: `${part.mediaType} to a line of text`, why, at })
  return form.text(mediaStandIn(part.mediaType, part.name))
}

function mediaData(part: MediaPart, form: Form, target: Target): JsonObject | undefined {
  const data = part.data.kind === 'url' ? mediaFromUrl(part.data.url, part.mediaType).data : part.data
  switch (data.kind) {
    case 'base64':
      return form.bytes(part.mediaType, data.base64)
    case 'url':
      return target.capabilities.mediaUrls ? form.file(part.mediaType, data.url) : undefined
    case 'file':
      return data.provider === target.provider ? form.file(part.mediaType, data.fileId) : undefined
    default:
      return undefined
  }
}

export interface ResultPieces {
  /** Text and media inside the result, in order. */
  inside: JsonObject[]
  /** Media that it cannot contain, to be shown after the results. */
  after: JsonObject[]
}

export function resultPieces(part: ToolResultPart, at: string, encoding: Encoding): ResultPieces {
  const { form, target, notes } = encoding
  const inside: JsonObject[] = []
  const after: JsonObject[] = []
  for (const output of part.output) {
    if (output.type === 'text') {
      inside.push(...textPieces(output.text, at, encoding))
      continue
    }
    const encoded = mediaPiece(output, at, encoding)
    if (isText(encoded) || acceptsMedia(target.capabilities.resultMedia, output.mediaType)) {
      inside.push(encoded)
      continue
    }
    const name = output.name ? ` ${JSON.stringify(output.name)}` : ''
    inside.push(form.text(`[${output.mediaType}${name}, follows below]`))
    after.push(encoded)
    const what = `${output.mediaType} of a tool result to user content after the results`
    notes.push({ kind: 'changed', what, why: 'a function result cannot contain it', at })
  }
  return { inside, after }
}

export function isText(piece: JsonObject): piece is JsonObject & { text: string } {
  return typeof piece.text === 'string'
}
