// The provider's own compaction. What comes of it only its provider can read, so it goes back to no one else: OpenAI
// gives a list of items with a sealed one at its end, Anthropic a signed block that has the words too.

import { SynapseError } from '../core/error.ts'
import { isObject, type Json } from '../core/json.ts'
import type { Entry, Exchange } from '../core/log.ts'
import type { Reply } from '../core/message.ts'
import { noUsage, type Usage } from '../core/usage.ts'
import type { CompactionDecision, Decisions, NativeSummary } from '../context/decisions.ts'
import { asideRule } from '../context/past.ts'
import { assemble, type Assembled } from '../context/prepare.ts'
import { costOf } from '../providers/cost.ts'
import { post } from '../transport/post.ts'
import { draftOf } from './draft.ts'
import type { Running } from './running.ts'

type Summary = Omit<CompactionDecision, 'through'>

interface Aside {
  /** Sends a request that is no part of the conversation; a reply without parts is one that failed. */
  ask(prepared: Assembled): Promise<Reply>
  /** What it cost is put here. */
  spent: Pick<Exchange, 'usage' | 'cost'>[]
}

export async function askNatively(
  run: Running,
  history: readonly Entry[],
  decisions: Decisions,
  aside: Aside,
): Promise<Summary | undefined> {
  const { endpoint } = run
  const issuer = { provider: endpoint.provider.id, protocol: endpoint.protocol.id, model: endpoint.model }
  switch (endpoint.protocol.id) {
    case 'openai-responses':
      return compactItems(run, history, decisions, issuer, aside)
    case 'anthropic-messages':
      return summariseOnDemand(run, history, decisions, issuer, aside)
    default:
      return undefined
  }
}

type Issuer = Pick<NativeSummary, 'provider' | 'protocol' | 'model'>

/** `compaction: summarize` on an ordinary request; the answer is one block and nothing else (beta, checked 2026-11). */
async function summariseOnDemand(
  run: Running,
  history: readonly Entry[],
  decisions: Decisions,
  issuer: Issuer,
  aside: Aside,
): Promise<Summary | undefined> {
  const draft = draftOf(run, history, decisions)
  const { toolChoice: _choice, stop: _stop, answerSchema: _schema, ...options } = draft.target.options
  const extra = { ...options.extra, compaction: { type: 'summarize' } }
  const prepared = assemble({ ...draft, target: { ...draft.target, options: { ...options, extra } } })
  const reply = await aside.ask(prepared)
  const text = reply.parts.find((part) => part.type === 'compaction')?.text
  if (!text || reply.native.length !== 1) return undefined
  return { text, native: { ...issuer, as: 'reply', items: reply.native } }
}

/** `POST /responses/compact`: its output goes on as it is (checked 2026-11). */
async function compactItems(
  run: Running,
  history: readonly Entry[],
  decisions: Decisions,
  issuer: Issuer,
  aside: Aside,
): Promise<Summary | undefined> {
  const { endpoint, store, owner, conversationId } = run
  const prepared = assemble(draftOf(run, history, decisions))
  const { model, input, instructions, prompt_cache_key: key } = prepared.body
  const body = JSON.stringify({ model, input, instructions, prompt_cache_key: key })
  const about = { kind: 'added', what: 'a request of its own', why: 'for a summary', rule: asideRule } as const
  const basedOn = history.at(-1)?.id ?? ''
  const asked = { provider: issuer.provider, protocol: issuer.protocol, model: issuer.model }
  const notes = [about, ...prepared.notes]
  const opened = await store.openExchange(owner, conversationId, { ...asked, basedOn, body, notes }, run.write())
  try {
    const whole = await post({
      protocol: endpoint.protocol,
      url: `${endpoint.baseUrl}/responses/compact`,
      headers: endpoint.headers,
      body,
      signal: run.signal,
      provider: endpoint.provider.name,
      ...(endpoint.keyVariable && { keyVariable: endpoint.keyVariable }),
      ...run.transport,
    })
    const items = isObject(whole) && Array.isArray(whole.output) ? whole.output : []
    const usage: Usage = { ...usageIn(whole), ...(endpoint.offline && { offline: true }) }
    const cost = costOf(usage, endpoint.price)
    const end = { outcome: 'done', usage, ...(cost !== undefined && { cost }) } as const
    const { exchange } = await store.finishExchange(owner, opened.id, end, run.write())
    aside.spent.push(exchange)
    const sealed = items.some((item) => isObject(item) && item.type === 'compaction' && item.encrypted_content)
    return sealed ? { native: { ...issuer, as: 'input', items } } : undefined
  } catch (error) {
    if (!(error instanceof SynapseError)) throw error
    const outcome = error.kind === 'aborted' ? 'cancelled' : 'failed'
    await store.finishExchange(owner, opened.id, { outcome, failure: error.failure }, run.write())
    throw error
  }
}

function usageIn(whole: Json): Usage {
  const usage = isObject(whole) && isObject(whole.usage) ? whole.usage : {}
  const details = isObject(usage.input_tokens_details) ? usage.input_tokens_details : {}
  const count = (value: Json | undefined): number => (typeof value === 'number' ? value : 0)
  return {
    ...noUsage,
    input: count(usage.input_tokens),
    output: count(usage.output_tokens),
    cacheRead: count(details.cached_tokens),
  }
}
