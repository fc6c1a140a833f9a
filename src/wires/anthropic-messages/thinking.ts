// Whether and how thinking is requested. The wire has three switches and each model supports some of them; the
// manual one is refused in the middle of a tool loop that began without thinking.

import { createHash } from 'node:crypto'
import { isObject, type JsonObject } from '../../core/json.ts'
import type { Message } from '../../core/message.ts'
import type { Effort } from '../../settings/options.ts'
import { type Turn, turnOf } from '../shared/turns.ts'
import { isThinking, type Item, type Encoding } from './types.ts'

export interface Thinking {
  /** The value of `thinking`, if any. */
  config?: JsonObject
  /** The value of `output_config.effort`, if any. */
  effort?: string
  /** `default`: the model's default behaviour. */
  state: 'on' | 'off' | 'default'
}

/** The API's minimum. */
const leastBudget = 1024

const budgets: Readonly<Record<Exclude<Effort, 'none'>, number>> = {
  minimal: leastBudget,
  low: 2048,
  medium: 8192,
  high: 16_384,
  xhigh: 32_768,
  max: 65_536,
}

/** The preferred share of the output for manual thinking. */
export function budgetOf(encoding: Encoding): number {
  const { options, capabilities } = encoding.target
  const types = capabilities.thinking ?? []
  if (options.effort === undefined || options.effort === 'none') return 0
  return types.includes('enabled') && !types.includes('adaptive') ? budgets[options.effort] : 0
}

export function planThinking(loop: Loop, maxTokens: number, forced: boolean, encoding: Encoding): Thinking {
  const { options, capabilities } = encoding.target
  const { effort, extra } = options
  const types = capabilities.thinking ?? []
  if (isObject(extra?.thinking)) return { state: extra.thinking.type === 'disabled' ? 'off' : 'on' }
  if (effort === undefined) return { state: 'default' }

  const drop = (why: string, rule: string): Thinking => {
    encoding.notes.push({ kind: 'dropped', what: `effort ${JSON.stringify(effort)}`, why, rule })
    return { state: 'default' }
  }
  if (effort === 'none') {
    if (types.includes('disabled')) return { config: { type: 'disabled' }, state: 'off' }
    return types.length > 0 ? drop('the model always thinks', 'R-20') : { state: 'off' }
  }
  if (types.includes('adaptive')) {
    const level = levelOf(effort, encoding)
    return { config: { type: 'adaptive' }, ...(level !== undefined && { effort: level }), state: 'on' }
  }
  if (!types.includes('enabled')) return drop('the model does not support thinking', 'R-20')
  if (loop === 'silent') return drop('this tool loop began without thinking', 'R-16')
  if (forced) return drop('a call is asked for by name, and thinking does not go with it', 'R-21')
  const budget = Math.min(budgets[effort], Math.max(leastBudget, Math.floor(maxTokens / 2)))
  if (budget >= maxTokens) return drop(`thinking needs more than ${leastBudget} tokens of output`, 'R-20')
  return { config: { type: 'enabled', budget_tokens: budget }, state: 'on' }
}

const levels: readonly Effort[] = ['low', 'medium', 'high', 'xhigh', 'max']

/** The requested level, or the next lower one that the model supports. */
function levelOf(effort: Effort, encoding: Encoding): string | undefined {
  const supported = levels.filter((candidate) => encoding.target.capabilities.efforts.includes(candidate))
  const requested = Math.max(0, levels.indexOf(effort))
  const level = supported.findLast((candidate) => levels.indexOf(candidate) <= requested) ?? supported[0]
  if (level !== effort) {
    const what = `effort ${JSON.stringify(effort)} to ${JSON.stringify(level ?? 'the default')}`
    encoding.notes.push({ kind: 'changed', what, why: 'the model does not support this level', rule: 'R-20' })
  }
  return level
}

/** `thinks`: the open assistant turn at the end began with thinking; `silent`: it did not. */
export type Loop = 'none' | 'thinks' | 'silent'

/** A tool loop that ends in results, or a paused reply, is open. */
export function loopAtEnd(turns: readonly Turn<Item>[], paused: boolean): Loop {
  const conversation = turns.filter(({ role }) => role !== 'system')
  const hasResult = (turn: Turn<Item> | undefined) =>
    turn !== undefined && turn.role !== 'assistant' && turn.items.some(({ block }) => block.type === 'tool_result')
  let index = conversation.length - 1
  let first: Turn<Item> | undefined
  if (paused && conversation[index]?.role === 'assistant') first = conversation[index--]
  for (; index > 0 && hasResult(conversation[index]); index -= 2) first = conversation[index - 1]
  if (first?.role !== 'assistant') return 'none'
  const opening = first.items[0]?.block
  return opening && isThinking(opening) ? 'thinks' : 'silent'
}

/**
 * The thinking of earlier replies is sent unchanged, unless this request does not think (then the API would ignore it,
 * or refuse it in an open tool loop), or the model would find that its prefix has changed.
 */
export function keepThinking(
  turns: readonly Turn<Item>[],
  thinking: Thinking,
  binding: ThinkingPrefix | undefined,
  encoding: Encoding,
): { turns: readonly Turn<Item>[]; thinking: Thinking } {
  if (thinking.state === 'off') {
    const why = 'this request is made without thinking'
    encoding.notes.push({ kind: 'dropped', what: 'thinking of earlier replies', why, rule: 'R-17' })
    return { turns: withoutThinking(turns, () => true), thinking }
  }
  if (!binding) return { turns, thinking }

  const { broken } = binding
  if (broken.size > 0) {
    const at = turns.find(({ items }) => items.some(({ message }) => broken.has(message)))?.at
    const why = 'something before it has changed since, and the model accepts it only after its original prefix'
    const what = `thinking of ${broken.size} earlier replies`
    encoding.notes.push({ kind: 'dropped', what, why, rule: 'R-19', ...(at !== undefined && { at }) })
  }
  const remaining = broken.size > 0 ? withoutThinking(turns, (message) => broken.has(message)) : turns
  if (!binding.unproven) return { turns: remaining, thinking }
  const why = 'the prefix of some thinking is unknown; the provider should ignore what does not fit'
  encoding.notes.push({ kind: 'added', what: 'thinking.block_binding', why, rule: 'R-19' })
  const block_binding = { prefix_mismatch_behavior: 'drop_block' }
  const config = { ...(thinking.config ?? { type: 'adaptive' }), block_binding }
  return { turns: remaining, thinking: { ...thinking, config } }
}

function withoutThinking(turns: readonly Turn<Item>[], dropped: (message: number) => boolean): Turn<Item>[] {
  return turns.map((turn) => {
    const items = turn.items.filter(({ block, message }) => !dropped(message) || !isThinking(block))
    return items.length === turn.items.length ? turn : turnOf(turn.role, items, turn.at)
  })
}

// Thinking that is bound to its prefix: the newest models accept a thinking block back only if `system`, `tools` and
// all messages before it are what they were when it was made. Cache marks, effort and the like do not count.
//
// The API merges adjacent messages of one role, so the digest runs over blocks and changes of role, not messages.

export interface ThinkingPrefix {
  /** The messages whose thinking was made for another prefix, and is dropped. What was made after that stays valid. */
  broken: ReadonlySet<number>
  /** Some thinking has no proof of its prefix. */
  unproven: boolean
  basis: string
}

export function checkThinkingPrefix(
  head: { system: readonly JsonObject[]; tools: readonly JsonObject[] },
  turns: readonly Turn<Item>[],
  messages: readonly Message[],
): ThinkingPrefix {
  const hash = createHash('sha256').update(JSON.stringify([head.system, head.tools]))
  const seen = new Set<number>()
  let role: string | undefined
  const broken = new Set<number>()
  let unproven = false

  for (const turn of turns) {
    const wireRole = turn.role === 'tool' ? 'user' : turn.role
    for (const { block, message } of turn.items) {
      const reply = messages[message]
      if (reply?.role === 'assistant' && !seen.has(message)) {
        seen.add(message)
        const { basis } = reply.origin
        const thinks = turn.items.some((item) => item.message === message && isThinking(item.block))
        if (thinks && basis === undefined && broken.size === 0) unproven = true
        else if (thinks && basis !== hash.copy().digest('base64url')) broken.add(message)
      }
      // Dropped thinking is not part of the prefix for the next thinking block.
      if (broken.has(message) && isThinking(block)) continue
      if (wireRole !== role) hash.update(`\n${wireRole}`)
      role = wireRole
      hash.update(`\n${JSON.stringify(block)}`)
    }
  }
  return { broken, unproven, basis: hash.digest('base64url') }
}
