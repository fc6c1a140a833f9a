// Where the prompt cache is written. At most four marks are allowed, over tools, system and messages together,
// never on thinking or empty text. All marks of a request have one lifetime, because a long one may not follow a
// short one.

import type { Note } from '../../core/context.ts'
import type { JsonObject } from '../../core/json.ts'
import { turnOf, type Turn } from '../shared/turns.ts'
import { isCacheable } from './types.ts'
import type { Item } from './writer.ts'

export interface Marked {
  system: JsonObject[]
  tools: JsonObject[]
  turns: readonly Turn<Item>[]
}

export interface MarksAsked {
  /** As in a Context: after the message with this index; -1 = after tools and system. */
  after: readonly number[]
  ttl: '5m' | '1h' | undefined
  /** How many are left: a mark for the whole request takes one. */
  limit: number
}

export function markCache(given: Marked, asked: MarksAsked, notes: Note[]): Marked {
  const control = { type: 'ephemeral', ...(asked.ttl === '1h' && { ttl: '1h' }) }
  const mark = <B extends JsonObject>(block: B): B => ({ ...block, cache_control: control })
  /** With the index of its turn. */
  const chosen = new Map<Item, number>()
  let head = false
  for (const index of asked.after.toReversed()) {
    if (index < 0) {
      if (given.system.length + given.tools.length > 0) head = true
      continue
    }
    const found = lastUpTo(index, given.turns)
    if (found) chosen.set(found.item, found.turn)
  }

  const room = Math.max(0, asked.limit - (head ? 1 : 0))
  const over = [...chosen.keys()].slice(room)
  for (const item of over) chosen.delete(item)
  if (over.length > 0) {
    const why = 'the wire takes four; the last ones are kept'
    notes.push({ kind: 'dropped', what: `${over.length} cache marks`, why, rule: 'R-26' })
  }
  const turns = [...given.turns]
  for (const index of new Set(chosen.values())) {
    const { role, items, at } = turns[index] as Turn<Item>
    const marked = items.map((item) => (chosen.has(item) ? { ...item, block: mark(item.block) } : item))
    turns[index] = turnOf(role, marked, at)
  }
  return { ...markHead(given, head, mark), turns }
}

/** The last item of a message up to this one that can have a mark, and the index of its turn. */
function lastUpTo(index: number, turns: readonly Turn<Item>[]): { item: Item; turn: number } | undefined {
  for (let turn = turns.length - 1; turn >= 0; turn--) {
    const item = turns[turn]?.items.findLast(
      ({ message, block }) => message >= 0 && message <= index && isCacheable(block),
    )
    if (item) return { item, turn }
  }
  return undefined
}

function markHead(
  { system, tools }: Marked,
  head: boolean,
  mark: <B extends JsonObject>(block: B) => B,
): Omit<Marked, 'turns'> {
  if (!head) return { system, tools }
  const markLast = (blocks: JsonObject[]) => blocks.map((block, i) => (i === blocks.length - 1 ? mark(block) : block))
  return system.length > 0 ? { system: markLast(system), tools } : { system, tools: markLast(tools) }
}
