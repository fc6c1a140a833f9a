// What the Anthropic server drops from a conversation by itself: old tool results, old thinking, and everything before
// a compaction block. The client keeps sending all of it; only the model sees less.

import { isObject, type Json, type JsonObject } from '../../core/json.ts'
import { blocksOf, isCompaction } from './state-thinking.ts'
import { promptTokens } from '../shared/prompt.ts'
import { promptOf } from './prompt.ts'
import type { CountTokens } from '../shared/tokens.ts'

const clearedResult = '[Old tool result content cleared]'

export interface Edited {
  body: JsonObject
  applied: JsonObject[]
}

/** Applies `context_management.edits` other than compaction, in order. */
export function edited(body: JsonObject, count: CountTokens): Edited {
  const applied: JsonObject[] = []
  let current = body
  for (const edit of editsOf(body)) {
    const next =
      edit.type === 'clear_tool_uses_20250919'
        ? clearToolUses(current, edit, count)
        : edit.type === 'clear_thinking_20251015'
          ? clearThinking(current, edit)
          : undefined
    if (!next) continue
    const cleared = tokensOf(current, count) - tokensOf(next.body, count)
    const { value: least } = isObject(edit.clear_at_least) ? edit.clear_at_least : {}
    if (next.cleared === 0 || (typeof least === 'number' && cleared < least)) continue
    current = next.body
    applied.push({ type: edit.type, cleared_input_tokens: cleared, [next.counted]: next.cleared })
  }
  return { body: current, applied }
}

/** The threshold compaction that the body requests, if its prompt has grown past the trigger. */
export function dueCompaction(body: JsonObject, count: CountTokens): JsonObject | undefined {
  const edit = editsOf(body).find((one) => one.type === 'compact_20260112')
  if (!edit) return undefined
  const trigger = isObject(edit.trigger) && typeof edit.trigger.value === 'number' ? edit.trigger.value : 150_000
  return tokensOf(body, count) >= trigger ? edit : undefined
}

/** The body without everything before its last compaction block. */
export function afterCompaction(body: JsonObject): JsonObject {
  const last = [...blocksOf(body)].findLast(({ block }) => isCompaction(block))
  if (!last || !Array.isArray(body.messages)) return body
  const messages = body.messages.slice(last.at.message).map((message, i) => {
    if (i > 0 || !isObject(message) || !Array.isArray(message.content)) return message
    return { ...message, content: message.content.slice(last.at.block) }
  })
  return { ...body, messages }
}

export function tokensOf(body: JsonObject, count: CountTokens): number {
  return promptTokens(promptOf(body), count)
}

interface Cleared {
  body: JsonObject
  cleared: number
  counted: string
}

function clearToolUses(body: JsonObject, edit: JsonObject, count: CountTokens): Cleared | undefined {
  const uses = [...blocksOf(body)].map(({ block }) => block).filter((block) => block.type === 'tool_use')
  const trigger = isObject(edit.trigger) ? edit.trigger : { type: 'input_tokens', value: 100_000 }
  const reached = trigger.type === 'tool_uses' ? uses.length : tokensOf(body, count)
  if (reached < numberOf(trigger.value, 100_000)) return undefined
  const keep = isObject(edit.keep) ? numberOf(edit.keep.value, 3) : 3
  const excluded = Array.isArray(edit.exclude_tools) ? edit.exclude_tools : []
  const old = uses.slice(0, Math.max(0, uses.length - keep)).filter((block) => !excluded.includes(block.name ?? null))
  const ids = new Set(old.map((block) => block.id))
  const inputs = edit.clear_tool_inputs
  const clearsInput = (name: Json | undefined) =>
    inputs === true || (Array.isArray(inputs) && inputs.includes(name ?? null))
  const next = mapBlocks(body, (block) => {
    if (block.type === 'tool_result' && ids.has(block.tool_use_id)) return { ...block, content: clearedResult }
    return block.type === 'tool_use' && ids.has(block.id) && clearsInput(block.name) ? { ...block, input: {} } : block
  })
  return { body: next, cleared: old.length, counted: 'cleared_tool_uses' }
}

function clearThinking(body: JsonObject, edit: JsonObject): Cleared | undefined {
  if (edit.keep === 'all') return undefined
  const keep = isObject(edit.keep) ? numberOf(edit.keep.value, 1) : 1
  const turns = new Set<number>()
  for (const { block, at } of blocksOf(body)) if (isThinking(block)) turns.add(at.message)
  const old = new Set([...turns].slice(0, Math.max(0, turns.size - keep)))
  const next = mapBlocks(body, (block, message) => (isThinking(block) && old.has(message) ? undefined : block))
  return { body: next, cleared: old.size, counted: 'cleared_thinking_turns' }
}

/** The body with each block changed, or left out if `change` returns undefined. */
export function mapBlocks(
  body: JsonObject,
  change: (block: JsonObject, message: number, index: number) => JsonObject | undefined,
): JsonObject {
  if (!Array.isArray(body.messages)) return body
  const messages = body.messages.map((message, i) => {
    if (!isObject(message) || !Array.isArray(message.content)) return message
    const content = message.content.flatMap((block, j) => {
      const next = isObject(block) ? change(block, i, j) : block
      return next === undefined ? [] : [next]
    })
    return { ...message, content }
  })
  return { ...body, messages }
}

function editsOf(body: JsonObject): JsonObject[] {
  const edits = isObject(body.context_management) ? body.context_management.edits : undefined
  return Array.isArray(edits) ? edits.filter(isObject) : []
}

function isThinking(block: JsonObject): boolean {
  return block.type === 'thinking' || block.type === 'redacted_thinking'
}

function numberOf(value: Json | undefined, otherwise: number): number {
  return typeof value === 'number' ? value : otherwise
}
