// The order that chat wires require. An encoder writes one Turn per message, with items in its own wire's form; here
// empty ones are dropped, adjacent ones are merged, and missing ones at either end are added. An unchanged turn stays
// the same object, and so does what is made from it: see body-bytes.ts.

import type { Note } from '../../core/context.ts'
import type { JsonObject } from '../../core/json.ts'
import { cachedList, cachedElement, fromPlace, type CachedElement } from './body-bytes.ts'
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
}

export function turnOf<Item>(
  role: Turn<Item>['role'],
  items: Item[],
  at: string,
  from: readonly string[] = fromPlace(at),
): Turn<Item> {
  return { role, items, at, from, pieces: undefined, joint: undefined, opening: undefined }
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
  const settled: Turn<Item>[] = []
  let joining: Turn<Item>[] = []
  let role: Turn<Item>['role'] | undefined
  for (const turn of turns) {
    if (turn.items.length === 0) {
      notes.push({ kind: 'dropped', what: `${turn.role} message`, why: 'nothing in it can be sent', at: turn.at })
      continue
    }
    if (role && sameRole(role, turn.role, turnRules)) {
      joining.push(turn)
      if (turn.role === 'user') role = 'user'
      continue
    }
    if (joining.length > 1) settled[settled.length - 1] = jointOf(joining)
    if (turnRules.bridgeAfterTool && role === 'tool' && turn.role === 'user') {
      settled.push(addedBefore(turn, 'assistant', bridgeText, 'a user message may not follow a tool result directly'))
    }
    settled.push(turn)
    joining = [turn]
    role = turn.role
  }
  if (joining.length > 1) settled[settled.length - 1] = jointOf(joining)

  const first = settled.findIndex((turn) => turn.role !== 'system')
  const opens = settled[first]
  if (turnRules.startWithUser && opens?.role === 'assistant') {
    settled.splice(first, 0, addedBefore(opens, 'user', openingText, 'the wire requires a user message first'))
  }
  const last = settled.at(-1)?.role
  if (turnRules.endWithUser && (last === 'assistant' || last === undefined || last === 'system')) {
    settled.push(addedTurn('user', continueText, 'the wire requires a user message last', turnRules.endWithUser))
  } else if (turnRules.neverEmpty && last === undefined) {
    settled.push(addedTurn('user', continueText, 'the wire requires something to answer', turnRules.neverEmpty))
  }
  return settled

  function addedBefore(turn: Turn<Item>, addedRole: 'user' | 'assistant', text: string, why: string): Turn<Item> {
    const addition = addedTurn(addedRole, text, why)
    return (turn.opening ??= addition)
  }

  function addedTurn(addedRole: 'user' | 'assistant', text: string, why: string, rule?: string): Turn<Item> {
    notes.push({ kind: 'added', what: `${addedRole} message ${JSON.stringify(text)}`, why, ...(rule && { rule }) })
    return turnOf(addedRole, [turnRules.text(text)], '')
  }
}

/** The turns as the list of a body. */
export function wireList<Item, Value extends JsonObject>(
  turns: readonly Turn<Item>[],
  write: (turn: Turn<Item>) => readonly Value[],
  fromOf: (turn: Turn<Item>) => readonly string[] = (turn) => turn.from,
): Value[] {
  const pieces: CachedElement[] = []
  for (let index = 0; index < turns.length; index++) {
    const turn = turns[index] as Turn<Item>
    const elementsOfTurn = (turn.pieces ??= elements(write(turn), fromOf(turn)))
    if (elementsOfTurn.length === 1) pieces.push(elementsOfTurn[0] as CachedElement)
    else pieces.push(...elementsOfTurn)
  }
  return cachedList(pieces) as Value[]
}

function elements(values: readonly JsonObject[], from: readonly string[]): CachedElement[] {
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
