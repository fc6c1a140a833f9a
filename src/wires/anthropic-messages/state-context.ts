// What the Anthropic server drops from a conversation by itself: old tool results, old thinking, and everything before
// a compaction block. The client keeps sending all of it; only the model sees less.

import { createHash, type Hash } from 'node:crypto'
import { isObject, type Json, type JsonObject } from '../../core/json.ts'
import { listIn, objectIn, textIn } from '../shared/json-fields.ts'
import { promptTokens, type CountTokens } from '../shared/prompt.ts'
import { couldBeReal, seal, unseal } from '../shared/seal.ts'
import { promptOf } from './service.ts'

const clearedResult = '[Old tool result content cleared]'

interface Edited {
  body: JsonObject
  applied: JsonObject[]
}

/** Applies `context_management.edits` other than compaction, in order. */
export function editContext(body: JsonObject, count: CountTokens): Edited {
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
    const { value: least } = objectIn(edit.clear_at_least)
    if (next.cleared === 0 || (typeof least === 'number' && cleared < least)) continue
    current = next.body
    applied.push({ type: edit.type, cleared_input_tokens: cleared, [next.counted]: next.cleared })
  }
  return { body: current, applied }
}

/** The threshold compaction that the body requests, if its prompt has grown past the trigger. */
export function dueCompaction(body: JsonObject, count: CountTokens): JsonObject | undefined {
  const edit = editsOf(body).find((candidate) => candidate.type === 'compact_20260112')
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
  const excluded = listIn(edit.exclude_tools)
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

// Signatures of thinking. A signature covers the text of its block; on models that bind thinking to its prefix it also
// covers everything before it: system, tools and all earlier content (R-18, R-19; checked 2026-11).
//
// Not in the prefix: cache marks, and other thinking. Thinking may be removed from the start, but a gap makes what
// follows it invalid, and removed thinking may not come back: each block also names the previous one.

export interface BrokenBlock {
  message: number
  block: number
  why: 'signature' | 'words' | 'prefix'
}

/** Signs the thinking of a reply to this body. */
export function signThinking(content: readonly JsonObject[], body: JsonObject, model: string): JsonObject[] {
  const prefix = prefixOf(body)
  for (const { role, block } of blocksOf(body)) prefix.add(role, block)
  return content.map((block) => {
    const signed = block.type === 'thinking' ? { ...block, signature: signatureOf(block, prefix, model) } : block
    prefix.add('assistant', signed)
    return signed
  })
}

/** The thinking blocks of the body that would be refused, in order. */
export function brokenThinking(body: JsonObject, bound: boolean): BrokenBlock[] {
  const prefix = prefixOf(body)
  let broken: BrokenBlock[] = []
  for (const { role, block, at } of blocksOf(body)) {
    const why = block.type === 'thinking' ? faultOf(block, prefix, bound) : undefined
    if (why) broken.push({ ...at, why })
    // What comes before a compaction is not read any more.
    if (isCompaction(block)) broken = []
    prefix.add(role, block)
  }
  return broken
}

function faultOf(block: JsonObject, prefix: Prefix, bound: boolean): BrokenBlock['why'] | undefined {
  const signature = textIn(block.signature)
  const payload = unseal(signature)
  if (!payload) return couldBeReal(signature) ? undefined : 'signature'
  if (payload.kind !== 'thinking') return 'signature'
  if (payload.words !== digest(textIn(block.thinking))) return 'words'
  const { last } = prefix
  const follows = last === undefined || payload.follows === last
  return bound && (payload.prefix !== prefix.digest() || !follows) ? 'prefix' : undefined
}

function signatureOf(block: JsonObject, prefix: Prefix, model: string): string {
  return seal({
    kind: 'thinking',
    model,
    words: digest(textIn(block.thinking)),
    prefix: prefix.digest(),
    follows: prefix.last ?? '',
  })
}

interface Prefix {
  add(role: string, block: JsonObject): void
  digest(): string
  /** A digest of the last thinking block. */
  readonly last: string | undefined
}

function prefixOf(body: JsonObject): Prefix {
  const system = typeof body.system === 'string' ? [{ type: 'text', text: body.system }] : (body.system ?? [])
  const start = JSON.stringify([withoutMarks(system), withoutMarks(body.tools ?? [])])
  let hash: Hash = createHash('sha256').update(start)
  let last: string | undefined
  return {
    add(role, block) {
      if (block.type === 'thinking' || block.type === 'redacted_thinking') {
        last = digest(textIn(block.signature ?? block.data))
        return
      }
      // The server's own compaction is not an edit: what came before it may or may not be there.
      if (isCompaction(block)) {
        hash = createHash('sha256').update(start)
        last = undefined
      }
      hash.update(`\n${role} ${JSON.stringify(withoutMarks(block))}`)
    },
    digest: () => hash.copy().digest('base64url'),
    get last() {
      return last
    },
  }
}

/** A block without content is a failed compaction, and replaces nothing. */
function isCompaction(block: JsonObject): boolean {
  return block.type === 'compaction' && typeof block.content === 'string'
}

export function* blocksOf(
  body: JsonObject,
): Generator<{ role: string; block: JsonObject; at: { message: number; block: number } }> {
  const messages = listIn(body.messages)
  for (const [i, message] of messages.entries()) {
    if (!isObject(message)) continue
    const { content } = message
    const blocks = typeof content === 'string' ? [{ type: 'text', text: content }] : content
    if (!Array.isArray(blocks)) continue
    for (const [j, block] of blocks.entries()) {
      if (isObject(block)) yield { role: textIn(message.role), block, at: { message: i, block: j } }
    }
  }
}

/** A block as the model reads it: without cache marks, and without reply-only fields. */
function withoutMarks(value: Json): Json {
  if (Array.isArray(value)) return value.map(withoutMarks)
  if (!isObject(value)) return value
  const { cache_control: _mark, citations, caller: _caller, ...rest } = value
  const cited = Array.isArray(citations) && citations.length > 0
  return {
    ...rest,
    ...(Array.isArray(rest.content) && { content: withoutMarks(rest.content) }),
    ...(cited && { citations }),
  }
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('base64url')
}
