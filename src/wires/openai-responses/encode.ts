// Writes a context as a request body. Stateless by default: `store` is false, because the log is the source of truth
// and the provider's copy a cache of it; then the reasoning must be returned encrypted, so it is requested.

import { placeOf, type Context, type Note } from '../../core/context.ts'
import type { JsonObject } from '../../core/json.ts'
import { mapNames } from '../shared/names.ts'
import { cachedList, cachedElement, originsIn, type CachedElement } from '../shared/body-bytes.ts'
import type { Encoded, Target } from '../wire.ts'
import { systemTexts } from '../shared/text.ts'
import { continueText } from '../shared/injected-text.ts'
import { writeHistory } from './encode-messages.ts'
import { nameFits } from './encode-reply.ts'
import { answerFormat, cacheKey, limits, reasoningFields, toolChoice, toolsInItems, writeTools } from './options.ts'
import { messageItem, type Item } from './types.ts'

const maxNameLength = 128

export function encode(context: Context, target: Target): Encoded {
  const notes: Note[] = []
  const { options, quirks, capabilities } = target
  const names = mapNames(context, nameFits, maxNameLength, notes)
  const state = stateOf(context)
  const system = systemTexts(context, notes).join('\n\n')
  const input = writeHistory(context, target, names, state?.covers ?? 0, notes)
  // A chain stores its input items, so there the system prompt is already known; it does not store `instructions`.
  if (system && quirks.systemInInput && !state)
    input.unshift(cachedElement(systemItem(system, context, target), ['system']))
  complete(input, context, target, state !== undefined, notes)
  dropOldTriggers(input, notes)

  const store = state !== undefined || isStored(target, notes)
  const offered = withoutDeclaredTools(context, input)
  const tools = writeTools(offered, target, names.toWire, notes)
  const hasTools = tools.length > 0 || offered !== context
  const items = cachedList(input)
  const body: JsonObject = {
    model: target.model,
    ...(system && !quirks.systemInInput && { instructions: system }),
    // Required even if the chain has everything: without it "Missing required parameter: 'input'." (checked 2026-11).
    input: items,
    ...(tools.length > 0 && { tools }),
    ...toolChoice(hasTools, context, target, names.toWire, notes),
    ...reasoningFields(target, notes),
    ...answerFormat(hasTools, target, notes),
    ...limits(target, notes),
    ...cacheKey(target, notes),
    ...state?.fields,
    ...compaction(context),
    store,
    // A model without reasoning refuses it: "Encrypted content is not supported with this model."
    ...(!store && capabilities.efforts.length > 0 && { include: ['reasoning.encrypted_content'] }),
    ...(options.stream !== undefined && { stream: options.stream }),
    ...options.extra,
  }
  return { path: '/responses', body, notes, toolNames: names.changed, origins: originsIn('input', items) }
}

function isStored({ options, quirks }: Target, notes: Note[]): boolean {
  if (!options.store) return false
  if (!quirks.noStore) return true
  notes.push({ kind: 'dropped', what: 'store', why: 'the provider stores nothing' })
  return false
}

/** A summary appears in the answer when the prompt has grown past the threshold, of 1000 at least (checked 2026-11). */
function compaction({ compactAt }: Context): JsonObject {
  if (compactAt === undefined) return {}
  return { context_management: [{ type: 'compaction', compact_threshold: Math.max(1000, compactAt) }] }
}

function stateOf(context: Context): { covers: number; fields: JsonObject } | undefined {
  const { state } = context
  if (state?.kind === 'response-chain') return { covers: state.covers, fields: { previous_response_id: state.id } }
  if (state?.kind === 'conversation') return { covers: state.covers, fields: { conversation: state.id } }
  return undefined
}

function systemItem(text: string, context: Context, target: Target): Item {
  const marked = target.capabilities.cacheMarks && context.cacheAfter.includes(-1)
  const part = { type: 'input_text', text, prompt_cache_breakpoint: { mode: 'explicit' } }
  return messageItem(target.capabilities.systemRole ?? 'system', marked ? [part] : text)
}

/** The wire requires something to answer (R18), and some servers a last message that is not the model's. */
function complete(input: CachedElement[], context: Context, target: Target, hasState: boolean, notes: Note[]): void {
  const last = context.messages.at(-1)
  const endsWithReply = last?.role === 'assistant' && !target.capabilities.prefill
  const isEmpty = input.every(({ value }) => value.role === 'system') && !hasState
  if (!endsWithReply && !isEmpty) return
  input.push(cachedElement(messageItem('user', continueText), []))
  notes.push({
    kind: 'added',
    what: `user message ${JSON.stringify(continueText)}`,
    why: isEmpty
      ? 'the wire requires something to answer'
      : 'the provider requires the last message to be a user message',
    ...(last && { at: placeOf(context, context.messages.length - 1) }),
    ...(isEmpty && { rule: 'R18' }),
  })
}

/** An item that requests a compaction must be the last one: in the middle of a history it has already been answered. */
function dropOldTriggers(input: CachedElement[], notes: Note[]): void {
  const isOld = ({ value }: CachedElement, i: number) => value.type === 'compaction_trigger' && i < input.length - 1
  const remaining = input.filter((piece, i) => !isOld(piece, i))
  if (remaining.length === input.length) return
  input.splice(0, input.length, ...remaining)
  notes.push({ kind: 'dropped', what: 'compaction trigger', why: 'it may only be the last item' })
}

/** The context without the tools that items of the history already declare. */
function withoutDeclaredTools(context: Context, input: readonly CachedElement[]): Context {
  const declared = new Set(toolsInItems(input.map(({ value }) => value)).map(({ name }) => name))
  if (declared.size === 0) return context
  return { ...context, tools: context.tools.filter(({ name }) => !declared.has(name)) }
}
