// Whether the final answer is still to be composed by another model. Only where tools were used: an answer that needed
// none is final as it is.

import type { Entry } from '../core/log.ts'
import type { LoopContext } from './run-context.ts'

export async function rewritesAnswer(run: LoopContext, history: readonly Entry[]): Promise<boolean> {
  const { route } = run
  if (typeof route !== 'object' || route.answer === undefined || run.signal.aborted) return false
  const reply = history.at(-1)?.message
  if (reply?.role !== 'assistant' || (reply.stop.reason !== 'done' && reply.stop.reason !== 'length')) return false
  const since = history.slice(history.findLastIndex(({ message }) => message.role === 'user') + 1)
  if (!since.some(({ message }) => message.role === 'tool')) return false
  const { endpoint } = await run.endpointOf(route.answer, undefined)
  return endpoint.provider.id !== reply.origin.provider || endpoint.model !== reply.origin.model
}
