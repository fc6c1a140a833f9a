// A reply as the parts of a model content: in its own words where this provider wrote it on this wire, else built
// from our reading. Gemini 3 refuses a step whose first call has no signature, in whichever of the two ways it came.

import type { Context, Note } from '../../core/context.ts'
import type {
  CompactionPart,
  MediaPart,
  OpaquePart,
  Part,
  Reply,
  ServerToolPart,
  ToolCallPart,
  ToolResultPart,
} from '../../core/message.ts'
import { isObject, type Json, type JsonObject } from '../../core/json.ts'
import { cleanJson } from '../shared/clean-json.ts'
import { skipSignature } from '../shared/gemini.ts'
import { wireIds, type IdGrammar } from '../shared/ids.ts'
import { encodeCache, type Cached } from '../shared/encode-cache.ts'
import { mediaFromUrl, takesMedia } from '../shared/media.ts'
import { mapNames, type NameMap } from '../shared/names.ts'
import type { Target } from '../wire.ts'
import { cleanText } from '../shared/text.ts'
import {
  flatCall,
  flatResult,
  flatResultLabel,
  malformedInput,
  mediaStandIn,
  summaryLabel,
} from '../shared/injected-text.ts'
import { aboutTheAnswer, functionCallOf, protocolId, type GeminiPart } from './types.ts'
import { isReplayable } from '../shared/replayable.ts'

/** What is the same for every message of a request. */
export interface Writing {
  target: Target
  names: NameMap
  notes: Note[]
  wireId(callId: string): string
  /** None where the call itself was given none: a response to it is found by its name and place. */
  resultId(callId: string): string | undefined
  /** The name of the call: the newest models compare (G-5). */
  resultName(result: ToolResultPart): string
  /** Whether reasoning that was made elsewhere is written as thoughts: in transcripts, never to a model. */
  keepThoughts: boolean
  cached: Cached
}

/** Ids are free text here; ours look like what the API makes, with a prefix that shows that it did not. */
const idGrammar: IdGrammar = { prefix: 'call_', length: 12, fits: /^[^\0]{1,256}$/ }

export function writing(context: Context, target: Target, keepThoughts = false): Writing {
  const notes: Note[] = []
  const names = mapNames(context, /^[a-zA-Z_][a-zA-Z0-9_.:-]*$/, 128, notes)
  const replayed = (reply: Reply) => isReplayable(reply, protocolId, target)
  const wireId = wireIds(context.messages, idGrammar, replayed)
  const asked = new Map<string, { name: string; nameless: boolean }>()
  for (const message of context.messages) {
    if (message.role !== 'assistant') continue
    for (const part of message.parts) {
      if (part.type !== 'tool-call' || asked.has(part.callId)) continue
      asked.set(part.callId, { name: part.name, nameless: part.alias === undefined && replayed(message) })
    }
  }
  const asks = {
    wireId,
    resultId: (callId: string) => (asked.get(callId)?.nameless ? undefined : wireId(callId)),
    nameOf: (callId: string) => asked.get(callId)?.name,
    toWire: names.toWire,
  }
  const { lookups, cached } = encodeCache(context, target, `${protocolId} ${keepThoughts}`, asks, notes)
  return {
    target,
    names: { ...names, toWire: lookups.toWire },
    notes,
    wireId: lookups.wireId,
    resultId: lookups.resultId,
    resultName: ({ callId, name }) => lookups.toWire(lookups.nameOf(callId) ?? name),
    keepThoughts,
    cached,
  }
}

export function encodeReply(reply: Reply, at: string, write: Writing): GeminiPart[] {
  const parts = isReplayable(reply, protocolId, write.target) ? replay(reply, at, write) : build(reply, at, write)
  const clean = cleanJson(parts, at, write.notes)
  return write.target.capabilities.signedCalls ? signed(clean, at, write) : clean
}

function replay(reply: Reply, at: string, write: Writing): GeminiPart[] {
  const parts = reply.native.filter(isObject)
  for (const part of reply.parts) {
    if (part.type !== 'tool-call' || part.from === undefined) continue
    const call = functionCallOf(parts[part.from])
    if (call) parts[part.from] = { ...parts[part.from], functionCall: patched(call, part, at, write) }
  }
  return parts
}

/** The call as it came, unless its id is taken, its tool is called otherwise, or its arguments are no object. */
function patched(call: JsonObject, part: ToolCallPart, at: string, write: Writing): JsonObject {
  const id = part.alias === undefined ? undefined : write.wireId(part.callId)
  const name = write.names.toWire(part.name)
  const change = (what: string, why: string) => write.notes.push({ kind: 'changed', what, why, at })
  const patch: JsonObject = {}
  if (id !== undefined && id !== call.id) {
    patch.id = id
    change(`the id of a call of ${part.name}`, 'another call of this request has the same')
  }
  if (name !== call.name) {
    patch.name = name
    change(`the name in a call of ${part.name}`, 'the tool is declared under another name')
  }
  if (part.malformed !== undefined) {
    patch.args = malformedInput(cleanText(part.malformed, at, write.notes))
    change(`the arguments of a call of ${part.name}`, 'they are no JSON object')
  }
  return Object.keys(patch).length > 0 ? { ...call, ...patch } : call
}

/** G-6 looks at the current turn only; all steps are signed, so that they stay the same when the next turn begins. */
function signed(parts: GeminiPart[], at: string, { notes }: Writing): GeminiPart[] {
  const first = parts.findIndex((part) => functionCallOf(part) !== undefined)
  const call = parts[first]
  if (!call || (typeof call.thoughtSignature === 'string' && call.thoughtSignature !== '')) return parts
  const why = 'the model wants a signature on the first call of a step, and none was made for this one'
  notes.push({ kind: 'added', what: 'stand-in thought signature', why, at, rule: 'G-6' })
  return parts.with(first, { ...call, thoughtSignature: skipSignature })
}

function build(reply: Reply, at: string, write: Writing): GeminiPart[] {
  if (!write.keepThoughts && reply.parts.some((part) => part.type === 'reasoning')) {
    write.notes.push({ kind: 'dropped', what: 'reasoning', why: 'it was made elsewhere', at })
  }
  return reply.parts.flatMap((part) => builtPart(part, at, write))
}

function builtPart(part: Part, at: string, write: Writing): GeminiPart[] {
  const { notes } = write
  switch (part.type) {
    case 'text':
      return textPart(part.text, at, write)
    case 'reasoning':
      return write.keepThoughts && part.text !== '' ? [{ text: part.text, thought: true }] : []
    case 'refusal':
      notes.push({ kind: 'changed', what: 'refusal to text', why: 'the wire has no refusals', at })
      return textPart(part.text, at, write)
    case 'media':
      return [mediaPart(part, at, write)]
    case 'tool-call':
      return [builtCall(part, at, write)]
    case 'server-tool':
      return serverTool(part, at, write)
    case 'compaction':
      return summaryPart(part, at, write)
    case 'opaque':
      return opaquePart(part, at, write)
    default:
      notes.push({ kind: 'dropped', what: 'tool result inside a reply', why: 'a model gives no results', at })
      return []
  }
}

function builtCall(part: ToolCallPart, at: string, write: Writing): GeminiPart {
  let args: Json = cleanJson(part.input, at, write.notes)
  if (part.malformed !== undefined || !isObject(args)) {
    args = malformedInput(cleanText(part.malformed ?? JSON.stringify(args), at, write.notes))
    const what = `the arguments of a call of ${part.name}`
    write.notes.push({ kind: 'changed', what, why: 'they are no JSON object', at })
  }
  return { functionCall: { id: write.wireId(part.callId), name: write.names.toWire(part.name), args } }
}

function serverTool(part: ServerToolPart, at: string, write: Writing): GeminiPart[] {
  if (part.output === undefined) {
    const what = `call of ${part.name}`
    write.notes.push({ kind: 'dropped', what, why: 'its provider ran it elsewhere and gave no result', at })
    return []
  }
  const what = `call of ${part.name} to text`
  write.notes.push({ kind: 'changed', what, why: 'its provider ran it elsewhere', at })
  const result = flatResult(flatResultLabel, part.name, JSON.stringify(part.output), false)
  return textPart(`${flatCall(part.name, part.input ?? {})}\n${result}`, at, write)
}

/** Empty text is no data to this wire (G-9); blanks are. */
export function textPart(text: string, at: string, { notes }: Writing): GeminiPart[] {
  return text === '' ? [] : [{ text: cleanText(text, at, notes) }]
}

export function summaryPart(part: CompactionPart, at: string, write: Writing): GeminiPart[] {
  if (part.text !== undefined) return textPart(`${summaryLabel}\n${part.text}`, at, write)
  write.notes.push({ kind: 'dropped', what: 'summary without words', why: 'only its own provider can read it', at })
  return []
}

/** Media, or a line of text that represents what cannot be sent. */
export function mediaPart(part: MediaPart, at: string, { target, notes }: Writing): GeminiPart {
  const written = takesMedia(target.capabilities.media, part.mediaType) ? mediaData(part, target) : undefined
  if (written) return written
  const why = part.data.kind === 'file' ? 'the file is kept by another provider' : 'the model does not take it'
  notes.push({ kind: 'changed', what: `${part.mediaType} to a line of text`, why, at })
  return { text: mediaStandIn(part.mediaType, part.name) }
}

function mediaData(part: MediaPart, target: Target): GeminiPart | undefined {
  const data = part.data.kind === 'url' ? mediaFromUrl(part.data.url, part.mediaType).data : part.data
  const mimeType = part.mediaType
  switch (data.kind) {
    case 'base64':
      return { inlineData: { mimeType, data: data.base64 } }
    case 'url':
      return target.capabilities.mediaUrls ? { fileData: { mimeType, fileUri: data.url } } : undefined
    case 'file':
      return data.provider === target.provider ? { fileData: { mimeType, fileUri: data.fileId } } : undefined
    default:
      return undefined
  }
}

export function opaquePart(part: OpaquePart, at: string, { notes }: Writing): GeminiPart[] {
  const [protocol, kind = ''] = part.kind.split('/')
  if (protocol === protocolId && isObject(part.data) && !aboutTheAnswer.includes(kind)) return [part.data]
  notes.push({ kind: 'dropped', what: part.kind, why: 'the wire has no word for it', at })
  return []
}
