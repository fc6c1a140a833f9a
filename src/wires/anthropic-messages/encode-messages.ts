// The required order: system messages in the middle, server tools with their results, and the last assistant message.
// All of it works on turns as they will be sent, because whether a block is valid depends on the blocks next to it.

import { type Context, type Note, placeOf } from '../../core/context.ts'
import type { JsonObject } from '../../core/json.ts'
import type { Message } from '../../core/message.ts'
import { systemLabel } from '../shared/injected-text.ts'
import { type Turn, turnOf } from '../shared/turns.ts'
import type { Target } from '../wire.ts'
import { isReplayed } from './encode-reply.ts'
import { type Block, isCacheable, isServerCall, isServerResult, isThinking, type Item, textBlock } from './types.ts'

/**
 * Call it after empty turns were removed: what is around them is adjacent.
 *
 * A system message is accepted after a user turn, at the end or before an assistant turn (R-12, checked 2026-11).
 * Anywhere else, and on models without the role, it becomes labelled text of the user.
 */
export function placeSystem(turns: readonly Turn<Item>[], isSupported: boolean, notes: Note[]): readonly Turn<Item>[] {
  if (!turns.some((turn) => turn.role === 'system')) return turns
  const filled = turns.filter((turn) => turn.items.length > 0)
  return turns.map((turn) => {
    if (turn.role !== 'system' || turn.items.length === 0) return turn
    const index = filled.indexOf(turn)
    const previous = filled.slice(0, index).findLast(({ role }) => role !== 'system')?.role
    const after = filled.slice(index + 1).find(({ role }) => role !== 'system')?.role
    const legal = (previous === 'user' || previous === 'tool') && (after === undefined || after === 'assistant')
    if (isSupported && legal) return turn
    const why = isSupported
      ? 'it must come between a user and an assistant message'
      : 'the model accepts it only at the top'
    const what = 'system message to labelled user text'
    notes.push({ kind: 'changed', what, why, at: turn.at, rule: 'R-12' })
    const text = turn.items.map(({ block }) => String(block.text)).join('\n\n')
    const message = turn.items[0]?.message ?? -1
    return turnOf('user', [{ block: textBlock(`${systemLabel}\n${text}`), message }], turn.at)
  })
}

/**
 * A server tool's result needs its call before it, and a call without a result is only accepted if the server will
 * continue it: with only results of client tools after it, or at the end of a paused reply.
 */
export function pairServerTools(
  turns: readonly Turn<Item>[],
  messages: readonly Message[],
  target: Target,
  notes: Note[],
): readonly Turn<Item>[] {
  const paired = new Set<Item>()
  const waiting = new Map<string, Item>()
  for (const item of turns.flatMap(({ items }) => items)) {
    if (isServerCall(item.block)) waiting.set(String(item.block.id), item)
    if (!isServerResult(item.block)) continue
    const id = String(item.block.tool_use_id)
    const call = waiting.get(id)
    if (call) paired.add(call).add(item)
    waiting.delete(id)
  }
  const lastUser = turns.findLastIndex(({ role, items }) => (role === 'user' || role === 'system') && items.length > 0)
  const last = turns.findLast(({ items }) => items.length > 0)
  const isContinued = last?.role === 'tool' || isPaused(messages[last?.items.at(-1)?.message ?? -1], target)
  return turns.map((turn, index) => {
    const items = turn.items.filter((item) => {
      const open = isServerCall(item.block) && !paired.has(item) && !(isContinued && index > lastUser)
      const lone = isServerResult(item.block) && !paired.has(item)
      if (!open && !lone) return true
      const why = open ? 'its result never came' : 'its call is not in this request'
      notes.push({ kind: 'dropped', what: `${item.block.type} block`, why, at: turn.at, rule: 'R-25' })
      return false
    })
    return items.length === turn.items.length ? turn : turnOf(turn.role, items, turn.at)
  })
}

/** Results come first in a user message. */
export function resultsFirst(turn: Turn<Item>): Turn<Item> {
  if (turn.items.length < 2) return turn
  const isResult = ({ block }: Item) => block.type === 'tool_result'
  const first = turn.items.findIndex((item) => !isResult(item))
  if (first < 0 || turn.items.findLastIndex(isResult) < first) return turn
  const items = [...turn.items.filter(isResult), ...turn.items.filter((item) => !isResult(item))]
  return turnOf(turn.role, items, turn.at)
}

/** A final assistant message is continued by the model, and may not end in white space. */
export function trimEnd(turns: readonly Turn<Item>[], context: Context, notes: Note[]): Turn<Item>[] {
  const last = turns.at(-1)
  if (last?.role !== 'assistant') return [...turns]
  const items = [...last.items]
  for (let item = items.pop(); item; item = items.pop()) {
    const { block } = item
    if (block.type !== 'text' || typeof block.text !== 'string' || !/\s$/.test(block.text)) {
      items.push(item)
      break
    }
    const why = 'a last assistant message may not end in it'
    const at = item.message < 0 ? last.at : placeOf(context, item.message)
    notes.push({ kind: 'changed', what: 'white space at the end', why, at, rule: 'R-13' })
    const text = block.text.trimEnd()
    if (text === '') continue
    items.push({ ...item, block: { ...block, text } })
    break
  }
  return items.length > 0 ? [...turns.slice(0, -1), turnOf(last.role, items, last.at)] : turns.slice(0, -1)
}

/**
 * Whether the last turn may be last, or needs a user turn after it: a system message may be last, a paused reply
 * is continued, and a model with prefill continues any other. But it does not continue if it should think first, or
 * after thinking: removing that would change what was sent before.
 */
export function isContinued(
  turns: readonly Turn<Item>[],
  messages: readonly Message[],
  target: Target,
  thinkingOn: boolean,
): boolean {
  const lastInput = turns.findLastIndex(({ role, items }) => role !== 'assistant' && items.length > 0)
  const final = turns.slice(lastInput + 1).filter(({ items }) => items.length > 0)
  if (lastInput >= 0 && final.length === 0) return turns[lastInput]?.role === 'system'
  const last = final.at(-1)?.items.at(-1)
  const reply = messages[last?.message ?? -1]
  if (!last || reply?.role !== 'assistant') return false
  const blocks = final.flatMap(({ items }) => items.map(({ block }) => block))
  if (isPaused(reply, target) && blocks.some(isOfServer)) return !isThinking(last.block)
  return target.capabilities.prefill && !thinkingOn && !blocks.some(isThinking)
}

/** What identifies a pause; otherwise the reply is like any other. */
function isOfServer(block: Block): boolean {
  return isOfServerTool(block) || block.type === 'compaction'
}

export function isOfServerTool(block: Block): boolean {
  return isServerCall(block) || isServerResult(block)
}

export function isPaused(message: Message | undefined, target: Target): boolean {
  return message?.role === 'assistant' && message.stop.reason === 'paused' && isReplayed(message, target)
}

// Where the prompt cache is written. At most four marks are allowed, over tools, system and messages together,
// never on thinking or empty text. All marks of a request have one lifetime, because a long one may not follow a
// short one.

interface Marked {
  system: JsonObject[]
  tools: JsonObject[]
  turns: readonly Turn<Item>[]
}

interface RequestedMarks {
  /** As in a Context: after the message with this index; -1 = after tools and system. */
  after: readonly number[]
  ttl: '5m' | '1h' | undefined
  /** How many are left: a mark for the whole request takes one. */
  limit: number
}

export function markCache(unmarked: Marked, requested: RequestedMarks, notes: Note[]): Marked {
  const control = { type: 'ephemeral', ...(requested.ttl === '1h' && { ttl: '1h' }) }
  const mark = <B extends JsonObject>(block: B): B => ({ ...block, cache_control: control })
  /** With the index of its turn. */
  const chosen = new Map<Item, number>()
  let head = false
  for (const index of requested.after.toReversed()) {
    if (index < 0) {
      if (unmarked.system.length + unmarked.tools.length > 0) head = true
      continue
    }
    const turn = lastUpTo(index, unmarked.turns)
    if (turn) chosen.set(turn.item, turn.turn)
  }

  const room = Math.max(0, requested.limit - (head ? 1 : 0))
  const over = [...chosen.keys()].slice(room)
  for (const item of over) chosen.delete(item)
  if (over.length > 0) {
    const why = 'the wire allows four; the last ones stay'
    notes.push({ kind: 'dropped', what: `${over.length} cache marks`, why, rule: 'R-26' })
  }
  const turns = [...unmarked.turns]
  for (const index of new Set(chosen.values())) {
    const { role, items, at } = turns[index] as Turn<Item>
    const marked = items.map((item) => (chosen.has(item) ? { ...item, block: mark(item.block) } : item))
    turns[index] = turnOf(role, marked, at)
  }
  return { ...markHead(unmarked, head, mark), turns }
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
