// One request for a reply, from the body to the bytes of the answer: what the server remembers is added, what the real
// API refuses is refused, the brain answers from what is left, and the cache accounts for it.

import { isObject, type Json, type JsonObject } from '../core/json.ts'
import type { Part, Reply } from '../core/message.ts'
import type { Usage } from '../core/usage.ts'
import type { Wire } from '../wires/wire.ts'
import { respond, type ResponderInput } from './responder.ts'
import type { CacheRules, Charge, PromptCache } from './cache.ts'
import { cacheRulesFor } from './cache-rules.ts'
import { callId } from './ids.ts'
import { textIn } from './json-fields.ts'
import { reasoningFieldOf, windowOf } from './known-providers.ts'
import { overflowIssue, truncatedFront } from './overflow.ts'
import { promptOf, promptTokens } from './prompt.ts'
import { refusalFor } from './refusal.ts'
import type { Incoming, Opened, Service } from './service.ts'
import { withUsageFields } from './usage-fields.ts'
import { requestOptionsOf } from './request-options.ts'

/** A scripted answer instead of the responder's; nothing: the responder's after all. */
export type Script = (situation: ResponderInput) => Partial<Reply> | undefined | Promise<Partial<Reply> | undefined>

export interface ExchangeWorld {
  service: Service
  cache: PromptCache
  script?: Script
  /** Instead of the model's own. */
  contextWindow?: number
}

export interface Exchanged {
  whole: JsonObject
  usage: Usage
  chunks(piece: number): Json[]
  commit(): void
}

/** Throws a Refusal. */
export async function exchange(incoming: Incoming, world: ExchangeWorld): Promise<Exchanged> {
  const opened = world.service.open(incoming)
  try {
    return await answered(incoming, opened, world)
  } catch (error) {
    opened.abandon?.()
    throw error
  }
}

/** What would be counted for this request, after the same checks. Throws a Refusal. */
export function countFor(incoming: Incoming, service: Service): { tokens: number; body: JsonObject } {
  const opened = service.open(incoming)
  opened.abandon?.()
  // Nothing will be written, so nothing about its length can be wrong.
  refuse(incoming, opened.body, /^max_tokens/)
  const { view } = opened.see()
  return { tokens: promptTokens(promptOf(incoming.protocol.id, view), incoming.count), body: opened.body }
}

async function answered(incoming: Incoming, opened: Opened, world: ExchangeWorld): Promise<Exchanged> {
  const { protocol, provider, model, replyId, now } = incoming
  refuse(incoming, opened.body)
  const seen = opened.see()
  const view = fitted(incoming, seen.view, world)
  const { messages, system = [], tools = [] } = incoming.read(view === seen.view ? (seen.readable ?? view) : view)
  const requested = requestOptionsOf(protocol.id, provider, view)
  const situation: ResponderInput = {
    protocol: protocol.id,
    provider,
    model,
    system,
    messages,
    tools,
    requested,
    body: view,
  }

  const scripted = await world.script?.(situation)
  const reply = replyOf(situation, scripted ?? { parts: respond(situation) }, incoming)
  const rules = cacheRulesFor(provider, model)
  const scope = scopeOf(incoming)
  const prompt = promptOf(protocol.id, view)
  const charge = world.cache.charge(scope, prompt, rules, now)
  const usage = usageOf(charge, reply, incoming)
  const made = asObject(protocol.whole(reply, { model, replyId, createdAt: Math.floor(now / 1000), usage }))
  const dressed = withUsageFields(withReasoningField(made, protocol, provider), protocol.id, provider, charge)
  const whole = seen.finish?.(dressed) ?? dressed
  rememberAnswer(world.cache, scope, rules, view, whole, incoming)

  return {
    whole,
    usage,
    chunks: (piece) =>
      withGroqFields(withoutUnasked(protocol.split(whole, piece).filter(isObject), incoming), whole, incoming),
    commit: () => seen.commit?.(whole),
  }
}

function refuse({ protocol, provider, model }: Incoming, body: JsonObject, except?: RegExp): void {
  const issue = protocol.refuse(body, { provider, model }).find(({ message }) => !except?.test(message))
  if (issue) throw refusalFor(protocol, issue, { provider })
}

/** Refuses a prompt that the model's window cannot hold; Ollama cuts it instead, and tells no one. */
function fitted(
  { protocol, provider, model, body, count }: Incoming,
  view: JsonObject,
  world: ExchangeWorld,
): JsonObject {
  const tokensIn = (one: JsonObject) => promptTokens(promptOf(protocol.id, one), count)
  const asked = protocol.id === 'ollama-chat' && isObject(body.options) ? body.options.num_ctx : undefined
  const window = typeof asked === 'number' ? asked : (world.contextWindow ?? windowOf(provider, model))
  const tokens = window === undefined ? 0 : tokensIn(view)
  if (window === undefined || tokens <= window) return view
  if (protocol.id === 'ollama-chat' && body.truncate !== false) {
    return truncatedFront(view, (one) => tokensIn(one) <= window)
  }
  throw refusalFor(protocol, overflowIssue({ provider, protocol: protocol.id, tokens, window }), { provider })
}

function replyOf(situation: ResponderInput, given: Partial<Reply>, { replyId, count }: Incoming): Reply {
  const { protocol, provider, model, requested } = situation
  let calls = 0
  const made = (given.parts ?? []).map((part): Part => {
    // What the model really thought stays with OpenAI; the words that are shown are a summary.
    if (part.type === 'reasoning' && protocol === 'openai-responses') return { ...part, hidden: true }
    if (part.type !== 'tool-call' || part.callId !== '') return part
    const id = callId(protocol, replyId, calls++)
    return { ...part, callId: id, alias: id }
  })
  const stopped = given.stop ? undefined : stoppedAt(made, requested.stop ?? [])
  const parts = stopped?.parts ?? made
  const cut = given.stop ? undefined : limited(parts, requested.maxOutput ?? Number.POSITIVE_INFINITY, count)
  const said = cut ?? parts
  const reason = cut ? 'length' : said.some((part) => part.type === 'tool-call') ? 'tool-calls' : 'done'
  const native = given.native ?? []
  return {
    role: 'assistant',
    parts: said,
    native,
    origin: given.origin ?? { protocol: native.length > 0 ? protocol : 'emulator', provider, model },
    stop: given.stop ?? { reason, ...(stopped && !cut && { sequence: stopped.sequence }) },
  }
}

/** The parts up to the first stop sequence in a text; nothing where there is none. What would follow is never written. */
function stoppedAt(
  parts: readonly Part[],
  sequences: readonly string[],
): { parts: Part[]; sequence: string } | undefined {
  for (const [index, part] of parts.entries()) {
    if (part.type !== 'text') continue
    const found = sequences
      .map((sequence) => ({ sequence, at: part.text.indexOf(sequence) }))
      .filter(({ at }) => at >= 0)
      .toSorted((a, b) => a.at - b.at)[0]
    if (!found) continue
    const text = part.text.slice(0, found.at)
    const before = parts.slice(0, index)
    return { parts: text === '' ? before : [...before, { ...part, text }], sequence: found.sequence }
  }
  return undefined
}

/** The parts that fit into the wished length; nothing where all of them do. A call that does not fit is not made. */
function limited(parts: readonly Part[], most: number, count: (text: string) => number): Part[] | undefined {
  let left = most
  const kept: Part[] = []
  for (const part of parts) {
    const size = sizeOf(part, count)
    if (size > left) {
      if (left > 0 && (part.type === 'text' || part.type === 'reasoning')) {
        kept.push({ ...part, text: part.text.slice(0, left * 4).toWellFormed() })
      }
      return kept
    }
    left -= size
    kept.push(part)
  }
  return undefined
}

function sizeOf(part: Part, count: (text: string) => number): number {
  if (part.type === 'text' || part.type === 'reasoning' || part.type === 'refusal') return count(part.text)
  if (part.type === 'tool-call') return count(part.name + (part.malformed ?? JSON.stringify(part.input)))
  return 0
}

function usageOf(charge: Charge, reply: Reply, { count }: Incoming): Usage {
  const reasoning = reply.parts.filter((part) => part.type === 'reasoning')
  const sum = (parts: readonly Part[]) => parts.reduce((total, part) => total + sizeOf(part, count), 0)
  return {
    input: charge.input,
    output: sum(reply.parts),
    cacheRead: charge.read,
    cacheWrite: Object.values(charge.written).reduce((total, tokens) => total + tokens, 0),
    reasoning: sum(reasoning),
  }
}

/** Caches are apart by key, model and what a client gives to route by. */
function scopeOf({ owner, model, body }: Incoming): string {
  return [owner, model, textIn(body.prompt_cache_key), textIn(body.user_id)].join(' ')
}

/** DeepSeek also keeps the end of what it said, which the next prompt continues from. */
function rememberAnswer(
  cache: PromptCache,
  scope: string,
  rules: CacheRules,
  view: JsonObject,
  whole: JsonObject,
  { now }: Incoming,
): void {
  if (rules.kind !== 'units' || !Array.isArray(view.messages) || !Array.isArray(whole.choices)) return
  const [choice] = whole.choices
  if (!isObject(choice) || !isObject(choice.message)) return
  const messages = [...view.messages, choice.message]
  cache.answered(scope, promptOf('openai-chat', { ...view, messages }), rules, now)
}

/** Reasoning under the name that the host gives it; OpenAI itself shows none on this wire. */
function withReasoningField(whole: JsonObject, protocol: Wire, provider: string): JsonObject {
  if (protocol.id !== 'openai-chat' || !Array.isArray(whole.choices)) return whole
  const field = reasoningFieldOf(provider)
  const choices = whole.choices.map((choice) => {
    if (!isObject(choice) || !isObject(choice.message)) return choice
    const { reasoning_content: text, ...message } = choice.message
    if (text === undefined || field === 'reasoning_content') return choice
    return { ...choice, message: { ...message, ...(field !== undefined && reasoningIn(field, text)) } }
  })
  return { ...whole, choices }
}

function reasoningIn(field: string, text: Json): JsonObject {
  if (field !== 'reasoning_details') return { [field]: text }
  return { reasoning: text, reasoning_details: [{ type: 'reasoning.text', text, format: 'unknown', index: 0 }] }
}

/** Usage comes at the end of a chat stream for those who asked for it; some hosts always send it. */
function withoutUnasked(chunks: JsonObject[], { protocol, provider, body }: Incoming): JsonObject[] {
  if (protocol.id !== 'openai-chat' || provider === 'openrouter' || provider === 'deepseek') return chunks
  if (isObject(body.stream_options) && body.stream_options.include_usage === true) return chunks
  return chunks.filter(
    (chunk) => !(Array.isArray(chunk.choices) && chunk.choices.length === 0 && chunk.usage !== undefined),
  )
}

/** Groq names the request in its first chunk, and has the usage in the last one, asked for or not. */
function withGroqFields(chunks: JsonObject[], { usage }: JsonObject, { provider, replyId }: Incoming): JsonObject[] {
  if (provider !== 'groq') return chunks
  const id = `req_${replyId.replace(/^chatcmpl-/, '')}`
  const last = chunks.findLastIndex((chunk) => Array.isArray(chunk.choices) && chunk.choices.length > 0)
  return chunks.map((chunk, i) => {
    if (i === last) return { ...chunk, x_groq: { id, ...(usage !== undefined && { usage }) } }
    return i === 0 ? { ...chunk, x_groq: { id } } : chunk
  })
}

function asObject(value: Json): JsonObject {
  return isObject(value) ? value : {}
}
