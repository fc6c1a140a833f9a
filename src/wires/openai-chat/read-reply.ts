// The assistant message, assembled from deltas: the content of `native`. Texts and lists are appended, anything else is
// replaced; unknown fields are kept like the others, because the host may want them back.

import { isObject, parseJson, type Json, type JsonObject } from '../../core/json.ts'
import type { MediaPart, Part, ReasoningPart, RefusalPart, ServerToolPart, TextPart } from '../../core/message.ts'
import { callFragments, type CallFragments, type GatheredCall, legacyType } from '../shared/call-fragments.ts'
import { mediaFromUrl } from '../shared/media.ts'
import { foreignCall, protocolId, textPart } from './types.ts'
import { objectIn } from '../shared/json-fields.ts'

const growing: ReadonlySet<string> = new Set(['content', 'refusal', 'reasoning_content', 'reasoning'])
const callFields: ReadonlySet<string> = new Set(['tool_calls', 'function_call'])

export interface Assembly {
  /** Everything in the delta except its calls, which the reader pushes one by one. */
  add(delta: JsonObject): void
  readonly calls: CallFragments
  /** The message so far, with these calls; fields in the order of first arrival. */
  message(included: readonly GatheredCall[]): JsonObject
  /** A list that has grown so far. */
  list(field: string): readonly Json[]
  /** A field that is neither text nor list. */
  field(name: string): Json | undefined
}

export function createAssembly(): Assembly {
  const texts = new Map<string, string[]>()
  const lists = new Map<string, Json[]>()
  const fields = new Map<string, Json>()
  const order = new Set<string>()
  const calls = callFragments()

  return {
    calls,
    add(delta) {
      for (const name in delta) {
        const value = delta[name]
        if (value === undefined || name === 'role') continue
        const begun = lists.has(name) ? undefined : texts.get(name)
        if (begun && typeof value === 'string') {
          begun.push(value)
          continue
        }
        order.add(name)
        if (callFields.has(name) && value !== null) continue
        if (name === 'content' && typeof value === 'string' && lists.has(name)) addList(name, [textPart(value)])
        else if (typeof value === 'string' && growing.has(name)) textOf(name).push(value)
        else if (Array.isArray(value)) addList(name, value)
        else if (name === 'audio' && isObject(value)) fields.set(name, grownAudio(fields.get(name), value))
        else if (value !== null || !fields.has(name)) fields.set(name, value)
      }
    },
    message(included) {
      const message: JsonObject = { role: 'assistant' }
      for (const name of order) {
        if (callFields.has(name)) continue
        message[name] = lists.get(name) ?? texts.get(name)?.join('') ?? fields.get(name) ?? null
      }
      const legacy = included.find((call) => call.type === legacyType)
      if (order.has('tool_calls')) {
        const listed = included.filter((call) => call !== legacy).map(wireCall)
        message.tool_calls = listed.length === 0 && fields.has('tool_calls') ? null : listed
      }
      if (legacy) {
        message.function_call = { name: legacy.name, arguments: legacy.pieces.join(''), ...legacy.innerRest }
      } else if (order.has('function_call')) {
        message.function_call = null
      }
      return message
    },
    list: (field) => lists.get(field) ?? [],
    field: (name) => fields.get(name),
  }

  function textOf(name: string): string[] {
    const pieces = texts.get(name) ?? []
    texts.set(name, pieces)
    return pieces
  }

  function addList(name: string, value: Json[]): void {
    const begun = name === 'content' ? (texts.get(name) ?? []).join('') : ''
    const list = lists.get(name) ?? (begun === '' ? [] : [textPart(begun)])
    lists.set(name, list)
    if (name === 'reasoning_details') addDetails(list as JsonObject[], value)
    else if (name === 'content') addContent(list, value)
    else addEntries(list, value)
  }
}

/** A call of an unknown type: nothing here can answer it. */
export function isForeign({ type = 'function', name }: GatheredCall): boolean {
  return type !== 'function' && type !== 'custom' && type !== legacyType && name === ''
}

export function foreignCallKind({ type = 'function' }: GatheredCall): string {
  return `${foreignCall}${type}`
}

export function wireCall(call: GatheredCall): JsonObject {
  const text = call.pieces.join('')
  return {
    ...(call.id !== undefined && { id: call.id }),
    type: call.type ?? 'function',
    ...(!isForeign(call) && innerOf(call, text)),
    ...call.rest,
  }
}

function innerOf({ type, name, innerRest }: GatheredCall, text: string): JsonObject {
  return type === 'custom'
    ? { custom: { name, input: text, ...innerRest } }
    : { function: { name, arguments: text, ...innerRest } }
}

/** Text continues the last delta; the entries of one delta stay separate. */
function addContent(list: Json[], delta: readonly Json[]): void {
  const [first, ...rest] = delta
  const last = list.at(-1)
  if (isObject(last) && isObject(first) && typeof last.text === 'string' && typeof first.text === 'string') {
    if (last.type === first.type) {
      list[list.length - 1] = { ...last, ...first, text: last.text + first.text }
      list.push(...rest)
      return
    }
  }
  list.push(...delta)
}

/** Entries with an `index` arrive in several deltas (Groq's executed_tools). */
function addEntries(list: Json[], delta: readonly Json[]): void {
  const length = list.length
  for (const entry of delta) {
    const index =
      isObject(entry) && typeof entry.index === 'number' ? list.findIndex((known) => sameIndex(known, entry)) : -1
    const known = list[index]
    if (index >= 0 && index < length && isObject(known) && isObject(entry)) list[index] = { ...known, ...entry }
    else list.push(entry)
  }
}

function sameIndex(known: Json, entry: JsonObject): boolean {
  return isObject(known) && known.index === entry.index
}

function grownAudio(known: Json | undefined, delta: JsonObject): JsonObject {
  const audio: JsonObject = isObject(known) ? { ...known } : {}
  for (const [field, value] of Object.entries(delta)) {
    const previous = audio[field]
    const grows = (field === 'data' || field === 'transcript') && typeof previous === 'string'
    audio[field] = grows && typeof value === 'string' ? previous + value : value
  }
  return audio
}

/** Pieces of a reply that are not plain strings on this wire: content lists, audio, and server tools. */
export function contentPart(part: Json): Exclude<Part, { type: 'tool-call' | 'tool-result' }> {
  if (typeof part === 'string') return { type: 'text', text: part }
  if (!isObject(part)) return { type: 'opaque', kind: `${protocolId}/content`, data: part, from: 0 }
  return readText(part.type, part) ?? readImage(part.image_url) ?? opaque(part.type, part)
}

function readText(
  type: Json | undefined,
  part: { [key: string]: Json | undefined },
): TextPart | RefusalPart | ReasoningPart | undefined {
  if (typeof part.text === 'string' && (type === 'text' || type === 'output_text' || type === undefined)) {
    return { type: 'text', text: part.text }
  }
  if (type === 'refusal' && typeof part.refusal === 'string') return { type: 'refusal', text: part.refusal }
  if (type === 'thinking') {
    const thoughts = Array.isArray(part.thinking) ? part.thinking : [part.thinking]
    const texts = thoughts.map((thought) => (isObject(thought) ? thought.text : thought))
    return { type: 'reasoning', text: texts.filter((word) => typeof word === 'string').join('') }
  }
  return undefined
}

function readImage(image: Json | undefined): MediaPart | undefined {
  const url = isObject(image) ? image.url : image
  return typeof url === 'string' ? { ...mediaFromUrl(url, 'image/png'), from: 0 } : undefined
}

function opaque(type: Json | undefined, data: Json): Part & { type: 'opaque' } {
  return { type: 'opaque', kind: `${protocolId}/${typeof type === 'string' ? type : 'content'}`, data, from: 0 }
}

/** The wire does not name the audio format: the request did. Its first bytes show it. */
export function audioPart(audio: Json | undefined): MediaPart | undefined {
  if (!isObject(audio) || typeof audio.data !== 'string' || audio.data === '') return undefined
  const base64 = audio.data
  const format = audioHeads.find(([head]) => base64.startsWith(head))
  return { type: 'media', mediaType: format?.[1] ?? 'audio/pcm', data: { kind: 'base64', base64 } }
}

const audioHeads: readonly (readonly [string, string])[] = [
  ['UklGR', 'audio/wav'],
  ['SUQz', 'audio/mpeg'],
  ['//', 'audio/mpeg'],
  ['T2dnUw', 'audio/ogg'],
  ['ZkxhQw', 'audio/flac'],
]

/** A tool that Groq ran: its `type` is the tool's name. */
export function executedTool(entry: Json): ServerToolPart {
  const tool = objectIn(entry)
  const name = typeof tool.type === 'string' ? tool.type : typeof tool.name === 'string' ? tool.name : 'tool'
  return {
    type: 'server-tool',
    name,
    ...(tool.arguments !== undefined && { input: jsonOrText(tool.arguments) }),
    ...(tool.output !== undefined && tool.output !== null && { output: tool.output }),
  }
}

/** A tool that OpenRouter ran is reported among the reasoning. */
export function serverCall(entry: Json): ServerToolPart | undefined {
  if (!isObject(entry) || entry.type !== 'reasoning.server_tool_call') return undefined
  return {
    type: 'server-tool',
    name: typeof entry.tool_name === 'string' ? entry.tool_name : 'tool',
    ...(entry.arguments !== undefined && { input: jsonOrText(entry.arguments) }),
    ...(entry.result !== undefined && entry.result !== null && { output: entry.result }),
  }
}

function jsonOrText(value: Json): Json {
  const parsed = typeof value === 'string' ? parseJson(value) : undefined
  return parsed === undefined ? value : parsed
}

// OpenRouter's `reasoning_details`: a list of entries that is streamed in pieces and must be sent back complete and in
// order. Text and signature of one entry come in separate pieces, matched by type and index.

/** Adds the entries of one delta. Entries of the same delta are never merged: a complete reply arrives in one. */
function addDetails(details: JsonObject[], delta: readonly Json[]): void {
  const count = details.length
  for (const entry of delta) {
    if (!isObject(entry)) continue
    const open = details.slice(0, count).findLast((earlier) => continues(earlier, entry))
    if (open) join(open, entry)
    else details.push({ ...entry })
  }
}

/** The readable text in a delta's entries. */
export function detailsText(delta: readonly Json[]): string {
  let text = ''
  for (const entry of delta) {
    if (!isObject(entry)) continue
    if (typeof entry.text === 'string') text += entry.text
    else if (typeof entry.summary === 'string') text += entry.summary
  }
  return text
}

/**
 * The entries that may be sent back. Ciphertext and signatures are valid only for the model that made them, and
 * Anthropic and Gemini refuse thinking text without its signature even from the same model (checked 2026-11).
 */
export function replayableDetails(details: readonly Json[], sameModel: boolean): JsonObject[] {
  return details.filter(isObject).filter((entry) => {
    const signed = typeof entry.signature === 'string' && entry.signature !== ''
    if (!sameModel && (signed || entry.type === 'reasoning.encrypted')) return false
    const wantsSignature = entry.format === 'anthropic-claude-v1' || entry.format === 'google-gemini-v1'
    return !(wantsSignature && entry.type === 'reasoning.text' && !signed)
  })
}

const streamed: ReadonlySet<Json | undefined> = new Set(['reasoning.text', 'reasoning.summary'])

function continues(earlier: JsonObject, entry: JsonObject): boolean {
  if (earlier.type !== entry.type || earlier.index !== entry.index) return false
  if (streamed.has(entry.type))
    return typeof earlier.id !== 'string' || typeof entry.id !== 'string' || earlier.id === entry.id
  return typeof earlier.id === 'string' && earlier.id === entry.id && earlier.data === entry.data
}

function join(open: JsonObject, entry: JsonObject): void {
  for (const [field, value] of Object.entries(entry)) {
    const existing = open[field]
    const grows = field === 'text' || field === 'summary'
    if (grows && typeof existing === 'string' && typeof value === 'string') open[field] = existing + value
    else if (value !== null || existing === undefined) open[field] = value
  }
}
