// The next request of a conversation, explained and not sent, compared with the previous one to the same model.

import type { Json } from '../../core/json.ts'
import type { Entry, Exchange } from '../../core/log.ts'
import type { RunSettings, Runtime } from '../../run/conversation.ts'
import type { Inspected } from '../../run/request/inspect.ts'
import { prefixBreak, type PrefixBreak } from './prefix-break.ts'

export interface Preview extends Inspected {
  /** Bytes of the body. */
  size: number
  /** Tokens as counted by the provider, if requested. */
  exact?: number
  /** The last request to the same model, and where this one first differs. */
  previous?: { exchangeId: string; at: string; breaks?: PrefixBreak }
  history: Entry[]
}

export interface PreviewOptions extends Runtime {
  conversationId: string
  history: Entry[]
  settings: RunSettings
  /** Ask the provider how many tokens it counts. */
  exact?: boolean
}

export async function preview(at: PreviewOptions): Promise<Preview> {
  const { conversationId, history, settings } = at
  const { inspectRequest } = await import('../../run/request/inspect.ts')
  const next = await inspectRequest(at, conversationId, history, settings)
  const exact = at.exact ? await exactCount(at) : undefined
  const [last] = await lastRequests(at, 1, (sent) => isSame(sent, next))
  const breaks = last && prefixBreak(last.body, next.body)
  return {
    ...next,
    size: Buffer.byteLength(JSON.stringify(next.body)),
    ...(exact !== undefined && { exact }),
    ...(last && {
      previous: { exchangeId: last.exchange.id, at: last.exchange.startedAt, ...(breaks && { breaks }) },
    }),
    history,
  }
}

async function exactCount({ conversationId, history, settings, ...local }: PreviewOptions): Promise<number> {
  const { countTokens } = await import('../../run/request/count-tokens.ts')
  return (await countTokens(local, conversationId, history, settings)).tokens
}

export interface SentRequest {
  exchange: Exchange
  body: Json
}

/** The last requests that are still stored, newest first. */
export async function lastRequests(
  { store, owner, conversationId }: Pick<PreviewOptions, 'store' | 'owner' | 'conversationId'>,
  limit: number,
  matches: (exchange: Exchange) => boolean = () => true,
): Promise<SentRequest[]> {
  const { items } = await store.exchanges(owner, conversationId, { limit: 200 })
  const requests: SentRequest[] = []
  for (const exchange of items) {
    if (requests.length === limit) break
    if (!matches(exchange)) continue
    const bytes = await store.blob(owner, exchange.bodySha256)
    if (bytes) requests.push({ exchange, body: JSON.parse(new TextDecoder().decode(bytes)) as Json })
  }
  return requests
}

function isSame(exchange: Exchange, target: Pick<Exchange, 'provider' | 'protocol' | 'model'>): boolean {
  const { provider, protocol, model, notes } = exchange
  if (provider !== target.provider || protocol !== target.protocol || model !== target.model) return false
  // A request for a summary is not part of the conversation.
  return !notes.some((note) => note.rule === 'compaction-request')
}
