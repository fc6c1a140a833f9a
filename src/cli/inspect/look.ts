// The next request of a conversation, looked at and not sent, beside the one that went to the same model before.

import type { Note } from '../../core/context.ts'
import type { Json, JsonObject } from '../../core/json.ts'
import type { Entry, Exchange } from '../../core/log.ts'
import type { Explained } from '../../context/explain.ts'
import type { RunSettings, Surroundings } from '../../run/conversation.ts'
import { prefixBreak, type PrefixBreak } from './prefix-break.ts'

export interface Looked {
  provider: string
  protocol: string
  model: string
  url: string
  /** Bytes of the body. */
  size: number
  body: JsonObject
  notes: Note[]
  explained: Explained
  /** Why nothing is expected in the provider's cache, if so. */
  cold?: string
  /** The last request to the same model, and where this one stops being the same. */
  previous?: { exchangeId: string; at: string; breaks?: PrefixBreak }
  history: Entry[]
}

export interface LookAt extends Surroundings {
  conversationId: string
  history: Entry[]
  settings: RunSettings
}

export async function look(at: LookAt): Promise<Looked> {
  const { store, owner, conversationId, settings } = at
  const [{ explainNext }, { withMedia }] = await Promise.all([
    import('../../run/explain-next.ts'),
    import('../../run/whole-media.ts'),
  ])
  const history = await withMedia(store, owner, at.history)
  const { endpoint, transport } = await at.endpoint(settings.model, settings.protocol)
  const { request, explained, cold } = await explainNext(
    {
      store,
      owner,
      conversationId,
      endpoint,
      transport,
      system: settings.system ? [{ type: 'text', text: settings.system }] : [],
      tools: settings.tools ?? [],
      options: { cacheKey: conversationId, ...settings.options },
      policy: settings.policy ?? 'economy',
    },
    history,
  )
  const asked = { provider: endpoint.provider.id, protocol: endpoint.protocol.id, model: endpoint.model }
  const [last] = await lastRequests({ store, owner, conversationId }, 1, (one) => isSame(one, asked))
  const breaks = last && prefixBreak(last.body, request.body)
  return {
    ...asked,
    url: endpoint.baseUrl + request.path,
    size: Buffer.byteLength(JSON.stringify(request.body)),
    body: request.body,
    notes: request.notes,
    explained,
    ...(cold !== undefined && { cold }),
    ...(last && {
      previous: { exchangeId: last.exchange.id, at: last.exchange.startedAt, ...(breaks && { breaks }) },
    }),
    history,
  }
}

export interface SentRequest {
  exchange: Exchange
  body: Json
}

/** The last requests that are still kept, the newest first. */
export async function lastRequests(
  { store, owner, conversationId }: Pick<LookAt, 'store' | 'owner' | 'conversationId'>,
  most: number,
  wanted: (exchange: Exchange) => boolean = () => true,
): Promise<SentRequest[]> {
  const { items } = await store.exchanges(owner, conversationId, { limit: 200 })
  const found: SentRequest[] = []
  for (const exchange of items) {
    if (found.length === most) break
    if (!wanted(exchange)) continue
    const bytes = await store.blob(owner, exchange.bodySha256)
    if (bytes) found.push({ exchange, body: JSON.parse(new TextDecoder().decode(bytes)) as Json })
  }
  return found
}

function isSame(exchange: Exchange, asked: Pick<Exchange, 'provider' | 'protocol' | 'model'>): boolean {
  const { provider, protocol, model, notes } = exchange
  if (provider !== asked.provider || protocol !== asked.protocol || model !== asked.model) return false
  // A request for a summary is no part of the conversation.
  return !notes.some((note) => note.rule === 'compaction-request')
}
