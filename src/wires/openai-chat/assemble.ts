// The assistant message, assembled from deltas: the content of `native`. Texts and lists are appended, anything else is
// replaced; unknown fields are kept like the others, because the host may want them back.

import { isObject, type Json, type JsonObject } from '../../core/json.ts'
import { callFragments, legacyType, type CallFragments, type GatheredCall } from '../shared/call-fragments.ts'
import { addDetails } from './reasoning-details.ts'
import { foreignCall, textPart } from './types.ts'

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

export function assembling(): Assembly {
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

/** A call that is not a function's: a custom tool takes free text, and other types are unknown. */
export function isForeign({ type = 'function', name }: GatheredCall): boolean {
  return type === 'custom' || (type !== 'function' && type !== legacyType && name === '')
}

export function foreignCallKind({ type = 'function' }: GatheredCall): string {
  return `${foreignCall}${type}`
}

export function wireCall(call: GatheredCall): JsonObject {
  const text = call.pieces.join('')
  return {
    ...(call.id !== undefined && { id: call.id }),
    type: call.type ?? 'function',
    ...(call.type === 'custom' && { custom: { name: call.name, input: text, ...call.innerRest } }),
    ...(!isForeign(call) && { function: { name: call.name, arguments: text, ...call.innerRest } }),
    ...call.rest,
  }
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
  const before = list.length
  for (const entry of delta) {
    const at =
      isObject(entry) && typeof entry.index === 'number' ? list.findIndex((known) => sameIndex(known, entry)) : -1
    const known = list[at]
    if (at >= 0 && at < before && isObject(known) && isObject(entry)) list[at] = { ...known, ...entry }
    else list.push(entry)
  }
}

function sameIndex(known: Json, entry: JsonObject): boolean {
  return isObject(known) && known.index === entry.index
}

function grownAudio(known: Json | undefined, delta: JsonObject): JsonObject {
  const audio: JsonObject = isObject(known) ? { ...known } : {}
  for (const [field, value] of Object.entries(delta)) {
    const before = audio[field]
    const grows = (field === 'data' || field === 'transcript') && typeof before === 'string'
    audio[field] = grows && typeof value === 'string' ? before + value : value
  }
  return audio
}
