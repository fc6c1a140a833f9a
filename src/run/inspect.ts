// The request that would be sent now, without sending it: the body as it is, and everything in which it differs from
// the log. The key is not in it.

import type { Note } from '../core/context.ts'
import type { JsonObject } from '../core/json.ts'
import type { Entry } from '../core/log.ts'
import { noUsage } from '../core/usage.ts'
import type { Explained } from '../context/explain.ts'
import type { Estimate } from '../context/assemble.ts'
import { stepSettings } from './start-run.ts'
import { explainNext, type Looking } from './explain-next.ts'
import { routedModel } from './route.ts'
import type { RunSettings, Runtime } from './settings.ts'
import { loadMedia } from './load-media.ts'

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
  /** What became of each message, what the request should cost, and what of it should come from a cache. */
  explained: Explained
  /** Why nothing is expected in the provider's cache, if so. */
  cold?: string
}

export async function inspectRequest(
  runtime: Runtime,
  conversationId: string,
  log: readonly Entry[],
  settings: RunSettings,
): Promise<Inspected> {
  const { looking, history } = await lookingAhead(runtime, conversationId, log, settings)
  const { request, explained, cold } = await explainNext(looking, history)
  const { endpoint } = looking
  return {
    provider: endpoint.provider.id,
    protocol: endpoint.protocol.id,
    model: endpoint.model,
    url: endpoint.baseUrl + request.path,
    body: request.body,
    notes: request.notes,
    // The same number as `count()` gives, corrected by what the provider reported before.
    estimate: { input: explained.tokens },
    explained,
    ...(cold !== undefined && { cold }),
  }
}

/** Whom the next request would go to, and the history that it would be made from. */
export async function lookingAhead(
  runtime: Runtime,
  conversationId: string,
  log: readonly Entry[],
  settings: RunSettings,
): Promise<{ looking: Looking; history: Entry[] }> {
  const { store, owner } = runtime
  const history = await loadMedia(store, owner, log)
  const messages = history.map((entry) => entry.message)
  const step = { step: 1, kind: 'ask' as const, messages, usage: noUsage, cost: 0 }
  const model = await routedModel(settings.route, { ...step, model: settings.model })
  // A wire belongs to the model that it was named for.
  const found = await runtime.endpoint(model, model === settings.model ? settings.protocol : undefined)
  return {
    looking: { store, owner, conversationId, ...found, ...stepSettings(conversationId, () => settings) },
    history,
  }
}
