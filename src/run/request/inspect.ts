// The next request, without sending it: the exact body, and everything in which it differs from the log. The key is not
// in it.

import type { Note } from '../../core/context.ts'
import type { JsonObject } from '../../core/json.ts'
import type { Entry, ProviderState } from '../../core/log.ts'
import { noUsage } from '../../core/usage.ts'
import { explain, type Explained } from '../../context/explain.ts'
import type { Assembled, Estimate } from '../../context/assemble.ts'
import type { Origins } from '../../wires/wire.ts'
import { absentToolNotes } from './exchange.ts'
import { stepSettings } from '../start-run.ts'
import { planRequest } from './plan-request.ts'
import type { RunContext } from '../run-context.ts'
import { withHandoffs } from '../handoff.ts'
import { routedModel } from '../route.ts'
import { protocolOf, type RunSettings, type Runtime } from '../settings.ts'
import { heldState } from './state.ts'
import { loadMedia } from './load-media.ts'

/** A request before it is sent. */
export interface Inspected {
  provider: string
  protocol: string
  model: string
  url: string
  body: JsonObject
  /** What differs from the log, and why. */
  notes: Note[]
  /** Which messages each element of the body came from. */
  origins?: Origins
  estimate: Estimate
  /** What happened to each message, the expected cost of the request, and the expected cache hit. */
  explained: Explained
  /** Why no cache hit is expected, if so. */
  cold?: string
  /** What providers store of the conversation at its current position. */
  state: ProviderState[]
}

export async function inspectRequest(
  runtime: Runtime,
  conversationId: string,
  log: readonly Entry[],
  settings: RunSettings,
  toolNames?: readonly string[],
): Promise<Inspected> {
  const { looking, history } = await lookingAhead(runtime, conversationId, log, settings, toolNames)
  const { request, explained, cold } = await explainNext(looking, history)
  const { endpoint } = looking
  return {
    provider: endpoint.provider.id,
    protocol: endpoint.protocol.id,
    model: endpoint.model,
    url: endpoint.baseUrl + request.path,
    body: request.body,
    notes: [...absentToolNotes(looking), ...request.notes],
    ...(request.origins && { origins: request.origins }),
    // The same number as `count()`, corrected by what the provider reported before.
    estimate: { input: explained.tokens },
    explained,
    ...(cold !== undefined && { cold }),
    state: await heldState(runtime, conversationId, log.at(-1)?.id ?? null),
  }
}

/** The target of the next request, and the history that it would be built from. */
export async function lookingAhead(
  runtime: Runtime,
  conversationId: string,
  log: readonly Entry[],
  settings: RunSettings,
  toolNames?: readonly string[],
): Promise<{ looking: Looking; history: readonly Entry[] }> {
  const { store, owner } = runtime
  const history = await loadMedia(store, owner, log)
  const messages = history.map((entry) => entry.message)
  const step = { step: 1, kind: 'ask' as const, messages, usage: noUsage, cost: 0 }
  const model = await routedModel(settings.route, { ...step, model: settings.model })
  // A wire setting belongs to the model it was set for.
  const found = await runtime.endpoint(model, model === settings.model ? protocolOf(settings) : undefined)
  const offered = withHandoffs(settings, async () => {})
  return {
    looking: { store, owner, conversationId, ...found, ...stepSettings(conversationId, () => offered, toolNames) },
    history,
  }
}

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
