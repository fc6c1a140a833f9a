// A view: the messages that will be sent, the position of each in the history, and notes about what differs. Policies
// turn one view into another; none of them changes a message of the log.

import type { Note } from '../core/context.ts'
import type { Message, Part } from '../core/message.ts'
import { pair } from './pair.ts'
import { withoutSurplusCalls } from './surplus-calls.ts'
import { isObject, type Json } from '../core/json.ts'
import { prefixes } from './prefix-memo.ts'

export interface View {
  messages: Message[]
  /** The position of each message in the history; -1 = added. */
  places: number[]
  notes: Note[]
}

/** The whole history, paired first: then every cut between two tool turns leaves a valid history. */
export function wholeView(history: readonly Message[], first = 0): View {
  const notes: Note[] = []
  const paired = pair(withoutDeepInputs(history, first, notes), first)
  return withoutSurplusCalls(notes.length === 0 ? paired : { ...paired, notes: [...notes, ...paired.notes] })
}

/** The messages from one index of a view to another, as a note names them. */
export function placesFrom(view: View, first: number, last: number): string {
  let [start, end] = [first, last]
  while (start < last && positionAt(view, start) === undefined) start++
  while (end > first && positionAt(view, end) === undefined) end--
  const [from, to] = [positionAt(view, start) ?? first, positionAt(view, end) ?? last]
  return from === to ? `messages[${from}]` : `messages[${from}..${to}]`
}

function positionAt({ places }: View, index: number): number | undefined {
  const place = places[index] as number
  return place >= 0 ? place : undefined
}

/** Far more than any tool needs; JSON parsers of providers stop at about 100. */
const maxDepth = 64

const checked = new WeakMap<Message, Message>()
/** Lists without arguments that are nested too deeply. */
const withoutDeep = prefixes<true>()

/**
 * Arguments that are nested so deeply that a parser would fail are sent as text, like arguments that are not a JSON
 * object: one such call would make every later request fail. Changed messages are cached, so that their encoding can be
 * cached. Returns the same list if there are none.
 */
function withoutDeepInputs(history: readonly Message[], first: number, notes: Note[]): readonly Message[] {
  let changed: Message[] | undefined
  for (let index = withoutDeep.longest(history)?.shared ?? 0; index < history.length; index++) {
    const message = history[index]
    if (message?.role !== 'assistant') continue
    const flat = checked.get(message) ?? flattened(message)
    if (flat === message) continue
    changed ??= [...history]
    changed[index] = flat
    const what = `arguments nested deeper than ${maxDepth} levels to text`
    const why = 'JSON parsers refuse them, and with them every later request'
    notes.push({ kind: 'changed', what, why, at: `messages[${first + index}]` })
  }
  if (!changed) withoutDeep.keep(history, true)
  return changed ?? history
}

function flattened(message: Extract<Message, { role: 'assistant' }>): Message {
  const isFine = message.parts.every((part) => part.type !== 'tool-call' || !isDeep(part.input))
  const flat = isFine ? message : { ...message, parts: message.parts.map(flatPart) }
  checked.set(message, flat)
  return flat
}

function flatPart(part: Part): Part {
  if (part.type !== 'tool-call' || !isDeep(part.input)) return part
  return { ...part, input: {}, malformed: part.malformed ?? textOf(part.input) }
}

function textOf(input: Json): string {
  try {
    return JSON.stringify(input)
  } catch {
    return '(nested too deep to be written)'
  }
}

/** Stops at the limit, so that the recursion cannot fail. */
function isDeep(value: Json, depth = 0): boolean {
  if (depth > maxDepth) return true
  if (Array.isArray(value)) return value.some((child) => isDeep(child, depth + 1))
  if (!isObject(value)) return false
  for (const name in value) if (isDeep(value[name] ?? null, depth + 1)) return true
  return false
}
