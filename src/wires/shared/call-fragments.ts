// Tool calls from their fragments, for every wire that streams them in a list of a message. OpenAI gives every fragment
// an `index` and only the first an `id`; hosts leave the index out, write "null" for an id they do not have, repeat id
// and name in every fragment, split the name, send it last, or reuse index and id for another call. So a fragment is
// matched by index, then by id, then by coming next. Published cases: test/wire/call-fragments.test.ts.

import { isObject, type Json, type JsonObject } from '../../core/json.ts'
import { objectIn } from './json-fields.ts'

export interface GatheredCall {
  /** As received; absent means a function. */
  type?: string
  id?: string
  index?: number
  name: string
  /** Arguments, or the free text of a custom tool. */
  pieces: string[]
  length: number
  /** Arguments that arrived as an object instead of text. */
  object?: JsonObject
  /** Unknown fields of the call and of its `function` or `custom`. */
  rest: Readonly<JsonObject>
  innerRest: Readonly<JsonObject>
}

export interface CallFragments {
  /** Takes a fragment; returns its call and the arguments text it added. */
  push(fragment: JsonObject): { call: GatheredCall; text: string }
  /** All calls so far, except those without a name and arguments. */
  calls(): GatheredCall[]
  /** The last call with this index. */
  at(index: number): GatheredCall | undefined
}

/** The value of an id, a name or a type; hosts write `""`, `null` and `"null"` if they have none. */
export function presentText(value: Json | undefined): string | undefined {
  return typeof value === 'string' && value !== '' && value !== 'null' ? value : undefined
}

/** No name and no arguments: some hosts send such an object with an answer without calls. */
function isEmptyCall({ type, name, length }: GatheredCall): boolean {
  return name === '' && length === 0 && (type === undefined || knownTypes.has(type))
}

/** The type for the one call of the old `function_call` field. */
export const legacyType = 'function_call'

const knownTypes: ReadonlySet<string> = new Set(['function', 'custom', legacyType])

export function callFragments(): CallFragments {
  const calls: GatheredCall[] = []
  const byIndex = new Map<number, GatheredCall>()

  return {
    calls: () => calls.filter((call) => !isEmptyCall(call)),
    at: (index) => byIndex.get(index),
    push(fragment) {
      const read = readFragment(fragment)
      const existing = find(read)
      const call = existing ?? { name: '', pieces: [], length: 0, rest: noFields, innerRest: noFields }
      if (!existing) calls.push(call)
      if (read.index !== undefined) {
        byIndex.set(read.index, call)
        call.index ??= read.index
      }

      const repeated = existing !== undefined && isRepetition(existing, read)
      if (read.type !== undefined) call.type = read.type
      if (call.id === undefined && read.id !== undefined) call.id = read.id
      if (call.name === '') call.name = read.name
      else if (continuesName(call, read)) call.name += read.name
      call.rest = withFields(call.rest, read.rest)
      call.innerRest = withFields(call.innerRest, read.innerRest)
      if (repeated || read.text === '') return { call, text: '' }
      if (read.object && call.length === 0) call.object = read.object
      else delete call.object
      call.pieces.push(read.text)
      call.length += read.text.length
      return { call, text: read.text }
    },
  }

  function find(read: Fragment): GatheredCall | undefined {
    const slot = candidate(read)
    return slot && !beginsAnother(slot, read) ? slot : undefined
  }

  function candidate({ index, id }: Fragment): GatheredCall | undefined {
    if (index !== undefined) return byIndex.get(index)
    return id === undefined ? calls.at(-1) : calls.findLast((call) => call.id === id)
  }
}

/** Shared by all calls without any: a reply may have tens of thousands. */
const noFields: Readonly<JsonObject> = {}

function withFields(fields: Readonly<JsonObject>, more: JsonObject): Readonly<JsonObject> {
  return Object.keys(more).length === 0 ? fields : { ...fields, ...more }
}

interface Fragment {
  index?: number
  id?: string
  type?: string
  name: string
  text: string
  object?: JsonObject
  rest: JsonObject
  innerRest: JsonObject
}

function readFragment(fragment: JsonObject): Fragment {
  const { index, id: rawId, type: rawType, function: fn, custom, ...rest } = fragment
  const inner = isObject(fn) ? fn : objectIn(custom)
  const { name, arguments: rawArguments, input, ...innerRest } = inner
  const id = presentText(rawId)
  const type = presentText(rawType) ?? (isObject(custom) ? 'custom' : undefined)
  const value = rawArguments ?? input
  return {
    ...(typeof index === 'number' && { index }),
    ...(id !== undefined && { id }),
    ...(type !== undefined && { type }),
    name: presentText(name) ?? '',
    text: argumentsText(value),
    ...(isObject(value) && { object: value }),
    rest,
    innerRest,
  }
}

function argumentsText(value: Json | undefined): string {
  if (typeof value === 'string') return value
  return value === undefined || value === null ? '' : JSON.stringify(value)
}

/** A new call has a name; without one a fragment continues, even under an id that changes from chunk to chunk. */
function beginsAnother(slot: GatheredCall, read: Fragment): boolean {
  if (read.name === '' || slot.name === '' || continuesName(slot, read)) return false
  if (read.name !== slot.name) return true
  if (read.id === undefined || slot.id === undefined) return isWholeObject(slot)
  if (read.id !== slot.id) return true
  return read.text.trimStart().startsWith('{') && isWholeObject(slot) && !isRepetition(slot, read)
}

/** Before any arguments and without an id, a second name is the rest of the first. */
function continuesName(slot: GatheredCall, read: Fragment): boolean {
  if (slot.id === undefined || read.id !== undefined || read.type !== undefined) return false
  return slot.length === 0 && read.text === '' && read.name !== '' && read.name !== slot.name
}

/** Some hosts end with the complete call once more. */
function isRepetition(call: GatheredCall, read: Fragment): boolean {
  if (read.name === '' || call.length === 0 || read.text.length !== call.length) return false
  return read.text === call.pieces.join('') && isWholeObject(call)
}

function isWholeObject(call: GatheredCall): boolean {
  const text = call.pieces.join('').trim()
  if (!text.startsWith('{') || !text.endsWith('}')) return false
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
