// The request of a client, stored with the provider requests that were made from it: its exact bytes, and the client's
// name.

import type { Exchange } from '../../core/log.ts'
import type { NewRecord } from '../../store/records.ts'
import type { Store } from '../../store/store.ts'

const kind = 'door-request'

/** A client's request, as it is shown. */
export interface ClientRequest {
  /** The name that the client reports. */
  client?: string
  protocol: string
  path: string
  bodySha256: string
}

export function clientRequestRecord(
  owner: string,
  { exchangeId, conversationId }: { exchangeId: string; conversationId: string },
  { client, protocol, path, bodySha256 }: ClientRequest,
): NewRecord {
  const data = { protocol, path, bodySha256, ...(client !== undefined && { client }) }
  return { owner, kind, id: exchangeId, conversationId, data }
}

/** Undefined: the exchange was not made for a client of another API. */
export async function clientRequestOf(
  store: Store,
  owner: string,
  exchangeId: string,
): Promise<ClientRequest | undefined> {
  const record = await store.record(owner, kind, exchangeId)
  if (!record) return undefined
  const { protocol, path, bodySha256, client } = record.data
  if (typeof protocol !== 'string' || typeof path !== 'string' || typeof bodySha256 !== 'string') return undefined
  return { protocol, path, bodySha256, ...(typeof client === 'string' && { client }) }
}

export async function withClientRequest<E extends Exchange>(
  store: Store,
  owner: string,
  exchange: E,
): Promise<E & { clientRequest?: ClientRequest }> {
  const clientRequest = await clientRequestOf(store, owner, exchange.id)
  return { ...exchange, ...(clientRequest && { clientRequest }) }
}
