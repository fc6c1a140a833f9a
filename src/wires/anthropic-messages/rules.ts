// What the Messages API refuses, with its error messages, in about the order in which it checks. Written from the API's
// answers, not from the encoder's output. A body does not show its headers, so beta fields count as allowed.
//
// Rule numbers are those of docs/protocols/anthropic-messages.md.

import { isObject, type Json, type JsonObject } from '../../core/json.ts'
import { isBlank } from '../shared/text.ts'
import type { Issue, Profile } from '../wire.ts'
import { isUnheardOf, modelOf } from './models.ts'
import { checkBlocks, checkTurns } from './rules-messages.ts'
import { checkAnswer, checkModel, checkTools } from './rules-options.ts'
import { type Block, isBlock } from './types.ts'
import { textIn } from '../shared/json-fields.ts'

export type Report = (rule: string, message: string, more?: Partial<Issue>) => void

export function refuse(body: Json, profile?: Profile): Issue[] {
  const issues: Issue[] = []
  const report: Report = (rule, message, more) => {
    issues.push({ rule, status: 400, type: 'invalid_request_error', message, ...more })
  }
  const { size, broken } = measure(body)
  if (size > maxBytes) {
    report('size', 'Request exceeds the maximum size', { status: 413, type: 'request_too_large' })
    return issues
  }
  if (broken) report('shape', 'The request body is not valid JSON: no low surrogate in string')
  if (!isObject(body)) {
    report('shape', 'Input should be a valid dictionary')
    return issues
  }
  const messages = checkShape(body, report)
  checkTools(body, report)
  if (!messages) return issues

  const model = profile?.model ?? textIn(body.model)
  if (isUnheardOf(model)) report('model', `model: ${model}`, { status: 404, type: 'not_found_error' })
  checkBlocks(messages, report)
  checkCache(body, messages, report)
  checkModel(body, messages, modelOf(model), report)
  checkAnswer(body, model, report)
  checkTurns(body, messages, report)
  checkFeatures(body, messages, report)
  return issues
}

const maxBytes = 32 * 1024 * 1024

/** The approximate size of the body, and whether it contains half a surrogate pair. */
function measure(value: Json | undefined): { size: number; broken: boolean } {
  let size = 0
  let broken = false
  const walk = (item: Json | undefined): void => {
    if (typeof item === 'string') {
      size += item.length
      broken ||= !item.isWellFormed()
    } else if (Array.isArray(item)) {
      size += item.length
      for (const inner of item) walk(inner)
    } else if (isObject(item)) {
      for (const key of Object.keys(item)) {
        size += key.length
        walk(item[key])
      }
    } else size += 4
  }
  walk(value)
  return { size, broken }
}

// The outer shape of a body: its fields and their types.

/** A message for the rules: text content is one text block. */
export interface WireMessage {
  role: 'user' | 'assistant' | 'system'
  content: Block[]
  /** Its position in the body. */
  index: number
}

/** Returns the messages, unless they are too broken to check. */
function checkShape(body: JsonObject, report: Report): WireMessage[] | undefined {
  const onCloud = body.anthropic_version !== undefined
  for (const field of Object.keys(body)) {
    const isAllowed = fields.has(field) || (onCloud && field.startsWith('anthropic_'))
    if (!isAllowed) report('R-29', `${field}: Extra inputs are not permitted`)
  }
  // Bedrock and Google name the model in the URL.
  if (body.model === undefined && !onCloud) report('shape', 'model: Field required')
  if (body.model !== undefined && typeof body.model !== 'string')
    report('shape', 'model: Input should be a valid string')
  checkNumbers(body, report)
  checkSystem(body.system, report)
  checkStop(body.stop_sequences, report)
  if (body.messages === undefined) report('shape', 'messages: Field required')
  else if (!Array.isArray(body.messages)) report('shape', 'messages: Input should be a valid list')
  if (!Array.isArray(body.messages)) return undefined
  const continues = isObject(body.thread) && body.thread.type === 'continue'
  if (body.messages.length === 0 && !continues) report('R-10', 'messages: at least one message is required')
  return readMessages(body.messages, report)
}

const fields: ReadonlySet<string> = new Set(
  (
    'model messages max_tokens billing_policy cache_control compaction container context_management diagnostics ' +
    'fallback_credit_token fallbacks inference_geo mcp_servers metadata output_config output_format service_tier speed ' +
    'stop_sequences stream system temperature thinking thread tool_choice tools top_k top_p'
  ).split(' '),
)

function checkNumbers(body: JsonObject, report: Report): void {
  const { max_tokens } = body
  if (max_tokens === undefined) report('shape', 'max_tokens: Field required')
  else if (typeof max_tokens !== 'number' || !Number.isInteger(max_tokens)) {
    report('shape', 'max_tokens: Input should be a valid integer')
  } else if (max_tokens < 0) report('shape', 'max_tokens: Input should be greater than or equal to 0')
  for (const field of ['temperature', 'top_p']) {
    const value = body[field]
    if (value === undefined || value === null) continue
    if (typeof value !== 'number') report('shape', `${field}: Input should be a valid number`)
    else if (value > 1) report('shape', `${field}: Input should be less than or equal to 1`)
    else if (value < 0) report('shape', `${field}: Input should be greater than or equal to 0`)
  }
}

function checkSystem(system: Json | undefined, report: Report): void {
  if (system === undefined || typeof system === 'string') return
  if (!Array.isArray(system)) {
    report('shape', 'system: Input should be a valid list')
    return
  }
  for (const [index, block] of system.entries()) {
    if (!isBlock(block) || block.type !== 'text') report('shape', `system.${index}.type: Input should be 'text'`)
    else if (block.text === '') report('R-8', 'system: text content blocks must be non-empty')
    else if (typeof block.text === 'string' && isBlank(block.text)) {
      report('R-8', 'system: text content blocks must contain non-whitespace text')
    }
  }
}

function checkStop(stop: Json | undefined, report: Report): void {
  if (stop === undefined) return
  if (!Array.isArray(stop)) report('shape', 'stop_sequences: Input should be a valid list')
  else if (stop.some((sequence) => typeof sequence === 'string' && isBlank(sequence))) {
    report('shape', 'stop_sequences: each stop sequence must contain non-whitespace')
  }
}

function readMessages(list: readonly Json[], report: Report): WireMessage[] | undefined {
  const messages: WireMessage[] = []
  for (const [index, message] of list.entries()) {
    const path = `messages.${index}`
    if (!isObject(message)) {
      report('shape', `${path}: Input should be a valid dictionary`)
      return undefined
    }
    const { role, content } = message
    if (role !== 'user' && role !== 'assistant' && role !== 'system') {
      report('shape', `${path}.role: Input should be 'user', 'assistant' or 'system'`)
      return undefined
    }
    for (const field of Object.keys(message)) {
      const isAllowed = field === 'role' || field === 'content' || (role === 'system' && systemFields.has(field))
      if (!isAllowed) report('R-29', `${path}.${field}: Extra inputs are not permitted`)
    }
    const blocks = contentOf(content, path, report)
    if (!blocks) return undefined
    messages.push({ role, content: blocks, index })
  }
  return messages
}

const systemFields: ReadonlySet<string> = new Set(['clear_at', 'output_config'])

function contentOf(content: Json | undefined, path: string, report: Report): Block[] | undefined {
  if (typeof content === 'string') return content === '' ? [] : [{ type: 'text', text: content }]
  if (!Array.isArray(content)) {
    report('shape', `${path}.content: ${content === undefined ? 'Field required' : 'Input should be a valid list'}`)
    return undefined
  }
  const blocks = content.filter(isBlock)
  if (blocks.length < content.length) {
    const index = content.findIndex((block) => !isBlock(block))
    report('shape', `${path}.content.${index}.type: Field required`)
    return undefined
  }
  return blocks
}

/** Cache marks: their number, positions, and the order of their lifetimes. */
function checkCache(body: JsonObject, messages: readonly WireMessage[], report: Report): void {
  const marks = [...marksIn(body.tools, 'tools'), ...marksIn(body.system, 'system')]
  for (const { content, index } of messages) {
    const path = `messages.${index}.content`
    for (const [i, block] of content.entries()) {
      marks.push(...marksIn([block], path, i))
      if (block.type === 'tool_result') marks.push(...marksIn(block.content, `${path}.${i}.tool_result.content`))
      if (block.type === 'text' && block.text === '' && isObject(block.cache_control)) {
        report('R-27', `${path}.${i}.text: cache_control cannot be set for empty text blocks`)
      }
    }
  }
  const automatic = isObject(body.cache_control) ? 1 : 0
  if (marks.length + automatic > 4) {
    const message = `A maximum of 4 blocks with cache_control may be provided. Found ${marks.length + automatic}.`
    report('R-26', message)
  }
  checkLifetimes(marks, report)
}

interface Mark {
  at: string
  ttl: '5m' | '1h'
}

function marksIn(blocks: Json | undefined, path: string, from = 0): Mark[] {
  if (!Array.isArray(blocks)) return []
  return blocks.flatMap((block, i) => {
    const control = isObject(block) || isBlock(block) ? block.cache_control : undefined
    return isObject(control) ? [{ at: `${path}.${from + i}`, ttl: control.ttl === '1h' ? '1h' : '5m' }] : []
  })
}

function checkLifetimes(marks: readonly Mark[], report: Report): void {
  let short = false
  for (const { at, ttl } of marks) {
    if (ttl === '5m') short = true
    else if (short) {
      const message =
        "a ttl='1h' cache_control block must not come after a ttl='5m' cache_control block. Note that blocks are processed in the following order: `tools`, `system`, `messages`."
      report('R-26', `${at}.cache_control.ttl: ${message}`)
    }
  }
}

/**
 * Threads, compaction and context editing: invalid combinations, with the API's error codes. Only the server knows
 * whether a thread, a signature or a summary is valid; texts without a code are ours.
 */
function checkFeatures(body: JsonObject, messages: readonly WireMessage[], report: Report): void {
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
