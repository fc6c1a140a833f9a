// The order that chat wires insist on. An encoder writes one Turn per message, with items in its own wire's form; here
// what came out empty is left away, neighbours are joined, and what the wire misses at either end is added.

import type { Note } from '../core/context.ts'
import { bridgeText, continueText, openingText } from './words.ts'

export interface Turn<Item> {
  role: 'system' | 'user' | 'assistant' | 'tool'
  items: Item[]
  /** How notes name the message. */
  at: string
}

export interface Manners<Item> {
  /** Writes a text of ours as an item of a user or assistant turn. */
  text(text: string): Item
  /** Roles whose neighbouring turns become one. */
  join: readonly Turn<Item>['role'][]
  /** Roles that one wire role carries together: `tool` as part of `user`. */
  toolIsUser?: boolean
  startWithUser?: boolean
  /** The last turn must be the user's (or a tool's); the rule that says so. */
  endWithUser?: string
  /** An assistant turn must stand between a tool's and a user's. */
  bridgeAfterTool?: boolean
}

export function settle<Item>(turns: readonly Turn<Item>[], manners: Manners<Item>, notes: Note[]): Turn<Item>[] {
  const settled: Turn<Item>[] = []
  for (const turn of turns) {
    if (turn.items.length === 0) {
      notes.push({ kind: 'dropped', what: `${turn.role} message`, why: 'nothing in it can be sent', at: turn.at })
      continue
    }
    const last = settled.at(-1)
    if (last && sameRole(last.role, turn.role, manners)) {
      last.items.push(...turn.items)
      if (turn.role === 'user') last.role = 'user'
    } else {
      if (manners.bridgeAfterTool && last?.role === 'tool' && turn.role === 'user') {
        settled.push(added('assistant', bridgeText, 'a user message may not follow a tool result directly'))
      }
      settled.push({ ...turn, items: [...turn.items] })
    }
  }

  const first = settled.findIndex((turn) => turn.role !== 'system')
  if (manners.startWithUser && first >= 0 && settled[first]?.role === 'assistant') {
    settled.splice(first, 0, added('user', openingText, 'the wire wants a user message first'))
  }
  const role = settled.at(-1)?.role
  if (manners.endWithUser && (role === 'assistant' || role === undefined || role === 'system')) {
    settled.push(added('user', continueText, 'the wire wants a user message last', manners.endWithUser))
  }
  return settled

  function added(role: 'user' | 'assistant', text: string, why: string, rule?: string): Turn<Item> {
    notes.push({ kind: 'added', what: `${role} message ${JSON.stringify(text)}`, why, ...(rule && { rule }) })
    return { role, items: [manners.text(text)], at: '' }
  }
}

function sameRole<Item>(a: Turn<Item>['role'], b: Turn<Item>['role'], manners: Manners<Item>): boolean {
  if (a === b) return manners.join.includes(a)
  return manners.toolIsUser === true && (a === 'user' || a === 'tool') && (b === 'user' || b === 'tool')
}
