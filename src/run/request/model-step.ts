// One step that calls a model: the model that the route names, and as long as nothing has arrived, the next one of the
// chain. Each model that is called has its own exchange in the log.

import { isRetryable, SynapseError, type Failure } from '../../core/error.ts'
import type { Entry, Exchange } from '../../core/log.ts'
import type { TextPart } from '../../core/message.ts'
import type { Endpoint } from '../../providers/resolve.ts'
import type { FinishedExchange } from '../../store/store.ts'
import { exchange } from './exchange.ts'
import type { Fallback, RouteStep } from '../../settings/run.ts'
import { composingOf, fallsBack, modelOfFallback, routedModel } from '../route.ts'
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
  const composing = about.kind === 'answer' ? composingOf(run.route) : {}
  const options =
    about.kind === 'answer' ? { ...run.options, ...composing.options, toolChoice: 'none' as const } : run.options
  const system = composing.guidance === undefined ? run.system : [...run.system, text(composing.guidance)]

  let finished: FinishedExchange | undefined
  let failure: Failure | undefined
  for (let i = 0; ;) {
    const candidate = modelOfFallback(chain[i] ?? first)
    // A wire setting belongs to the model it was set for.
    const found = await endpointFor(candidate, candidate === run.model ? run.protocol : undefined)
    const out = found && leftAlone(run, found.endpoint)
    if (out && nextOf(chain, i, out) !== undefined) {
      failure = out
    } else if (found) {
      const { step, kind } = about
      const hooked = run.hooks?.beforeRequest
        ? await beforeRequest({ ...run, options }, { step, kind, model: candidate, messages })
        : {}
      finished = await exchange({ ...forExchange(run), ...found, system, options, ...hooked }, history, step)
      remember(run, found.endpoint, finished.exchange)
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

/** Field by field: to copy an object with getters takes longer than all else that a step does here. */
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

function text(words: string): TextPart {
  return { type: 'text', text: words }
}

function leftAlone({ cooldown }: LoopContext, endpoint: Endpoint): Failure | undefined {
  if (!cooldown.isOut(nameOf(endpoint))) return undefined
  const message = `${endpoint.provider.name} has failed several times in a row and is skipped for a short time.`
  return { kind: 'overloaded', message }
}

function remember({ cooldown }: LoopContext, endpoint: Endpoint, { outcome, failure, attempts }: Exchange): void {
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
