// The provider's own compaction. Only that provider can read the result. Some providers return it with the reply to an
// ordinary request, which also has the text; others have a separate endpoint.

import { SynapseError } from '../../core/error.ts'
import type { Entry, Exchange } from '../../core/log.ts'
import type { Reply } from '../../core/message.ts'
import { noUsage, type Usage } from '../../core/usage.ts'
import type { CompactionDecision, Decisions, NativeSummary } from '../../context/decisions.ts'
import { asideRule } from '../../context/cache-history.ts'
import { assemble, type Assembled } from '../../context/assemble.ts'
import type { Compacting } from '../../wires/wire.ts'
import { costOf } from '../../providers/price.ts'
import { post } from '../../transport/post.ts'
import { draftOf } from '../request/draft.ts'
import type { RunContext } from '../run-context.ts'

type Summary = Omit<CompactionDecision, 'through'>

interface Aside {
  /** Sends a request that is not part of the conversation; a reply without parts means that it failed. */
  ask(prepared: Assembled): Promise<Reply>
  /** The requests that were made are added here. */
  spent: Pick<Exchange, 'usage' | 'cost'>[]
}

export async function askNatively(
  run: RunContext,
  history: readonly Entry[],
  decisions: Decisions,
  aside: Aside,
): Promise<Summary | undefined> {
  const { endpoint } = run
  const issuer = { provider: endpoint.provider.id, protocol: endpoint.protocol.id, model: endpoint.model }
  const { compacting } = endpoint.protocol
  switch (compacting?.kind) {
    case 'reply':
      return compactByReply(run, history, decisions, issuer, compacting, aside)
    case 'question':
      return compactByEndpoint(run, history, decisions, issuer, compacting, aside)
    default:
      return undefined
  }
}

type Kind<K extends Compacting['kind']> = Extract<Compacting, { kind: K }>

type Issuer = Pick<NativeSummary, 'provider' | 'protocol' | 'model'>

async function compactByReply(
  run: RunContext,
  history: readonly Entry[],
  decisions: Decisions,
  issuer: Issuer,
  { fields }: Kind<'reply'>,
  aside: Aside,
): Promise<Summary | undefined> {
  const draft = draftOf(run, history, decisions)
  const { toolChoice: _choice, stop: _stop, answerSchema: _schema, ...options } = draft.target.options
  const extra = { ...options.extra, ...fields }
  const prepared = assemble({ ...draft, target: { ...draft.target, options: { ...options, extra } } })
  const reply = await aside.ask(prepared)
  const text = reply.parts.find((part) => part.type === 'compaction')?.text
  if (!text || reply.native.length !== 1) return undefined
  return { text, native: { ...issuer, as: 'reply', items: reply.native } }
}

async function compactByEndpoint(
  run: RunContext,
  history: readonly Entry[],
  decisions: Decisions,
  issuer: Issuer,
  { path, fields, read }: Kind<'question'>,
  aside: Aside,
): Promise<Summary | undefined> {
  const { endpoint, store, owner, conversationId } = run
  const prepared = assemble(draftOf(run, history, decisions))
  const body = JSON.stringify(Object.fromEntries(fields.map((field) => [field, prepared.body[field]])))
  const about = { kind: 'added', what: 'a separate request', why: 'for a summary', rule: asideRule } as const
  const basedOn = history.at(-1)?.id ?? ''
  const notes = [about, ...prepared.notes]
  const opened = await store.openExchange(owner, conversationId, { ...issuer, basedOn, body, notes }, run.write())
  try {
    const answer = await post({
      protocol: endpoint.protocol,
      url: endpoint.baseUrl + path,
      headers: endpoint.headers,
      body,
      signal: run.signal,
      provider: endpoint.provider.name,
      ...(endpoint.keyVariable && { keyVariable: endpoint.keyVariable }),
      ...run.transport,
    })
    const { items, usage: counted = noUsage } = read(answer)
    const usage: Usage = { ...counted, ...(endpoint.offline && { offline: true }) }
    const cost = costOf(usage, endpoint.price)
    const end = { outcome: 'done', usage, ...(cost !== undefined && { cost }) } as const
    const { exchange } = await store.finishExchange(owner, opened.id, end, run.write())
    aside.spent.push(exchange)
    run.meter?.add(exchange)
    return items.length > 0 ? { native: { ...issuer, as: 'input', items } } : undefined
  } catch (error) {
    if (!(error instanceof SynapseError)) throw error
    const outcome = error.kind === 'aborted' ? 'cancelled' : 'failed'
    const failed = { outcome, failure: error.failure } as const
    const { exchange } = await store.finishExchange(owner, opened.id, failed, run.write())
    run.meter?.add(exchange)
    throw error
  }
}
