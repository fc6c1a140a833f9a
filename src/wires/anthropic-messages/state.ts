// What the Anthropic server does around the model: threads, context editing, two kinds of compaction, signatures of
// thinking. Features in beta exist only for requests that name them in `anthropic-beta`.

import { createHash } from 'node:crypto'
import { isObject, type JsonObject } from '../../core/json.ts'
import { modelOf } from './models.ts'
import {
  afterCompaction,
  blocksOf,
  type BrokenBlock,
  brokenThinking,
  dueCompaction,
  editContext,
  mapBlocks,
  signThinking,
  tokensOf,
} from './state-context.ts'
import { createThreads } from './state-threads.ts'
import { listIn, objectIn, textIn } from '../shared/json-fields.ts'
import { anthropicRefusal, refusalFor } from '../shared/refusal.ts'
import { couldBeReal, seal, unseal } from '../shared/seal.ts'
import type { Incoming, Opened, Seen, ServerState } from '../service.ts'

export function createAnthropicState(): ServerState {
  const threads = createThreads()
  return {
    expire: (id) => threads.stored.expire(id),
    clear: () => threads.stored.clear(),
    open(incoming): Opened {
      checkBetas(incoming)
      const { body, from } = threads.resolve(incoming)
      if (from) from.continued = 'now'
      return {
        body,
        see: () => ({ ...viewOf(incoming, body), commit: (reply) => threads.keep(incoming, body, reply, from) }),
        abandon() {
          if (from) from.continued = 'no'
        },
      }
    },
  }
}

function viewOf(incoming: Incoming, body: JsonObject): Seen {
  checkCompactionBlocks(incoming, body)
  const dropped = checkedThinking(incoming, body)
  const remaining = afterCompaction(
    mapBlocks(body, (block, i, j) => (includesPosition(dropped, i, j) ? undefined : block)),
  )
  const { body: trimmed, applied } = editContext(remaining, incoming.count)
  const compaction = compactionFor(incoming, trimmed)
  return {
    view: compaction?.view ?? trimmed,
    finish(reply) {
      const blocks = Array.isArray(reply.content) && !compaction?.alone ? reply.content.filter(isObject) : []
      const content = [...(compaction ? [compaction.block] : []), ...blocks]
      return {
        ...reply,
        content: signThinking(shownThinking(content, body), body, incoming.model),
        ...(compaction?.alone && { stop_reason: 'compaction' }),
        ...(compaction && { usage: usageWith(compaction, reply) }),
        ...(isObject(body.context_management) && { context_management: { applied_edits: applied } }),
        ...(dropped.length > 0 && { input_transformations: dropped.map(transformation) }),
      }
    },
  }
}

/** If the text must not be shown, only the signature carries it. */
function shownThinking(content: JsonObject[], { thinking }: JsonObject): JsonObject[] {
  if (!isObject(thinking) || thinking.display !== 'omitted') return content
  return content.map((block) => (block.type === 'thinking' ? { ...block, thinking: '' } : block))
}

/** Fable 5.1, Opus 5.5, Sonnet 5.5, and announced for later ones (checked 2026-11). */
function bindsThinking(name: string): boolean {
  const model = modelOf(name)
  return model !== undefined && model.version >= (model.family === 'fable' || model.family === 'mythos' ? 5.1 : 5.5)
}

const betaOf: Record<string, string[]> = {
  thread: ['message-threads-2026-08-12'],
  context_management: ['context-management-2025-06-27', 'compact-2026-01-12'],
  compaction: ['compact-2026-09-04'],
}
const bindingBeta = 'thinking-binding-controls-2026-08-01'

function checkBetas({ body, betas, protocol }: Incoming): void {
  const missing = Object.entries(betaOf).find(
    ([field, names]) => body[field] !== undefined && body[field] !== null && !names.some((name) => betas.has(name)),
  )?.[0]
  const thinking = objectIn(body.thinking)
  const binding = thinking.block_binding !== undefined && !betas.has(bindingBeta)
  const field = missing ?? (binding ? `thinking.${textIn(thinking.type)}.block_binding` : undefined)
  if (field === undefined) return
  const message = `${field}: Extra inputs are not permitted`
  throw refusalFor(protocol, { rule: 'R-29', status: 400, type: 'invalid_request_error', message })
}

function dropsBroken(body: JsonObject): boolean {
  const binding = isObject(body.thinking) ? body.thinking.block_binding : undefined
  return isObject(binding) && binding.prefix_mismatch_behavior === 'drop_block'
}

interface Position {
  message: number
  block: number
}

/** The failing block and all thinking after it. */
function thinkingFrom(body: JsonObject, first: Position): Position[] {
  return [...blocksOf(body)]
    .filter(({ block }) => block.type === 'thinking' || block.type === 'redacted_thinking')
    .map(({ at }) => at)
    .filter(
      (position) =>
        position.message > first.message || (position.message === first.message && position.block >= first.block),
    )
}

function includesPosition(positions: readonly Position[], message: number, block: number): boolean {
  return positions.some((position) => position.message === message && position.block === block)
}

function transformation(position: Position): JsonObject {
  return {
    type: 'thinking_dropped',
    path: `messages.${position.message}.content.${position.block}`,
    reason: 'prefix_binding_mismatch',
  }
}

/** Refuses invalid thinking; returns the blocks to drop instead, if that was requested. */
function checkedThinking(incoming: Incoming, body: JsonObject): Position[] {
  const broken = brokenThinking(body, bindsThinking(incoming.model))
  const unbound = dropsBroken(body) ? broken.find(({ why }) => why === 'prefix') : undefined
  const dropped = unbound ? thinkingFrom(body, unbound) : []
  const first = broken.find((position) => !includesPosition(dropped, position.message, position.block))
  if (!first) return dropped
  const messages = listIn(body.messages)
  const latest = messages.findLastIndex((message) => isObject(message) && message.role === 'assistant')
  const { rule, text } = wordsFor(first, first.message === latest)
  const message = `messages.${first.message}.content.${first.block}: ${text}`
  throw refusalFor(incoming.protocol, { rule, status: 400, type: 'invalid_request_error', message })
}

function wordsFor({ why }: BrokenBlock, inLatest: boolean): { rule: string; text: string } {
  const invalid = 'Invalid `signature` in `thinking` block'
  if (why === 'prefix') {
    const text = `${invalid}. The block is bound to a different conversation. Remove the block, or set \`thinking.block_binding.prefix_mismatch_behavior\` to "drop_block".`
    return { rule: 'R-19', text }
  }
  if (why === 'signature' || !inLatest) return { rule: 'R-18', text: invalid }
  return {
    rule: 'R-15',
    text: '`thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified. These blocks must remain as they were in the original response.',
  }
}

interface Compaction {
  block: JsonObject
  /** What the model sees from now on. */
  view: JsonObject
  /** The block is the whole answer. */
  alone: boolean
  inputTokens: number
  outputTokens: number
}

function compactionFor(incoming: Incoming, body: JsonObject): Compaction | undefined {
  const { count } = incoming
  const onDemand = isObject(body.compaction) && body.compaction.type === 'summarize'
  const due = onDemand ? undefined : dueCompaction(body, count)
  if (!onDemand && !due) return undefined
  const text = incoming.summarise(incoming.read(body).messages)
  const block = onDemand
    ? { type: 'compaction', content: text, encrypted_content: null, signature: signatureFor(text), tool_changes: [] }
    : { type: 'compaction', content: text, encrypted_content: null }
  return {
    block,
    view: { ...body, messages: [{ role: 'user', content: [block] }, ...newestOf(body)] },
    alone: onDemand || due?.pause_after_compaction === true,
    inputTokens: tokensOf(body, count),
    outputTokens: count(text),
  }
}

/** What the model still needs unchanged: the question, and its newest results. */
function newestOf(body: JsonObject): JsonObject[] {
  const messages = Array.isArray(body.messages) ? body.messages.filter(isObject) : []
  const question = messages.findLast((message) => message.role === 'user' && !hasResults(message))
  const open = messages.at(-1)
  const calls = messages.findLastIndex((message) => message.role === 'assistant')
  return [...(question ? [question] : []), ...(open && hasResults(open) ? messages.slice(calls) : [])]
}

function signatureFor(text: string): string {
  return seal({ kind: 'compaction', words: createHash('sha256').update(text).digest('base64url') })
}

/** Compaction blocks that come back: allowed by a beta, and a signed one must be unchanged. */
function checkCompactionBlocks({ betas, protocol }: Incoming, body: JsonObject): void {
  const compactions = [...blocksOf(body)].filter(({ block }) => block.type === 'compaction')
  if (compactions.length === 0) return
  if (!betas.has('compact-2026-01-12') && !betas.has('compact-2026-09-04')) {
    const { message, block } = compactions[0]?.at ?? { message: 0, block: 0 }
    const text = `messages.${message}.content.${block}: 'compaction' is not one of the expected content block types`
    throw refusalFor(protocol, { rule: 'R-29', status: 400, type: 'invalid_request_error', message: text })
  }
  const first = compactions.find(({ block }) => typeof block.signature === 'string')
  if (!first) return
  const signature = textIn(first.block.signature)
  const payload = unseal(signature)
  if (payload ? payload.kind !== 'compaction' : !couldBeReal(signature)) {
    throw anthropicRefusal(
      400,
      'compaction_signature_invalid',
      'messages: the signature of the `compaction` block does not verify.',
    )
  }
  if (payload && signatureFor(textIn(first.block.content)) !== signature) {
    throw anthropicRefusal(
      400,
      'compaction_content_mismatch',
      'messages: the content of the `compaction` block was changed.',
    )
  }
}

/** A compaction is billed only in `iterations`; without output after it, the rest of the usage is zero. */
function usageWith(compaction: Compaction, reply: JsonObject): JsonObject {
  const usage = objectIn(reply.usage)
  const none = { cache_creation: null, cache_creation_input_tokens: 0, cache_read_input_tokens: 0 }
  const compactionUsage = {
    type: 'compaction',
    ...none,
    input_tokens: compaction.inputTokens,
    output_tokens: compaction.outputTokens,
  }
  if (compaction.alone) return { ...usage, ...none, input_tokens: 0, output_tokens: 0, iterations: [compactionUsage] }
  return { ...usage, iterations: [compactionUsage, { type: 'message', ...usage }] }
}

function hasResults(message: JsonObject): boolean {
  return (
    Array.isArray(message.content) && message.content.some((block) => isObject(block) && block.type === 'tool_result')
  )
}
