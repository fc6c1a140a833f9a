// Tool results and thinking that the server drops by itself. The whole history is sent unchanged, so that thinking
// which is bound to its prefix stays valid; what is dropped was decided before, and does not change between two
// decisions: what stays is counted from the newest, and grows with the conversation.

import type { Context, Note } from '../../core/context.ts'
import { isObject, type Json, type JsonObject } from '../../core/json.ts'
import type { Turn } from '../shared/turns.ts'
import { isThinking } from './types.ts'
import type { Item } from './writer.ts'

/** The smallest trigger of a summary (checked 2026-11). */
const leastTrigger = 50_000

export function contextEdits(
  turns: readonly Turn<Item>[],
  { cleared, compactAt }: Pick<Context, 'cleared' | 'compactAt'>,
  thinks: boolean,
): { context_management?: JsonObject } {
  const edits = cleared === undefined ? [] : clearing(turns, cleared, thinks)
  if (compactAt !== undefined) {
    const trigger = { type: 'input_tokens', value: Math.max(leastTrigger, compactAt) }
    edits.push({ type: 'compact_20260112', trigger })
  }
  return edits.length > 0 ? { context_management: { edits } } : {}
}

function clearing(turns: readonly Turn<Item>[], cleared: number, thinks: boolean): JsonObject[] {
  const uses = turns.flatMap(({ items }) => items.filter(({ block }) => block.type === 'tool_use'))
  const remaining = uses.filter(({ message }) => message >= cleared).length
  const thoughts = turns.flatMap(({ items }) => items.find(({ block }) => isThinking(block)) ?? [])
  const remainingThoughts = thoughts.filter(({ message }) => message >= cleared).length
  return [
    // Must come first if requested at all, and keeps at least one turn (checked 2026-11).
    ...(thinks && thoughts.length > remainingThoughts
      ? [{ type: 'clear_thinking_20251015', keep: { type: 'thinking_turns', value: Math.max(1, remainingThoughts) } }]
      : []),
    ...(uses.length > remaining
      ? [
          {
            type: 'clear_tool_uses_20250919',
            trigger: { type: 'tool_uses', value: Math.max(1, remaining) },
            keep: { type: 'tool_uses', value: remaining },
          },
        ]
      : []),
  ]
}

/** What the server reports that it dropped. */
export function appliedEdits(management: Json | undefined): Note[] {
  const applied = isObject(management) && Array.isArray(management.applied_edits) ? management.applied_edits : []
  return applied.filter(isObject).map((edit): Note => {
    const { cleared_tool_uses: uses, cleared_thinking_turns: turns, cleared_input_tokens: tokens } = edit
    const what = uses === undefined ? `thoughts of ${String(turns)} replies` : `results of ${String(uses)} calls`
    const why = 'the provider left them out of what the model saw, as it was asked to'
    return { kind: 'dropped', what: `${what}, ${String(tokens)} tokens`, why, rule: 'context-editing' }
  })
}

/** Thinking that it did not accept, and why. */
export function transformations(given: Json | undefined): Note[] {
  const all = Array.isArray(given) ? given.filter(isObject) : []
  return all.map(({ type, path, reason }): Note => ({
    kind: type === 'thinking_dropped' ? 'dropped' : 'changed',
    what: `a thought at ${String(path)}`,
    why: `the provider found it bound to something else (${String(reason)})`,
    rule: 'R-19',
  }))
}
