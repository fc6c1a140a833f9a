// One step that asks a model: the model that the route names, and as long as nothing was said, the next of the chain.
// Each model that is asked has an exchange of its own in the log.

import { isRetryable } from '../core/error.ts'
import type { Entry } from '../core/log.ts'
import type { FinishedExchange } from '../store/store.ts'
import { exchange } from './exchange.ts'
import { fallsBack, modelOfFallback, routedModel, type Fallback, type RouteStep } from './route.ts'
import type { LoopRun } from './running.ts'
import { withMedia } from './whole-media.ts'

export async function askStep(
  run: LoopRun,
  log: readonly Entry[],
  about: Pick<RouteStep, 'step' | 'kind' | 'usage' | 'cost'>,
): Promise<FinishedExchange> {
  const history = await withMedia(run.store, run.owner, log)
  const messages = history.map((entry) => entry.message)
  const first = await routedModel(run.route, { ...about, messages, model: run.model })
  const chain: Fallback[] = [first, ...run.fallback.filter((fallback) => modelOfFallback(fallback) !== first)]
  const options = about.kind === 'answer' ? { ...run.options, toolChoice: 'none' as const } : run.options

  for (let i = 0; ;) {
    const candidate = modelOfFallback(chain[i] ?? first)
    // A wire belongs to the model that it was named for.
    const { endpoint, transport } = await run.endpointOf(candidate, candidate === run.model ? run.protocol : undefined)
    const name = `${endpoint.provider.id} ${endpoint.baseUrl}`
    if (run.cooldown.isOut(name) && i + 1 < chain.length) {
      const message = `${endpoint.provider.name} has failed several times just now and is left alone for a moment.`
      run.emit({
        type: 'fallback',
        from: candidate,
        to: modelOfFallback(chain[i + 1] ?? first),
        failure: { kind: 'overloaded', message },
      })
      i++
      continue
    }
    const finished = await exchange({ ...run, options, endpoint, transport }, history, about.step)
    const { outcome, failure, attempts } = finished.exchange
    if (outcome === 'done') run.cooldown.succeeded(name)
    else if (failure && isRetryable(failure.kind)) run.cooldown.failed(name, attempts)
    const next = failure && !finished.entry && outcome !== 'cancelled' ? nextOf(chain, i, failure) : undefined
    if (!failure || next === undefined || run.signal.aborted) return finished
    run.emit({ type: 'fallback', from: candidate, to: modelOfFallback(chain[next] ?? first), failure })
    i = next
  }
}

function nextOf(chain: readonly Fallback[], i: number, failure: Parameters<typeof fallsBack>[1]): number | undefined {
  const next = chain.findIndex((fallback, index) => index > i && fallsBack(fallback, failure))
  return next < 0 ? undefined : next
}
