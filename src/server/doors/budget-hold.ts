// Requests at the same time with one key: each would be checked against what the key has spent before any of them is
// charged, so all could pass. What a request is expected to cost counts as spent until it is charged. A request that
// only this keeps from starting waits for others to end, because they may cost less than expected.

import { SynapseError } from '../../core/error.ts'
import { noUsage } from '../../core/usage.ts'
import { costOf } from '../../providers/price.ts'
import type { ServerContext } from '../context.ts'
import { spentBy } from '../keys.ts'
import type { Principal } from '../principal.ts'
import { budgetUsed } from '../runs/execute-run.ts'
import { whenAborted } from '../when-aborted.ts'
import type { DoorModel } from './models.ts'
import { promptTokens } from './read-body.ts'
import type { DoorRequest } from './read-request.ts'

/** The requests of a key that have started or wait. */
interface Requests {
  count: number
  /** What those that have started are expected to cost. */
  started: Set<{ cost: number }>
  /** Resolves when the last one that has asked to start was checked: one is checked at a time, in their order. */
  checked: Promise<void>
  /** Resolves when one of them ends. */
  ended: PromiseWithResolvers<void>
}

const byKey = new Map<string, Requests>()

/** Tokens of an answer: most are shorter, whatever limit a client sets. */
const usualOutput = 4096

/**
 * Resolves once the budget of the key has room for the request, with what to call when it is charged; throws kind
 * 'quota' if the budget is used up.
 */
export async function holdBudget(
  server: ServerContext,
  { keyId, budget }: Principal,
  { request, model, signal }: { request: DoorRequest; model: DoorModel; signal?: AbortSignal | undefined },
): Promise<() => void> {
  if (keyId === undefined || budget === undefined) return () => {}
  const own = { cost: await expectedCost(server, request, model) }
  const requests = byKey.get(keyId) ?? newRequests()
  byKey.set(keyId, requests)
  requests.count++
  const before = requests.checked
  const checked = Promise.withResolvers<void>()
  requests.checked = checked.promise
  const release = (): void => {
    requests.started.delete(own)
    requests.ended.resolve()
    requests.ended = Promise.withResolvers()
    if (--requests.count === 0) byKey.delete(keyId)
  }
  const { left, forget } = leaving(signal)
  try {
    await Promise.race([before, left])
    await roomIn(requests, budget, { left, spentNow: () => spentBy(server.accounts ?? server.store, keyId) })
    requests.started.add(own)
    return release
  } catch (error) {
    release()
    throw error
  } finally {
    forget()
    // Those before one whose client has left may still wait.
    checked.resolve(before)
  }
}

/** `left` rejects when the client leaves: its request, which can be large, is not held until others have ended. */
function leaving(signal: AbortSignal | undefined): { left: Promise<never>; forget: () => void } {
  const { promise: left, reject } = Promise.withResolvers<never>()
  left.catch(() => {})
  const leave = (): void => reject(new SynapseError({ kind: 'aborted', message: 'The client has left.' }))
  if (signal) whenAborted(signal, leave)
  return { left, forget: () => signal?.removeEventListener('abort', leave) }
}

function newRequests(): Requests {
  return { count: 0, started: new Set(), checked: Promise.resolve(), ended: Promise.withResolvers() }
}

async function roomIn(
  requests: Requests,
  budget: number,
  { left, spentNow }: { left: Promise<never>; spentNow: () => Promise<number> },
): Promise<void> {
  for (;;) {
    // First what is expected: a request that is charged meanwhile counts twice, and this one looks again.
    const { started, ended } = requests
    const expected = [...started].reduce((sum, { cost }) => sum + cost, 0)
    const spent = await Promise.race([left, spentNow()])
    if (spent >= budget) throw new SynapseError(budgetUsed(budget))
    if (expected === 0 || spent + expected < budget) return
    await Promise.race([left, ended.promise])
  }
}

async function expectedCost(server: ServerContext, request: DoorRequest, model: DoorModel): Promise<number> {
  const { endpoint } = await server.endpoint(model.model, model.protocol)
  const limit = request.options.maxOutput ?? 0
  const output = limit > 0 ? Math.min(limit, usualOutput) : usualOutput
  return costOf({ ...noUsage, input: promptTokens(request), output }, endpoint.price) ?? 0
}
