// The content of each stream event, and which ones were already seen. Events that are not named here, or in the
// decoder, add nothing to the finished items.

import type { JsonObject } from '../../core/json.ts'

export type DeltaKind = 'text' | 'refusal' | 'reasoning' | 'summary' | 'function_call' | 'custom_tool_call'

export const contentKinds = new Map<string, DeltaKind>(
  Object.entries({
    output_text: 'text',
    text: 'text',
    refusal: 'refusal',
    reasoning_text: 'reasoning',
  }),
)

export const deltaKinds = new Map<string, { kind: DeltaKind; field: string; whole?: true }>(
  Object.entries({
    'response.output_text.delta': { kind: 'text', field: 'delta' },
    'response.output_text.done': { kind: 'text', field: 'text', whole: true },
    'response.refusal.delta': { kind: 'refusal', field: 'delta' },
    'response.refusal.done': { kind: 'refusal', field: 'refusal', whole: true },
    'response.reasoning_text.delta': { kind: 'reasoning', field: 'delta' },
    'response.reasoning_text.done': { kind: 'reasoning', field: 'text', whole: true },
    'response.reasoning_summary_text.delta': { kind: 'summary', field: 'delta' },
    'response.reasoning_summary_text.done': { kind: 'summary', field: 'text', whole: true },
    'response.function_call_arguments.delta': { kind: 'function_call', field: 'delta' },
    'response.function_call_arguments.done': { kind: 'function_call', field: 'arguments', whole: true },
    'response.custom_tool_call_input.delta': { kind: 'custom_tool_call', field: 'delta' },
    'response.custom_tool_call_input.done': { kind: 'custom_tool_call', field: 'input', whole: true },
  }),
)

/**
 * Whether an event was already seen, by its `sequence_number`. A server that gives one number to events of two types
 * does not number them properly, and is not checked again.
 */
export function duplicates(): (chunk: JsonObject) => boolean {
  const seen: (string | undefined)[] = []
  let counts = true
  return (chunk) => {
    const number = chunk.sequence_number
    if (!counts || typeof number !== 'number' || number < 0) return false
    const type = typeof chunk.type === 'string' ? chunk.type : ''
    const before = seen[number]
    seen[number] = type
    if (before !== undefined && before !== type) counts = false
    return counts && before !== undefined
  }
}
