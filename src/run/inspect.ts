// The request that would be sent now, without sending it: the body as it is, and everything in which it differs from
// the log. The key is not in it.

import type { Note } from '../core/context.ts'
import type { JsonObject } from '../core/json.ts'
import type { Entry } from '../core/log.ts'
import { assemble, type Estimate } from '../context/prepare.ts'
import { readDecisions } from '../context/recorded.ts'
import { draftOf, type DraftSource } from './draft.ts'
import type { Surroundings } from './settings.ts'
import { withMedia } from './whole-media.ts'

/** A request as it would go out. */
export interface Inspected {
  provider: string
  protocol: string
  model: string
  url: string
  body: JsonObject
  /** What differs from the log, and why. */
  notes: Note[]
  estimate: Estimate
}

export async function inspectRequest(
  { store, owner }: Surroundings,
  conversationId: string,
  log: readonly Entry[],
  run: DraftSource,
): Promise<Inspected> {
  const history = await withMedia(store, owner, log)
  const overlays = await store.overlays(owner, conversationId)
  const { endpoint } = run
  const { path, body, notes, estimate } = assemble(draftOf(run, history, readDecisions(history, overlays)))
  return {
    provider: endpoint.provider.id,
    protocol: endpoint.protocol.id,
    model: endpoint.model,
    url: endpoint.baseUrl + path,
    body,
    notes,
    estimate,
  }
}
