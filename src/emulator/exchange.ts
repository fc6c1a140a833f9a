// One request for a reply, from the body to the bytes of the answer: the server's state is added, what the real API
// refuses is refused, the responder answers, and the cache accounts for it.

import { createHash } from 'node:crypto'
import { isObject, type JsonObject } from '../core/json.ts'
import type { Part, Reply } from '../core/message.ts'
import type { Usage } from '../core/usage.ts'
import type { Charge, Exchanged, Incoming, Opened, ServerState, WireService } from '../wires/service.ts'
import { objectIn, textIn } from '../wires/shared/json-fields.ts'
import { lettersFrom } from '../wires/shared/letters.ts'
import { promptTokens } from '../wires/shared/prompt.ts'
import { refusalFor } from '../wires/shared/refusal.ts'
import { callable } from '../wires/shared/request-options.ts'
import { cacheRulesFor } from './cache-rules.ts'
import type { CacheRules, PromptCache } from './cache.ts'
import { quirksOf, windowOf } from './known-providers.ts'
import { respond, type ResponderInput } from './responder.ts'

/** A scripted answer instead of the responder's; undefined: the responder's after all. */
export type Script = (situation: ResponderInput) => Partial<Reply> | undefined | Promise<Partial<Reply> | undefined>

export interface ExchangeWorld {
  state: ServerState
  cache: PromptCache
  script?: Script
  /** Overrides the model's own. */
  contextWindow?: number
}

/** Throws a Refusal. */
export async function exchange(incoming: Incoming, world: ExchangeWorld): Promise<Exchanged> {
  const opened = world.state.open(incoming)
  try {
    return await answer(incoming, opened, world)
  } catch (error) {
    opened.abandon?.()
    throw error
  }
}

/** The token count of this request, after the same checks. Throws a Refusal. */
export function countFor(incoming: Incoming, state: ServerState): { tokens: number; body: JsonObject } {
  const opened = state.open(incoming)
  opened.abandon?.()
  // Nothing is generated, so the output limit does not matter.
  refuse(incoming, opened.body, /^max_tokens/)
  const { view } = opened.see()
  return { tokens: promptTokens(incoming.service.prompt(view), incoming.count), body: opened.body }
}

async function answer(incoming: Incoming, opened: Opened, world: ExchangeWorld): Promise<Exchanged> {
  const { protocol, service, provider, model, replyId, now } = incoming
  refuse(incoming, opened.body)
  const seen = opened.see()
  const view = fitWindow(incoming, seen.view, world)
  const {
    messages,
    system = [],
    tools: declared = [],
  } = incoming.read(view === seen.view ? (seen.readable ?? view) : view)
  const requested = service.options(service.withUsualNames?.(view) ?? view, provider)
  const situation: ResponderInput = {
    protocol: protocol.id,
    provider,
    model,
    system,
    messages,
    tools: callable(declared, requested).tools,
    requested,
    body: view,
  }

  const scripted = await world.script?.(situation)
  const reply = replyOf(situation, scripted ?? { parts: respond(situation) }, incoming)
  const rules = cacheRulesFor(provider, model)
  const scope = scopeOf(incoming)
  const prompt = service.prompt(view)
  const charge = world.cache.charge(scope, prompt, rules, now)
  const usage = usageOf(charge, reply, incoming)
  const made = objectIn(protocol.whole(reply, { model, replyId, createdAt: Math.floor(now / 1000), usage }))
  const dressed = service.complete?.(made, { provider, quirks: quirksOf(provider, protocol.id), charge }) ?? made
  const whole = seen.finish?.(dressed) ?? dressed
  rememberAnswer(world.cache, scope, rules, view, whole, incoming)

  return {
    whole,
    usage,
    chunks(piece) {
      const chunks = protocol.split(whole, piece).filter(isObject)
      return service.chunks?.(chunks, whole, incoming) ?? chunks
    },
    commit: () => seen.commit?.(whole),
  }
}

function refuse({ protocol, provider, model }: Incoming, body: JsonObject, except?: RegExp): void {
  const issue = protocol.refuse(body, { provider, model }).find(({ message }) => !except?.test(message))
  if (issue) throw refusalFor(protocol, issue, { provider })
}

/** Refuses a prompt that does not fit the model's window, if the server does not truncate it. */
function fitWindow(
  { protocol, service, provider, model, body, count }: Incoming,
  view: JsonObject,
  world: ExchangeWorld,
): JsonObject {
  const tokensIn = (body: JsonObject) => promptTokens(service.prompt(body), count)
  const window = service.window?.(body) ?? world.contextWindow ?? windowOf(provider, model)
  const tokens = window === undefined ? 0 : tokensIn(view)
  if (window === undefined || tokens <= window) return view
  const truncated = service.truncate?.(view, (body) => tokensIn(body) <= window)
  if (truncated) return truncated
  throw refusalFor(protocol, service.overflow({ provider, tokens, window }), { provider })
}

function replyOf(situation: ResponderInput, scripted: Partial<Reply>, { service, replyId, count }: Incoming): Reply {
  const { protocol, provider, model, requested } = situation
  let calls = 0
  const scriptedParts = (scripted.parts ?? []).map((part): Part => {
    if (part.type === 'reasoning' && service.hidesReasoning) return { ...part, hidden: true }
    if (part.type !== 'tool-call' || part.callId !== '') return part
    const id = callId(service, replyId, calls++)
    return { ...part, callId: id, alias: id }
  })
  const stopped = scripted.stop ? undefined : stoppedAt(scriptedParts, requested.stop ?? [])
  const parts = stopped?.parts ?? scriptedParts
  const limitedParts = scripted.stop
    ? undefined
    : limitParts(parts, requested.maxOutput ?? Number.POSITIVE_INFINITY, count)
  const sent = limitedParts ?? parts
  const reason = limitedParts ? 'length' : sent.some((part) => part.type === 'tool-call') ? 'tool-calls' : 'done'
  const native = scripted.native ?? []
  return {
    role: 'assistant',
    parts: sent,
    native,
    origin: scripted.origin ?? { protocol: native.length > 0 ? protocol : 'emulator', provider, model },
    stop: scripted.stop ?? { reason, ...(stopped && !limitedParts && { sequence: stopped.sequence }) },
  }
}

/**
 * The parts up to the first stop sequence in a text; undefined if there is none. What would follow is never written.
 */
function stoppedAt(
  parts: readonly Part[],
  sequences: readonly string[],
): { parts: Part[]; sequence: string } | undefined {
  for (const [index, part] of parts.entries()) {
    if (part.type !== 'text') continue
    const match = sequences
      .map((sequence) => ({ sequence, at: part.text.indexOf(sequence) }))
      .filter(({ at }) => at >= 0)
      .toSorted((a, b) => a.at - b.at)[0]
    if (!match) continue
    const text = part.text.slice(0, match.at)
    const earlier = parts.slice(0, index)
    return { parts: text === '' ? earlier : [...earlier, { ...part, text }], sequence: match.sequence }
  }
  return undefined
}

/** The parts that fit the requested length; undefined if all of them do. A call that does not fit is not made. */
function limitParts(parts: readonly Part[], maxTokens: number, count: (text: string) => number): Part[] | undefined {
  let remaining = maxTokens
  const fitting: Part[] = []
  for (const part of parts) {
    const size = sizeOf(part, count)
    if (size > remaining) {
      if (remaining > 0 && (part.type === 'text' || part.type === 'reasoning')) {
        fitting.push({ ...part, text: part.text.slice(0, remaining * 4).toWellFormed() })
      }
      return fitting
    }
    remaining -= size
    fitting.push(part)
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

/** Caches are separated by key, model and the client's routing key. */
function scopeOf({ owner, model, body }: Incoming): string {
  return [owner, model, textIn(body.prompt_cache_key), textIn(body.user_id)].join(' ')
}

/** DeepSeek also caches the end of its answer, which the next prompt continues from. */
function rememberAnswer(
  cache: PromptCache,
  scope: string,
  rules: CacheRules,
  view: JsonObject,
  whole: JsonObject,
  { service, now }: Incoming,
): void {
  if (rules.kind !== 'units' || !Array.isArray(view.messages) || !Array.isArray(whole.choices)) return
  const [choice] = whole.choices
  if (!isObject(choice) || !isObject(choice.message)) return
  const messages = [...view.messages, choice.message]
  cache.answered(scope, service.prompt({ ...view, messages }), rules, now)
}

// Ids of the emulator: the same for the same request, so that runs can be compared, and never twice, because a repeated
// request gets a number.

interface Ids {
  /** The id of the reply to this request. */
  reply(prefix: string, request: string): string
}

export function createIds(): Ids {
  const seen = new Map<string, number>()
  return {
    reply(prefix, request) {
      const name = createHash('sha256').update(request).digest('base64url')
      const times = (seen.get(name) ?? 0) + 1
      seen.set(name, times)
      return `${prefix}${lettersFrom(`${name} ${times}`, 24)}`
    },
  }
}

/** The id of a reply's n-th call, in the form of the wire. */
function callId({ callId: inForm }: WireService, replyId: string, n: number): string {
  const letters = (length: number) => lettersFrom(`${replyId} ${n}`, length)
  return inForm?.(letters) ?? `call_${letters(24)}`
}
