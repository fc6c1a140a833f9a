// A reply as steps: in its own words where this provider wrote it on this wire, thoughts and their signatures with
// them; else built from our reading, without the thoughts that were made elsewhere.

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
import {
  contentKind,
  hasSignature,
  isStep,
  mediaKind,
  protocolId,
  textContent,
  type Content,
  type Step,
} from './types.ts'
import { isReplayable } from '../shared/replayable.ts'

/** What is the same for every message of a request. */
export interface Writing {
  target: Target
  names: NameMap
  notes: Note[]
  wireId(callId: string): string
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
  const wireId = wireIds(context.messages, idGrammar, (reply) => isReplayable(reply, protocolId, target))
  const asked = new Map<string, string>()
  for (const message of context.messages) {
    if (message.role !== 'assistant') continue
    for (const part of message.parts) if (part.type === 'tool-call') asked.set(part.callId, part.name)
  }
  const asks = { wireId, nameOf: (callId: string) => asked.get(callId), toWire: names.toWire }
  const { lookups, cached } = encodeCache(context, target, `${protocolId} ${keepThoughts}`, asks, notes)
  return {
    target,
    names: { ...names, toWire: lookups.toWire },
    notes,
    wireId: lookups.wireId,
    resultName: ({ callId, name }) => lookups.toWire(lookups.nameOf(callId) ?? name),
    keepThoughts,
    cached,
  }
}

export function encodeReply(reply: Reply, at: string, write: Writing): Step[] {
  const steps = isReplayable(reply, protocolId, write.target) ? replay(reply, at, write) : build(reply, at, write)
  const clean = cleanJson(steps, at, write.notes)
  return write.target.capabilities.signedCalls ? signed(clean, at, write) : clean
}

function replay(reply: Reply, at: string, write: Writing): Step[] {
  const steps = reply.native.filter(isObject)
  for (const part of reply.parts) {
    if (part.type !== 'tool-call' || part.from === undefined) continue
    const step = steps[part.from]
    if (isStep(step, 'function_call')) steps[part.from] = patched(step, part, at, write)
  }
  return steps
}

/** The call as it came, unless its id is taken, its tool is called otherwise, or its arguments are no object. */
function patched(step: Step, part: ToolCallPart, at: string, write: Writing): Step {
  const id = write.wireId(part.callId)
  const name = write.names.toWire(part.name)
  const change = (what: string, why: string) => write.notes.push({ kind: 'changed', what, why, at })
  const patch: JsonObject = {}
  if (id !== step.id) {
    patch.id = id
    change(`the id of a call of ${part.name}`, 'it came without one, or another call of this request has the same')
  }
  if (name !== step.name) {
    patch.name = name
    change(`the name in a call of ${part.name}`, 'the tool is declared under another name')
  }
  if (part.malformed !== undefined) {
    patch.arguments = malformedInput(cleanText(part.malformed, at, write.notes))
    change(`the arguments of a call of ${part.name}`, 'they are no JSON object')
  }
  return Object.keys(patch).length > 0 ? { ...step, ...patch } : step
}

/**
 * The signature of a call is on the thought before it, so a call that was not signed gets a thought that is nothing but
 * a stand-in. All steps are signed, not only those of the current turn, so that they stay the same when the next begins.
 */
function signed(steps: Step[], at: string, { notes }: Writing): Step[] {
  const first = steps.findIndex((step) => step.type === 'function_call')
  const call = steps[first]
  if (!call || hasSignature(call)) return steps
  if (steps.slice(0, first).some((step) => step.type === 'thought' && hasSignature(step))) return steps
  const why = 'the model wants its calls signed, and none was made for this one'
  notes.push({ kind: 'added', what: 'stand-in thought signature', why, at, rule: 'G-6' })
  return steps.toSpliced(first, 0, { type: 'thought', signature: skipSignature })
}

function build(reply: Reply, at: string, write: Writing): Step[] {
  if (!write.keepThoughts && reply.parts.some((part) => part.type === 'reasoning')) {
    write.notes.push({ kind: 'dropped', what: 'reasoning', why: 'it was made elsewhere', at })
  }
  const steps: Step[] = []
  let said: Content[] = []
  const speak = () => {
    if (said.length > 0) steps.push({ type: 'model_output', content: said })
    said = []
  }
  for (const part of reply.parts) {
    const step = ownStep(part, at, write)
    if (step) {
      speak()
      steps.push(step)
    } else {
      said.push(...contentOf(part, at, write))
    }
  }
  speak()
  return steps
}

function ownStep(part: Part, at: string, write: Writing): Step | undefined {
  if (part.type === 'tool-call') return builtCall(part, at, write)
  if (part.type === 'opaque' && part.kind.startsWith(`${protocolId}/`) && !part.kind.startsWith(contentKind)) {
    return isObject(part.data) ? part.data : undefined
  }
  if (part.type === 'reasoning' && write.keepThoughts) return { type: 'thought', summary: [textContent(part.text)] }
  return undefined
}

function contentOf(part: Part, at: string, write: Writing): Content[] {
  const { notes } = write
  switch (part.type) {
    case 'text':
      return textContents(part.text, at, write)
    case 'refusal':
      notes.push({ kind: 'changed', what: 'refusal to text', why: 'the wire has no refusals', at })
      return textContents(part.text, at, write)
    case 'media':
      return [mediaContent(part, at, write)]
    case 'server-tool':
      return serverTool(part, at, write)
    case 'compaction':
      return summaryContent(part, at, write)
    case 'opaque':
      return opaqueContent(part, at, write)
    case 'tool-result':
      notes.push({ kind: 'dropped', what: 'tool result inside a reply', why: 'a model gives no results', at })
      return []
    default:
      return []
  }
}

function builtCall(part: ToolCallPart, at: string, write: Writing): Step {
  let input: Json = cleanJson(part.input, at, write.notes)
  if (part.malformed !== undefined || !isObject(input)) {
    input = malformedInput(cleanText(part.malformed ?? JSON.stringify(input), at, write.notes))
    const what = `the arguments of a call of ${part.name}`
    write.notes.push({ kind: 'changed', what, why: 'they are no JSON object', at })
  }
  const name = write.names.toWire(part.name)
  return { type: 'function_call', id: write.wireId(part.callId), name, arguments: input }
}

function serverTool(part: ServerToolPart, at: string, write: Writing): Content[] {
  if (part.output === undefined) {
    const what = `call of ${part.name}`
    write.notes.push({ kind: 'dropped', what, why: 'its provider ran it elsewhere and gave no result', at })
    return []
  }
  const what = `call of ${part.name} to text`
  write.notes.push({ kind: 'changed', what, why: 'its provider ran it elsewhere', at })
  const result = flatResult(flatResultLabel, part.name, JSON.stringify(part.output), false)
  return textContents(`${flatCall(part.name, part.input ?? {})}\n${result}`, at, write)
}

export function textContents(text: string, at: string, { notes }: Writing): Content[] {
  return text === '' ? [] : [textContent(cleanText(text, at, notes))]
}

export function summaryContent(part: CompactionPart, at: string, write: Writing): Content[] {
  if (part.text !== undefined) return textContents(`${summaryLabel}\n${part.text}`, at, write)
  write.notes.push({ kind: 'dropped', what: 'summary without words', why: 'only its own provider can read it', at })
  return []
}

/** Media, or a line of text that represents what cannot be sent. */
export function mediaContent(part: MediaPart, at: string, { target, notes }: Writing): Content {
  const written = takesMedia(target.capabilities.media, part.mediaType) ? mediaData(part, target) : undefined
  if (written) return written
  const why = part.data.kind === 'file' ? 'the file is kept by another provider' : 'the model does not take it'
  notes.push({ kind: 'changed', what: `${part.mediaType} to a line of text`, why, at })
  return textContent(mediaStandIn(part.mediaType, part.name))
}

function mediaData(part: MediaPart, target: Target): Content | undefined {
  const type = mediaKind(part.mediaType)
  const data = part.data.kind === 'url' ? mediaFromUrl(part.data.url, part.mediaType).data : part.data
  if (type === undefined) return undefined
  switch (data.kind) {
    case 'base64':
      return { type, mime_type: part.mediaType, data: data.base64 }
    case 'url':
      return target.capabilities.mediaUrls ? { type, mime_type: part.mediaType, uri: data.url } : undefined
    case 'file':
      return data.provider === target.provider ? { type, mime_type: part.mediaType, uri: data.fileId } : undefined
    default:
      return undefined
  }
}

export function opaqueContent(part: OpaquePart, at: string, { notes }: Writing): Content[] {
  if (part.kind.startsWith(contentKind) && isObject(part.data)) return [part.data]
  notes.push({ kind: 'dropped', what: part.kind, why: 'the wire has no word for it', at })
  return []
}
