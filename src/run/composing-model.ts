// The model that composes the final answer in place of the one that worked with tools, if the route names one. Only where
// tools were used: an answer that needed none is final as it is.

import type { Entry } from '../core/log.ts'
import type { RouteStep } from '../settings/run.ts'
import { namedModel } from './route.ts'
import type { LoopContext } from './run-context.ts'

/** Undefined: the reply that is there is final. */
export async function composingModel(
  run: LoopContext,
  history: readonly Entry[],
  about: Pick<RouteStep, 'step' | 'usage' | 'cost'>,
): Promise<string | undefined> {
  if (!run.route || run.signal.aborted) return undefined
  const reply = history.at(-1)?.message
  if (reply?.role !== 'assistant' || (reply.stop.reason !== 'done' && reply.stop.reason !== 'length')) return undefined
  const since = history.slice(history.findLastIndex(({ message }) => message.role === 'user') + 1)
  if (!since.some(({ message }) => message.role === 'tool')) return undefined
  const messages = history.map(({ message }) => message)
  const model = await namedModel(run.route, { ...about, kind: 'answer', messages, model: run.model })
  if (model === undefined) return undefined
  try {
    const { endpoint } = await run.endpointOf(model, undefined)
    const same = endpoint.provider.id === reply.origin.provider && endpoint.model === reply.origin.model
    return same ? undefined : model
  } catch {
    // Asking it will tell why it cannot be asked.
    return model
  }
}
