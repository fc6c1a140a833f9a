// The order that chat wires require. An encoder writes one Turn per message, with items in its own wire's form; here
// empty ones are dropped, adjacent ones are merged, and missing ones at either end are added. An unchanged turn stays
// the same object, and so does what is made from it: see body-bytes.ts.

import type { Note } from '../../core/context.ts'
import type { JsonObject } from '../../core/json.ts'
import { sharedLength } from '../../core/lists.ts'
import {
  addElement,
  cachedElement,
  firstElements,
  fromPlace,
  listOf,
  noElements,
  type CachedElement,
  type Elements,
} from './body-bytes.ts'
import { bridgeText, continueText, openingText } from './injected-text.ts'

export interface Turn<Item> {
  role: 'system' | 'user' | 'assistant' | 'tool'
  items: Item[]
  /** The message's name in notes. */
  at: string
  /** The positions of the messages that it came from. */
  from: readonly string[]
  /** Its encoded form, once written. */
  pieces: readonly CachedElement[] | undefined
  /** The result of merging it with the turns after it. */
  joint: { of: readonly Turn<Item>[]; turn: Turn<Item> } | undefined
  /** The turn that had to be inserted before it. */
  opening: Turn<Item> | undefined
  /** The same turn with a cache mark; none if it cannot have one. */
  marked: { ttl: string; turn: Turn<Item> | undefined } | undefined
}

export function turnOf<Item>(
  role: Turn<Item>['role'],
  items: Item[],
  at: string,
  from: readonly string[] = fromPlace(at),
): Turn<Item> {
  return { role, items, at, from, pieces: undefined, joint: undefined, opening: undefined, marked: undefined }
}

export interface TurnRules<Item> {
  /** Writes our own text as an item of a user or assistant turn. */
  text(text: string): Item
  /** Roles whose adjacent turns are merged. */
  join: readonly Turn<Item>['role'][]
  /** Roles that one wire role carries together: `tool` as part of `user`. */
  toolIsUser?: boolean
  startWithUser?: boolean
  /** The last turn must be the user's (or a tool's); the number of the rule. */
  endWithUser?: string
  /** There must be a turn; the number of the rule. */
  neverEmpty?: string
  /** An assistant turn must be between a tool's and a user's. */
  bridgeAfterTool?: boolean
}

export function normaliseTurns<Item>(
  turns: readonly Turn<Item>[],
  turnRules: TurnRules<Item>,
  notes: Note[],
): Turn<Item>[] {
  const { ordered, noted } = orderedTurns(turns, turnRules)
  for (const { note } of noted) notes.push(note)
  const settled = [...ordered]
  const first = settled.findIndex((turn) => turn.role !== 'system')
  const opens = settled[first]
  if (turnRules.startWithUser && opens?.role === 'assistant') {
    const { turn, note } = addedBefore(opens, 'user', openingText, 'the wire requires a user message first', turnRules)
    settled.splice(first, 0, turn)
    notes.push(note)
  }
  const last = settled.at(-1)?.role
  const ending =
    turnRules.endWithUser && (last === 'assistant' || last === undefined || last === 'system')
      ? addedTurn('user', continueText, 'the wire requires a user message last', turnRules, turnRules.endWithUser)
      : turnRules.neverEmpty && last === undefined
        ? addedTurn('user', continueText, 'the wire requires something to answer', turnRules, turnRules.neverEmpty)
        : undefined
  if (ending) {
    settled.push(ending.turn)
    notes.push(ending.note)
  }
  return settled
}

/** Turns without empty ones, merged and bridged, and how that was done. */
interface Ordered<Item> {
  turns: readonly Turn<Item>[]
  rules: string
  ordered: Turn<Item>[]
  /** How many turns of the result come before each turn; -1 for one that was dropped or merged with the one before. */
  before: number[]
  noted: { index: number; note: Note }[]
}

/** The last result, by its first turn: the next list of the same conversation nearly always begins with the same turns. */
const lastOrdered = new WeakMap<Turn<unknown>, Ordered<unknown>>()

function orderedTurns<Item>(turns: readonly Turn<Item>[], turnRules: TurnRules<Item>): Ordered<Item> {
  const [head] = turns
  const rules = `${turnRules.join.join()} ${turnRules.toolIsUser} ${turnRules.bridgeAfterTool}`
  const known = head && (lastOrdered.get(head) as Ordered<Item> | undefined)
  const result = known?.rules === rules ? beginningOf(known, turns) : { ordered: [], before: [], noted: [] }
  const { ordered, before, noted } = result
  let joining: Turn<Item>[] = []
  let role = ordered.at(-1)?.role
  for (let index = before.length; index < turns.length; index++) {
    const turn = turns[index] as Turn<Item>
    if (turn.items.length === 0) {
      const what = `${turn.role} message`
      noted.push({ index, note: { kind: 'dropped', what, why: 'nothing in it can be sent', at: turn.at } })
      before.push(-1)
      continue
    }
    if (role && sameRole(role, turn.role, turnRules)) {
      joining.push(turn)
      before.push(-1)
      if (turn.role === 'user') role = 'user'
      continue
    }
    if (joining.length > 1) ordered[ordered.length - 1] = jointOf(joining)
    before.push(ordered.length)
    if (turnRules.bridgeAfterTool && role === 'tool' && turn.role === 'user') {
      const why = 'a user message may not follow a tool result directly'
      const bridge = addedBefore(turn, 'assistant', bridgeText, why, turnRules)
      ordered.push(bridge.turn)
      noted.push({ index, note: bridge.note })
    }
    ordered.push(turn)
    joining = [turn]
    role = turn.role
  }
  if (joining.length > 1) ordered[ordered.length - 1] = jointOf(joining)
  const all = { turns, rules, ...result }
  if (head) lastOrdered.set(head, all)
  return all
}

/** What an earlier result has of these turns, up to the last turn that they share: what follows may be merged with it. */
function beginningOf<Item>(
  known: Ordered<Item>,
  turns: readonly Turn<Item>[],
): Pick<Ordered<Item>, 'ordered' | 'before' | 'noted'> {
  let end = sharedLength(known.turns, turns) - 1
  while (end > 0 && known.before[end] === -1) end--
  return {
    ordered: known.ordered.slice(0, Math.max(0, known.before[end] ?? 0)),
    before: known.before.slice(0, Math.max(0, end)),
    noted: known.noted.filter(({ index }) => index < end),
  }
}

interface Addition<Item> {
  turn: Turn<Item>
  note: Note
}

function addedBefore<Item>(
  turn: Turn<Item>,
  role: 'user' | 'assistant',
  text: string,
  why: string,
  turnRules: TurnRules<Item>,
): Addition<Item> {
  const addition = addedTurn(role, text, why, turnRules)
  return { ...addition, turn: (turn.opening ??= addition.turn) }
}

function addedTurn<Item>(
  role: 'user' | 'assistant',
  text: string,
  why: string,
  turnRules: TurnRules<Item>,
  rule?: string,
): Addition<Item> {
  const note: Note = { kind: 'added', what: `${role} message ${JSON.stringify(text)}`, why, ...(rule && { rule }) }
  return { turn: turnOf(role, [turnRules.text(text)], ''), note }
}

/** The elements that turns were written as, and where those of each turn end. */
interface WrittenTurns {
  turns: readonly Turn<never>[]
  ends: number[]
  elements: Elements
}

/** The last result, by its first turn. */
const lastWritten = new WeakMap<object, WrittenTurns>()

/** The turns as the list of a body. */
export function wireList<Item, Value extends JsonObject>(
  turns: readonly Turn<Item>[],
  write: (turn: Turn<Item>) => readonly Value[],
  fromOf: (turn: Turn<Item>) => readonly string[] = (turn) => turn.from,
): Value[] {
  const [head] = turns
  const known = head && lastWritten.get(head)
  const shared = known ? sharedLength(known.turns, turns) : 0
  const ends = known?.ends.slice(0, shared) ?? []
  const elements = known ? firstElements(known.elements, ends.at(-1) ?? 0) : noElements()
  for (let index = shared; index < turns.length; index++) {
    const turn = turns[index] as Turn<Item>
    for (const piece of (turn.pieces ??= written(write(turn), fromOf(turn)))) addElement(elements, piece)
    ends.push(elements.pieces.length)
  }
  if (head) lastWritten.set(head, { turns: turns as readonly Turn<never>[], ends, elements })
  return listOf(elements) as Value[]
}

function written(values: readonly JsonObject[], from: readonly string[]): CachedElement[] {
  const [only] = values
  return only && values.length === 1 ? [cachedElement(only, from)] : values.map((value) => cachedElement(value, from))
}

function jointOf<Item>(turns: readonly Turn<Item>[]): Turn<Item> {
  const [first] = turns as [Turn<Item>]
  const { joint } = first
  if (joint?.of.length === turns.length && joint.of.every((turn, i) => turn === turns[i])) return joint.turn
  const role = turns.some((turn) => turn.role === 'user') ? 'user' : first.role
  const turn = turnOf(
    role,
    turns.flatMap(({ items }) => items),
    first.at,
    turns.flatMap(({ from }) => from),
  )
  first.joint = { of: turns, turn }
  return turn
}

function sameRole<Item>(a: Turn<Item>['role'], b: Turn<Item>['role'], turnRules: TurnRules<Item>): boolean {
  if (a === b) return turnRules.join.includes(a)
  return turnRules.toolIsUser === true && (a === 'user' || a === 'tool') && (b === 'user' || b === 'tool')
}
