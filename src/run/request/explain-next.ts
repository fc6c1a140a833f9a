// The next request, explained and not sent: nothing is recorded, and no decision is stored.

import type { Entry } from '../../core/log.ts'
import { explain, type Explained } from '../../context/explain.ts'
import type { Assembled } from '../../context/assemble.ts'
import { planRequest } from './plan-request.ts'
import type { RunContext } from '../run-context.ts'

/** Explaining needs no lease, and no observer. */
export type Looking = Pick<
  RunContext,
  | 'store'
  | 'owner'
  | 'conversationId'
  | 'endpoint'
  | 'system'
  | 'tools'
  | 'absentTools'
  | 'options'
  | 'policy'
  | 'transport'
>

export interface NextRequest {
  request: Assembled
  explained: Explained
  /** Why no cache hit is expected, if so. */
  cold?: string
}

export async function explainNext(looking: Looking, history: readonly Entry[]): Promise<NextRequest> {
  const { store, owner, endpoint } = looking
  const { prepared, forecast, past } = await planRequest(lookingOn(looking), history, { look: true })
  const bytes = past.last && (await store.blob(owner, past.last.bodySha256))
  const explained = explain({
    history: history.map((entry) => entry.message),
    assembled: prepared,
    ratio: past.ratio,
    cached: forecast.cached,
    ...(endpoint.price && { price: endpoint.price }),
    ...(endpoint.capabilities.imageTokens && { images: endpoint.capabilities.imageTokens }),
    ...(bytes && { before: new TextDecoder().decode(bytes) }),
  })
  return { request: prepared, explained, ...(past.cold !== undefined && { cold: past.cold }) }
}

/** A run that does nothing. */
export function lookingOn(looking: Looking): RunContext {
  const signal = new AbortController().signal
  return { ...looking, maxSteps: 0, signal, write: () => ({}), emit: () => {} }
}
