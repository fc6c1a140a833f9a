// Threads, compaction and context editing: invalid combinations, with the API's error codes. Only the server knows
// whether a thread, a signature or a summary is valid; texts without a code are ours.

import { isObject, type JsonObject } from '../../core/json.ts'
import type { Report } from './rules.ts'
import type { WireMessage } from './rules-shape.ts'
import { isBlock } from './types.ts'

export function checkFeatures(body: JsonObject, messages: readonly WireMessage[], report: Report): void {
  checkThread(body, report)
  checkSummaryBlocks(messages, report)
  checkCompaction(body, messages, report)
  checkEdits(body, report)
}

function checkThread(body: JsonObject, report: Report): void {
  const { thread } = body
  if (thread === undefined || thread === null) return
  if (!isObject(thread) || (thread.type !== 'create' && thread.type !== 'continue')) {
    const tag = isObject(thread) ? String(thread.type) : ''
    const message = `Input tag '${tag}' found using 'type' does not match any of the expected tags: 'continue', 'create'`
    report('thread', `thread: ${message}`)
    return
  }
  for (const field of ['context_management', 'fallbacks']) {
    if (body[field] === undefined || body[field] === null) continue
    report('thread', `thread: not supported together with ${field}`, { code: 'thread_unsupported_request' })
  }
  if (thread.type !== 'continue') return
  if (typeof thread.previous_message_id !== 'string') {
    report('thread', 'thread.continue.previous_message_id: Field required')
  }
  for (const field of ['system', 'tools']) {
    if (body[field] === undefined) continue
    report('thread', `${field}: not permitted when continuing a thread; it is stored with the thread`)
  }
}

function checkSummaryBlocks(messages: readonly WireMessage[], report: Report): void {
  const all = messages.flatMap(({ role, content, index }) =>
    content.map((block, i) => ({ block, role, first: index === 0 && i === 0, at: `messages.${index}.content.${i}` })),
  )
  const signed = all.filter(({ block }) => block.type === 'compaction' && typeof block.signature === 'string')
  if (signed.length > 1) {
    const message = 'messages: more than one `compaction` block with content'
    report('compaction', message, { code: 'compaction_block_ambiguous' })
  }
  for (const { first, role, at } of signed) {
    if (first && role !== 'system') continue
    const message = `${at}: the \`compaction\` block must be the first block of the conversation`
    report('compaction', message, { code: 'compaction_block_misplaced' })
  }
}

function checkCompaction(body: JsonObject, messages: readonly WireMessage[], report: Report): void {
  const { compaction } = body
  if (compaction === undefined || compaction === null) return
  if (!isObject(compaction) || compaction.type !== 'summarize') {
    report('compaction', "compaction.type: Input should be 'summarize'")
    return
  }
  const { instructions } = compaction
  if (typeof instructions === 'string' && instructions.length > 16_384) {
    report('compaction', 'compaction.instructions: String should have at most 16384 characters')
  }
  const choice = isObject(body.tool_choice) ? body.tool_choice.type : undefined
  const clashes: [boolean, string][] = [
    [isObject(body.context_management), 'context_management'],
    [Array.isArray(body.stop_sequences) && body.stop_sequences.length > 0, 'stop_sequences'],
    [isObject(body.output_config) && isObject(body.output_config.format), 'output_config.format'],
    [choice === 'any' || choice === 'tool', 'tool_choice'],
  ]
  for (const [clash, field] of clashes) if (clash) report('compaction', `compaction: cannot be combined with ${field}`)
  if (!messages.some(({ role }) => role !== 'system')) {
    const message = 'messages: there is nothing to summarize'
    report('compaction', message, { code: 'compaction_nothing_to_summarize' })
  }
  const last = messages.at(-1)
  if (last?.role === 'assistant' && last.content.some((block) => block.type === 'tool_use')) {
    const message = 'messages: the last assistant turn is not finished'
    report('compaction', message, { code: 'compaction_incomplete_turn' })
  }
}

function checkEdits(body: JsonObject, report: Report): void {
  const edits = isObject(body.context_management) ? body.context_management.edits : undefined
  if (!Array.isArray(edits)) return
  for (const [index, edit] of edits.entries()) {
    if (isBlock(edit) && edit.type === 'clear_thinking_20251015' && index > 0) {
      report('context-editing', `context_management.edits.${index}: clear_thinking_20251015 must be the first edit`)
    }
  }
}
