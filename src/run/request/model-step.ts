// One step that calls a model: the one that the route names, and while nothing has arrived, the next of the fallback
// chain. Each model that is called has its own exchange in the log.

import { isRetryable, SynapseError, type Failure } from '../../core/error.ts'
import type { Entry, Exchange } from '../../core/log.ts'
import type { Endpoint } from '../../providers/resolve.ts'
import type { FinishedExchange } from '../../store/store.ts'
import { exchange } from './exchange.ts'
import type { Fallback, RouteStep } from '../../settings/run.ts'
import { answerSettingsOf, fallsBack, modelOfFallback, routedModel } from '../route.ts'
import type { LoopContext, RunContext } from '../run-context.ts'
import { beforeRequest } from '../hooks.ts'
import { loadMedia } from './load-media.ts'
import { readWhole } from '../log/path-cache.ts'

export async function modelStep(
  run: LoopContext,
  log: readonly Entry[],
  about: Pick<RouteStep, 'step' | 'kind' | 'usage' | 'cost'>,
): Promise<FinishedExchange> {
  const history = await loadMedia(run.store, run.owner, run.route ? await readWhole(run, log) : log)
  const messages = run.route ? history.map((entry) => entry.message) : []
  const first = await routedModel(run.route, { ...about, messages, model: run.model })
  const chain: Fallback[] = [first, ...run.fallback.filter((fallback) => modelOfFallback(fallback) !== first)]
  const changes = about.kind === 'answer' ? answerSettingsOf(run.route) : {}
  const options =
    about.kind === 'answer' ? { ...run.options, ...changes.options, toolChoice: 'none' as const } : run.options
  const system =
    changes.guidance === undefined ? run.system : [...run.system, { type: 'text' as const, text: changes.guidance }]

  let finished: FinishedExchange | undefined
  let failure: Failure | undefined
  for (let i = 0; ;) {
    const candidate = modelOfFallback(chain[i] ?? first)
    // A wire setting belongs to the model it was set for.
    const resolved = await endpointFor(candidate, candidate === run.model ? run.protocol : undefined)
    const skipped = resolved && skippedFor(run, resolved.endpoint)
    if (skipped && nextOf(chain, i, skipped) !== undefined) {
      failure = skipped
    } else if (resolved) {
      const { step, kind } = about
      const hooked = run.hooks?.beforeRequest
        ? await beforeRequest({ ...run, options }, { step, kind, model: candidate, messages })
        : {}
      finished = await exchange({ ...forExchange(run), ...resolved, system, options, ...hooked }, history, step)
      recordHealth(run, resolved.endpoint, finished.exchange)
      failure = finished.exchange.failure
      if (failure) run.forgetEndpoints()
      if (!failure || finished.entry || finished.exchange.outcome === 'cancelled') return finished
    }
    const next = failure && nextOf(chain, i, failure)
    if (!failure || next === undefined || run.signal.aborted) {
      if (finished) return finished
      throw new SynapseError(failure ?? { kind: 'internal', message: `${candidate} was not asked.` })
    }
    run.emit({ type: 'fallback', from: candidate, to: modelOfFallback(chain[next] ?? first), failure })
    i = next
  }

  /** Undefined for a fallback that cannot be used because it has no key: the original failure is more useful. */
  async function endpointFor(model: string, protocol: string | undefined) {
    try {
      return await run.endpointOf(model, protocol)
    } catch (error) {
      if (failure && error instanceof SynapseError && error.kind === 'bad-input') return undefined
      throw error
    }
  }
}

/** Copied field by field: spreading an object with getters would take longer than the rest of this step. */
function forExchange(run: LoopContext): Omit<RunContext, 'endpoint' | 'transport' | 'system' | 'options'> {
  return {
    store: run.store,
    owner: run.owner,
    conversationId: run.conversationId,
    tools: run.tools,
    absentTools: run.absentTools,
    notes: run.notes,
    hookNotes: run.hookNotes,
    policy: run.policy,
    verbatim: run.verbatim,
    maxSteps: run.maxSteps,
    signal: run.signal,
    write: run.write,
    pending: run.pending,
    storesEvents: run.storesEvents,
    learned: run.learned,
    recordsOf: run.recordsOf,
    emit: run.emit,
    meter: run.meter,
  }
}

/** The failure to report in place of a request to a provider that is failing. */
function skippedFor({ cooldown }: LoopContext, endpoint: Endpoint): Failure | undefined {
  if (!cooldown.isSkipped(nameOf(endpoint))) return undefined
  const message = `${endpoint.provider.name} has failed several times in a row and is skipped for a short time.`
  return { kind: 'overloaded', message }
}

function recordHealth({ cooldown }: LoopContext, endpoint: Endpoint, { outcome, failure, attempts }: Exchange): void {
  if (outcome === 'done') cooldown.succeeded(nameOf(endpoint))
  else if (failure && isRetryable(failure.kind)) cooldown.failed(nameOf(endpoint), attempts)
}

function nameOf({ provider, baseUrl }: Endpoint): string {
  return `${provider.id} ${baseUrl}`
}

function nextOf(chain: readonly Fallback[], i: number, failure: Failure): number | undefined {
  const next = chain.findIndex((fallback, index) => index > i && fallsBack(fallback, failure))
  return next < 0 ? undefined : next
}
