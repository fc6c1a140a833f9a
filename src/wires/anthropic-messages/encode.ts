// A context as a body of `POST /v1/messages`. All results of a turn come first in one user message, merged with the
// user's next text; input is an object; nothing is blank; user and assistant alternate.
//
// Up to `normaliseTurns` there is one turn per message, so that an index in the list is an index in the context.

import { placeOf, type Context, type Note } from '../../core/context.ts'
import { isObject, type Json, type JsonObject } from '../../core/json.ts'
import type { Message } from '../../core/message.ts'
import { fromPlace, originsIn } from '../shared/body-bytes.ts'
import { requestIds } from '../shared/ids.ts'
import { encodeCache } from '../shared/encode-cache.ts'
import { mapNames } from '../shared/names.ts'
import type { Encoded, Target } from '../wire.ts'
import { normaliseTurns, turnOf, wireList, type Turn } from '../shared/turns.ts'
import { betasOf, contextEdits, declareTools, encodeOptions, type Declared, type EncodedOptions } from './options.ts'
import { checkThinkingPrefix, keepThinking, loopAtEnd, type Thinking, type ThinkingPrefix } from './thinking.ts'
import {
  isContinued,
  isOfServerTool,
  isPaused,
  markCache,
  pairServerTools,
  placeSystem,
  resultsFirst,
  trimEnd,
} from './encode-messages.ts'
import { encodeReply, isReplayed } from './encode-reply.ts'
import { encodeResults, encodeSystem, encodeUser } from './encode-user.ts'
import {
  apiVersion,
  type Block,
  callIdGrammar,
  isThinking,
  type Item,
  protocolId,
  textBlock,
  toolNameLength,
  toolNamePattern,
  type Encoding,
} from './types.ts'

export function encode(context: Context, target: Target): Encoded {
  const notes: Note[] = []
  const names = mapNames(context, toolNamePattern, toolNameLength, notes)
  const idOf = requestIds(context, target, protocolId, callIdGrammar, (reply) => isReplayed(reply, target))
  const encoding: Encoding = { target, notes, names, idOf }

  const head = { system: encodeSystem(context.system, 'system', encoding), ...declareTools(context, encoding) }
  const history = writeHistory(context, encoding)
  const plan = planTurns(head, history, context, encoding)
  const { all, sent, isTail } = finishTurns(plan, history, context, encoding)
  const marked = markCache(
    isTail ? { system: [], tools: [], turns: sent } : { ...head, turns: sent },
    {
      after: target.capabilities.cacheMarks ? context.cacheAfter.filter((i) => i < 0 || i >= history.start) : [],
      ttl: target.options.cacheTtl,
      limit: isObject(target.options.extra?.cache_control) ? 3 : 4,
    },
    notes,
  )
  const messages = wireList(
    marked.turns,
    (turn) => [wireMessage(turn)],
    (turn) => placesIn(turn, context),
  )
  const { betas, ...extra } = target.options.extra ?? {}
  const body: JsonObject = {
    model: target.model,
    max_tokens: plan.options.maxTokens,
    ...(marked.system.length > 0 && { system: marked.system }),
    messages,
    ...(marked.tools.length > 0 && { tools: marked.tools }),
    ...(plan.thinking.config && { thinking: plan.thinking.config }),
    ...plan.options.fields,
    ...threadOf(context, target),
    // Not combined with a summary on demand.
    ...(extra.compaction === undefined && contextEdits(sent, context, plan.thinking.state === 'on')),
    ...extra,
  }
  return {
    ...onCloud(body, headersFor(body, betas), target),
    notes,
    toolNames: names.changed,
    origins: originsIn('messages', messages),
    ...basisOf(head, all, plan, context),
  }
}

type Head = Declared & { system: Block[] }

interface Plan {
  options: EncodedOptions
  thinking: Thinking
  /** The turns without the thinking that must not be sent. */
  turns: readonly Turn<Item>[]
  /** The turns with all thinking, by which the plan was made. */
  draft: readonly Turn<Item>[]
  /** Only of models that accept thinking after its original prefix alone. */
  prefix: ThinkingPrefix | undefined
}

/** Options depend on how the history ends, and which thinking is sent depends on the options. */
function planTurns(head: Head, history: History, context: Context, encoding: Encoding): Plan {
  const { target, notes } = encoding
  const { midSystem, boundReasoning } = target.capabilities
  const rules = { ...turnRules, startWithUser: !history.compacted }
  const draft = normaliseTurns(placeSystem(history.turns, midSystem, []), rules, [])
  const last = context.messages[draft.at(-1)?.items.at(-1)?.message ?? -1]
  const options = encodeOptions(head, loopAtEnd(draft, isPaused(last, target)), encoding)
  const prefix = boundReasoning === true ? checkThinkingPrefix(head, draft, context.messages) : undefined
  const { turns, thinking } = history.thinks
    ? keepThinking(history.turns, options.thinking, prefix, encoding)
    : { turns: history.turns, thinking: options.thinking }
  return { options, thinking, turns: placeSystem(turns, midSystem, notes), draft, prefix }
}

interface FinishedTurns {
  all: Turn<Item>[]
  /** All of them, or those that the provider's thread does not have yet. */
  sent: Turn<Item>[]
  isTail: boolean
}

function finishTurns(plan: Plan, history: History, context: Context, { target, notes }: Encoding): FinishedTurns {
  const covers = context.state?.kind === 'thread' ? Math.max(0, context.state.covers - history.start) : 0
  const finish = (turns: readonly Turn<Item>[], into: Note[]): Turn<Item>[] => {
    const stays = isContinued(
      turns,
      context.messages,
      target,
      plan.thinking.state === 'on' || plan.prefix !== undefined,
    )
    const startWithUser = !history.compacted && turns === plan.turns
    const rules = { ...turnRules, startWithUser, ...(!stays && { endWithUser: 'R-14' }) }
    return trimEnd(normaliseTurns(turns, rules, into).map(resultsFirst), context, into)
  }
  if (covers === 0) {
    const all = finish(plan.turns, notes)
    return { all, sent: all, isTail: false }
  }
  const all = finish(plan.turns, [])
  const tail = plan.turns.slice(covers)
  // A paused reply is continued by sending nothing new.
  const isNothingNew = tail.length === 0 && isPaused(context.messages.at(-1), target)
  return { all, sent: isNothingNew ? [] : finish(tail, notes), isTail: true }
}

/** Unchanged turns need not be hashed again: hashing takes longer than everything else. */
function basisOf(
  head: Head,
  all: readonly Turn<Item>[],
  { draft, prefix }: Plan,
  context: Context,
): { basis?: string } {
  if (!prefix) return {}
  const isDraft = all.length === draft.length && all.every((turn, i) => turn === draft[i])
  return { basis: (isDraft ? prefix : checkThinkingPrefix(head, all, context.messages)).basis }
}

const turnRules = {
  text: (text: string): Item => ({ block: textBlock(text), message: -1 }),
  join: ['system', 'user', 'assistant', 'tool'] as const,
  toolIsUser: true,
}

interface History {
  turns: readonly Turn<Item>[]
  /** The index of the first message that is sent: a summary signed by the provider replaces everything before it. */
  start: number
  compacted: boolean
  /** One of its replies is sent with thinking. */
  thinks: boolean
}

function writeHistory(context: Context, encoding: Encoding): History {
  const { target, names, idOf } = encoding
  const notes: Note[] = []
  const { lookups, cached } = encodeCache(context, target, protocolId, { idOf, toWire: names.toWire }, notes)
  const scribe: Encoding = { target, notes, names: lookups, idOf: lookups.idOf }
  const write = (message: Message, at: string, index: number): Turn<Item> => {
    const items = writeMessage(message, at, scribe).map((block) => ({ block, message: index }))
    return turnOf(message.role, items, at)
  }
  const turns: Turn<Item>[] = []
  /** How many notes there were before each message. */
  const noted: number[] = []
  /** One block of each type that is sent. */
  const kinds = new Map<string, Block>()
  let summary = -1
  for (let index = 0; index < context.messages.length; index++) {
    noted.push(notes.length)
    const turn = cached(context.messages[index] as Message, index, write)
    for (const { block } of turn.items) {
      if (!isSignedSummary(block)) continue
      summary = index
      kinds.clear()
      break
    }
    for (const { block } of turn.items) if (!kinds.has(block.type)) kinds.set(block.type, block)
    turns.push(turn)
  }
  const start = Math.max(0, summary)
  if (start > 0) {
    const why = 'the summary after them replaces them'
    encoding.notes.push({ kind: 'dropped', what: `the first ${start} messages`, why, rule: 'compaction' })
  }
  const covered = context.state?.kind === 'thread' ? context.state.covers : 0
  encoding.notes.push(...notes.slice(noted[Math.max(start, covered)] ?? notes.length))
  const hasBlock = (is: (block: Block) => boolean) => [...kinds.values()].some(is)
  const placed = placeSystem(turns.slice(start), target.capabilities.midSystem, encoding.notes)
  return {
    turns: hasBlock(isOfServerTool) ? pairServerTools(placed, context.messages, target, encoding.notes) : placed,
    thinks: hasBlock(isThinking),
    start,
    compacted: summary >= 0,
  }
}

function writeMessage(message: Message, at: string, encoding: Encoding): Block[] {
  switch (message.role) {
    case 'system':
      return encodeSystem(message.parts, at, encoding)
    case 'user':
      return encodeUser(message, at, encoding)
    case 'tool':
      return encodeResults(message, at, encoding)
    case 'assistant':
      return encodeReply(message, at, encoding)
  }
}

/** Compaction on demand: its block must be the first of the conversation (checked 2026-11). */
function isSignedSummary(block: Block): boolean {
  return block.type === 'compaction' && typeof block.signature === 'string'
}

function placesIn({ items }: Turn<Item>, context: Context): readonly string[] {
  const first = items[0]?.message ?? -1
  if (first >= 0 && items.every(({ message }) => message === first)) return fromPlace(placeOf(context, first))
  const indexes = new Set(items.map(({ message }) => message).filter((index) => index >= 0))
  return [...indexes].flatMap((index) => fromPlace(placeOf(context, index)))
}

function wireMessage({ role, items }: Turn<Item>): JsonObject {
  return { role: role === 'tool' ? 'user' : role, content: items.map(({ block }) => block) }
}

function threadOf({ state }: Context, { options }: Target): JsonObject {
  if (state?.kind === 'thread') return { thread: { type: 'continue', previous_message_id: state.id } }
  return options.store ? { thread: { type: 'create' } } : {}
}

function headersFor(body: JsonObject, betas: Json | undefined): Record<string, string> {
  const all = new Set([...betasOf(body), ...(Array.isArray(betas) ? betas.map(String) : [])])
  return { 'anthropic-version': apiVersion, ...(all.size > 0 && { 'anthropic-beta': [...all].join(',') }) }
}

// The same request with the model in the path: InvokeModel of Amazon Bedrock, and Google Vertex AI.

type Address = Pick<Encoded, 'path' | 'headers' | 'body'>

function onCloud(body: JsonObject, headers: Record<string, string>, target: Target): Address {
  const { cloud } = target.quirks
  if (!cloud) return { path: '/messages', headers, body }
  const { model, stream, ...rest } = body
  const name = encodeURIComponent(String(model))
  if (cloud === 'vertex') {
    const { 'anthropic-version': _, ...betas } = headers
    return {
      // Google keeps `@`.
      path: `/models/${name.replaceAll('%40', '@')}:${stream ? 'streamRawPredict' : 'rawPredict'}`,
      headers: betas,
      body: { anthropic_version: 'vertex-2023-10-16', ...rest, ...(stream !== undefined && { stream }) },
    }
  }
  const betas = headers['anthropic-beta']?.split(',')
  return {
    path: `/model/${name}/invoke${stream ? '-with-response-stream' : ''}`,
    headers: {},
    body: { anthropic_version: 'bedrock-2023-05-31', ...(betas && { anthropic_beta: betas }), ...rest },
  }
}
