// The order that chat wires insist on. An encoder writes one Turn per message, with items in its own wire's form; here
// what came out empty is left away, neighbours are joined, and what the wire misses at either end is added. A turn that
// stays as it was stays the same object, and so does what is made of it: see body-bytes.ts.

import type { Note } from '../../core/context.ts'
import type { JsonObject } from '../../core/json.ts'
import { cachedList, cachedElement, type CachedElement } from './body-bytes.ts'
import { bridgeText, continueText, openingText } from './injected-text.ts'

export interface Turn<Item> {
  role: 'system' | 'user' | 'assistant' | 'tool'
  items: Item[]
  /** How notes name the message. */
  at: string
  /** How it stands on the wire, once it was written. */
  pieces: readonly CachedElement[] | undefined
  /** What became of it together with the turns after it. */
  joint: { of: readonly Turn<Item>[]; turn: Turn<Item> } | undefined
  /** The turn that had to be put before it. */
  opening: Turn<Item> | undefined
}

export function turnOf<Item>(role: Turn<Item>['role'], items: Item[], at: string): Turn<Item> {
  return { role, items, at, pieces: undefined, joint: undefined, opening: undefined }
}

export interface TurnRules<Item> {
  /** Writes a text of ours as an item of a user or assistant turn. */
  text(text: string): Item
  /** Roles whose neighbouring turns become one. */
  join: readonly Turn<Item>['role'][]
  /** Roles that one wire role carries together: `tool` as part of `user`. */
  toolIsUser?: boolean
  startWithUser?: boolean
  /** The last turn must be the user's (or a tool's); the rule that says so. */
  endWithUser?: string
  /** There must be a turn; the rule that says so. */
  neverEmpty?: string
  /** An assistant turn must stand between a tool's and a user's. */
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
    settled.splice(first, 0, addedBefore(opens, 'user', openingText, 'the wire wants a user message first'))
  }
  const last = settled.at(-1)?.role
  if (turnRules.endWithUser && (last === 'assistant' || last === undefined || last === 'system')) {
    settled.push(added('user', continueText, 'the wire wants a user message last', turnRules.endWithUser))
  } else if (turnRules.neverEmpty && last === undefined) {
    settled.push(added('user', continueText, 'the wire wants something to answer', turnRules.neverEmpty))
  }
  return settled

  function addedBefore(turn: Turn<Item>, who: 'user' | 'assistant', text: string, why: string): Turn<Item> {
    const addition = added(who, text, why)
    return (turn.opening ??= addition)
  }

  function added(who: 'user' | 'assistant', text: string, why: string, rule?: string): Turn<Item> {
    notes.push({ kind: 'added', what: `${who} message ${JSON.stringify(text)}`, why, ...(rule && { rule }) })
    return turnOf(who, [turnRules.text(text)], '')
  }
}

/** The turns as the list of a body. */
export function wireList<Item, Value extends JsonObject>(
  turns: readonly Turn<Item>[],
  write: (turn: Turn<Item>) => readonly Value[],
): Value[] {
  const pieces: CachedElement[] = []
  for (const turn of turns) {
    turn.pieces ??= write(turn).map(cachedElement)
    for (const piece of turn.pieces) pieces.push(piece)
  }
  return cachedList(pieces) as Value[]
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
  )
  first.joint = { of: turns, turn }
  return turn
}

function sameRole<Item>(a: Turn<Item>['role'], b: Turn<Item>['role'], turnRules: TurnRules<Item>): boolean {
  if (a === b) return turnRules.join.includes(a)
  return turnRules.toolIsUser === true && (a === 'user' || a === 'tool') && (b === 'user' || b === 'tool')
}
