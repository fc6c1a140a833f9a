// Tool calls from their fragments. OpenAI gives every fragment an `index` and only the first an `id`; hosts leave the
// index out, repeat id and name in every fragment, send the name last, or begin again at index 0 with another call. So a
// fragment is matched by index, then by id, then by coming next.

import { isObject, type Json, type JsonObject } from '../../core/json.ts'
import { foreignCall } from './types.ts'

export interface GatheredCall {
  /** 'function', or the type of a call that is no function's. */
  type: string
  id?: string
  name: string
  /** Arguments, or the free text that a custom tool takes. */
  pieces: string[]
  length: number
  /** Fields that have no name here, of the call and of its `function` or `custom`. */
  rest: JsonObject
  innerRest: JsonObject
}

/** The type under which the one call of the old `function_call` field is kept among the others. */
export const legacyType = 'function_call'

/** A call that is no function's: a custom tool takes free text, and what else may come is not known here. */
export function isForeign(call: GatheredCall): boolean {
  return call.type === 'custom' || (call.type !== 'function' && call.type !== legacyType && call.name === '')
}

export function foreignCallKind(call: GatheredCall): string {
  return `${foreignCall}${call.type}`
}

export interface CallFragments {
  /** Takes a fragment; says which call it belongs to and what arguments text it brought. */
  push(fragment: JsonObject): { call: GatheredCall; text: string }
  readonly calls: readonly GatheredCall[]
}

export function callFragments(): CallFragments {
  const calls: GatheredCall[] = []
  const byIndex = new Map<number, GatheredCall>()

  return {
    calls,
    push(fragment) {
      const read = readFragment(fragment)
      const found = find(read)
      const call = found ?? { type: 'function', name: '', pieces: [], length: 0, rest: {}, innerRest: {} }
      if (!found) calls.push(call)
      if (read.index !== undefined) byIndex.set(read.index, call)

      const repeated = found !== undefined && isRepetition(found, read)
      if (read.type !== undefined) call.type = read.type
      if (call.id === undefined && read.id !== undefined) call.id = read.id
      if (call.name === '') call.name = read.name
      Object.assign(call.rest, read.rest)
      Object.assign(call.innerRest, read.innerRest)
      if (repeated || read.text === '') return { call, text: '' }
      call.pieces.push(read.text)
      call.length += read.text.length
      return { call, text: read.text }
    },
  }

  function find(read: Fragment): GatheredCall | undefined {
    const last = calls.at(-1)
    if (read.index !== undefined) {
      const slot = byIndex.get(read.index)
      return slot && !beginsAnother(slot, read) ? slot : undefined
    }
    if (read.id !== undefined) return calls.findLast((call) => call.id === read.id)
    return last && !beginsAnother(last, read) ? last : undefined
  }
}

interface Fragment {
  index?: number
  id?: string
  type?: string
  name: string
  text: string
  rest: JsonObject
  innerRest: JsonObject
}

function readFragment(fragment: JsonObject): Fragment {
  const { index, id, type, function: fn, custom, ...rest } = fragment
  const inner = isObject(fn) ? fn : isObject(custom) ? custom : {}
  const { name, arguments: text, input, ...innerRest } = inner
  const kind = typeof type === 'string' && type !== '' ? type : isObject(custom) ? 'custom' : undefined
  return {
    ...(typeof index === 'number' && { index }),
    ...(typeof id === 'string' && id !== '' && { id }),
    ...(kind !== undefined && { type: kind }),
    name: typeof name === 'string' ? name : '',
    text: argumentsText(text ?? input),
    rest,
    innerRest,
  }
}

function argumentsText(value: Json | undefined): string {
  if (typeof value === 'string') return value
  return value === undefined || value === null ? '' : JSON.stringify(value)
}

/** A call that begins has a name; without one a fragment continues, even under an id that changes from chunk to chunk. */
function beginsAnother(slot: GatheredCall, read: Fragment): boolean {
  if (read.name === '' || slot.name === '') return false
  if (read.id !== undefined && slot.id !== undefined) return read.id !== slot.id
  if (read.name !== slot.name) return true
  const text = slot.pieces.join('')
  return text.trimEnd().endsWith('}') && isJson(text)
}

/** Some hosts close with the whole call once more. */
function isRepetition(call: GatheredCall, read: Fragment): boolean {
  if (read.name === '' || call.length === 0 || read.text.length !== call.length) return false
  return read.text === call.pieces.join('') && isJson(read.text)
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
