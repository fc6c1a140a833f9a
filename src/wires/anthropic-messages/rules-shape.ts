// The outer shape of a body: its fields and their types.

import { isObject, type Json, type JsonObject } from '../../core/json.ts'
import { isBlank } from '../shared/text.ts'
import type { Report } from './rules.ts'
import { isBlock, type Block } from './types.ts'

/** A message for the rules: text content is one text block. */
export interface WireMessage {
  role: 'user' | 'assistant' | 'system'
  content: Block[]
  /** Its position in the body. */
  index: number
}

/** Returns the messages, unless they are too broken to check. */
export function checkShape(body: JsonObject, report: Report): WireMessage[] | undefined {
  const onCloud = body.anthropic_version !== undefined
  for (const field of Object.keys(body)) {
    const known = fields.has(field) || (onCloud && field.startsWith('anthropic_'))
    if (!known) report('R-29', `${field}: Extra inputs are not permitted`)
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
    'model messages max_tokens cache_control compaction container context_management diagnostics fallback_credit_token ' +
    'fallbacks inference_geo mcp_servers metadata output_config output_format service_tier speed stop_sequences stream ' +
    'system temperature thinking thread tool_choice tools top_k top_p'
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
    const at = `messages.${index}`
    if (!isObject(message)) {
      report('shape', `${at}: Input should be a valid dictionary`)
      return undefined
    }
    const { role, content } = message
    if (role !== 'user' && role !== 'assistant' && role !== 'system') {
      report('shape', `${at}.role: Input should be 'user', 'assistant' or 'system'`)
      return undefined
    }
    for (const field of Object.keys(message)) {
      const known = field === 'role' || field === 'content' || (role === 'system' && systemFields.has(field))
      if (!known) report('R-29', `${at}.${field}: Extra inputs are not permitted`)
    }
    const blocks = contentOf(content, at, report)
    if (!blocks) return undefined
    messages.push({ role, content: blocks, index })
  }
  return messages
}

const systemFields: ReadonlySet<string> = new Set(['clear_at', 'output_config'])

function contentOf(content: Json | undefined, at: string, report: Report): Block[] | undefined {
  if (typeof content === 'string') return content === '' ? [] : [{ type: 'text', text: content }]
  if (!Array.isArray(content)) {
    report('shape', `${at}.content: ${content === undefined ? 'Field required' : 'Input should be a valid list'}`)
    return undefined
  }
  const blocks = content.filter(isBlock)
  if (blocks.length < content.length) {
    const index = content.findIndex((block) => !isBlock(block))
    report('shape', `${at}.content.${index}.type: Field required`)
    return undefined
  }
  return blocks
}
