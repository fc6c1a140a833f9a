// A run from start to end: the lease, recovery after a crash, the guards, and the loop.

import type { RunEvent } from '../core/event.ts'
import { asFailure, SynapseError } from '../core/error.ts'
import type { Conversation } from '../core/log.ts'
import type { UserMessage } from '../core/message.ts'
import { noUsage } from '../core/usage.ts'
import type { Outage, Store } from '../store/store.ts'
import { meter } from './budget.ts'
import { cooldown } from './request/cooldown.ts'
import { holdLease, type Held } from './log/lease.ts'
import { loop, outcomeOfFailure, type RunEnd } from './loop.ts'
import { PendingWrites } from './log/pending-writes.ts'
import { repeatLimits } from './tools/repeats.ts'
import type { LoopContext, Opening } from './run-context.ts'
import { closeInterrupted, stepBack } from './log/close-interrupted.ts'
import { guardTimer, toolLimits } from './guards.ts'
import { protocolOf, type RunSettings, type Runtime } from './settings.ts'
import { answerSchemaOf } from './answer.ts'
import { titleOf } from '../core/title.ts'

const defaultMaxSteps = 50

export interface RunRequest extends Pick<
  LoopContext,
  | 'conversationId'
  | 'pathTo'
  | 'incoming'
  | 'emit'
  | 'oneReply'
  | 'serverTools'
  | 'notes'
  | 'verbatim'
  | 'recordsOf'
  | 'onExchange'
> {
  /** The current settings: they may change during the run. */
  settings: () => RunSettings
  /** The tools that the conversation was started with, by name: missing ones are noted. */
  toolNames?: readonly string[] | undefined
  /** The first user message; without it, the run continues where the log ends. */
  message?: UserMessage | undefined
  /** In place of the first message: the messages that a client has sent. `stored`: the conversation before the run. */
  opening?: (held: Held, stored: Conversation | undefined) => Opening
  /** Called with the lease before the run writes anything, such as to move the head. */
  prepare?: ((held: Held) => Promise<void>) | undefined
  /** Called when all is written, while the run still has the lease. It must not reject. */
  beforeRelease?: () => Promise<void>
  stop: AbortController
}

/** Never rejects: what went wrong is in the outcome. */
export async function startRun(runtime: Runtime, request: RunRequest): Promise<RunEnd> {
  const { store, owner } = runtime
  const { conversationId, message, prepare, stop } = request
  return withWatchers(runtime, request, async (watchers) => {
    // A new message is stored first, whatever fails then; without one, a model that cannot be reached changes nothing.
    const first = request.settings()
    if (!message) await runtime.endpoint(first.model, protocolOf(first))
    const held = await holdLease(store, owner, conversationId, () => stop.abort(), true)
    try {
      const log = { store, owner, conversationId, write: held.write }
      const [wasInterrupted, read] = await Promise.all([
        closeInterrupted(log, message !== undefined),
        store.conversation(owner, conversationId),
      ])
      await prepare?.(held)
      const stored = wasInterrupted || prepare ? await store.conversation(owner, conversationId) : read
      const opening = request.opening?.(held, stored)
      const context = loopContext(runtime, request, {
        ...watchers,
        write: held.write,
        opening,
        learned: { overlays: {} },
      })
      context.pending?.add(held.committed)
      const naming = message && setTitle(store, owner, conversationId, message, stored)
      if (naming && context.pending) context.pending.add(naming)
      else await naming
      const steppedBack = !message && !opening && (await stepBack(log))
      return await loop(context, message, steppedBack ? undefined : stored)
    } finally {
      await request.beforeRelease?.()
      await held.release()
    }
  })
}

/** Only the loop, from the end of the log, under a lease that the caller releases. Never rejects. */
export function runUnderLease(runtime: Runtime, held: Held, request: RunRequest): Promise<RunEnd> {
  return withWatchers(runtime, request, (watchers) =>
    loop(loopContext(runtime, request, { ...watchers, write: held.write, learned: {} }), undefined),
  )
}

/** Runs with the guards on time and output, the observer, and reports of outages of the database. */
async function withWatchers(
  runtime: Runtime,
  request: RunRequest,
  run: (watchers: Pick<LoopContext, 'emit' | 'signal' | 'stoppedBy'>) => Promise<RunEnd>,
): Promise<RunEnd> {
  const first = request.settings()
  const observer = runtime.observe?.()
  const outer = first.signal ? AbortSignal.any([request.stop.signal, first.signal]) : request.stop.signal
  const timer = guardTimer(first.guards ?? {}, outer)
  const emit = (event: RunEvent): void => {
    timer.onEvent(event)
    observer?.onEvent(event)
    request.emit(event)
  }
  const stopReporting = reportOutages(runtime.store, emit)
  try {
    return await run({ emit, signal: timer.signal, stoppedBy: timer.stoppedBy })
  } catch (error) {
    const failure = asFailure(error)
    const outcome = outcomeOfFailure(failure)
    emit({ type: 'run-end', outcome, usage: noUsage, failure })
    return { outcome, usage: noUsage, cost: 0, failure }
  } finally {
    stopReporting()
    timer.stop()
  }
}

/** Emits an event when the database becomes unreachable, and when it is back. */
function reportOutages({ outages }: Store, emit: (event: RunEvent) => void): () => void {
  let since: string | undefined
  const report = (outage: Outage | undefined): void => {
    if (outage) emit({ type: 'store-waiting', ...outage })
    else if (since !== undefined) emit({ type: 'store-back', waitedMs: Date.now() - Date.parse(since) })
    since = outage?.since
  }
  report(outages?.current())
  return outages?.watch(report) ?? (() => {})
}

function loopContext(
  runtime: Runtime,
  request: RunRequest,
  ofRun: Pick<LoopContext, 'emit' | 'write' | 'signal' | 'stoppedBy' | 'opening' | 'learned'>,
): LoopContext {
  const { store, owner, storesEvents } = runtime
  const { conversationId, settings, toolNames } = request
  /** Resolved once, as long as requests succeed. */
  const endpoints = new Map<string, Awaited<ReturnType<Runtime['endpoint']>>>()
  // Assigned, not spread: the settings are read through getters.
  return Object.assign(stepSettings(conversationId, settings, toolNames), request, ofRun, {
    store,
    owner,
    storesEvents,
    meter: meter(),
    pending: store.ordered && new PendingWrites(store.ordered),
    async endpointOf(model: string, protocol: string | undefined) {
      const key = JSON.stringify([model, protocol])
      const resolved = endpoints.get(key) ?? (await runtime.endpoint(model, protocol))
      endpoints.set(key, resolved)
      const contentSize = settings().guards?.replySize
      if (contentSize === undefined) return resolved
      const { transport } = resolved
      return { ...resolved, transport: { ...transport, limits: { ...transport.limits, contentSize } } }
    },
    forgetEndpoints: () => endpoints.clear(),
    cooldown: runtime.cooldown ?? cooldown(runtime.now),
    now: runtime.now ?? Date.now,
  })
}

type StepSettings = Pick<
  LoopContext,
  | 'model'
  | 'protocol'
  | 'system'
  | 'tools'
  | 'options'
  | 'policy'
  | 'maxSteps'
  | 'route'
  | 'fallback'
  | 'repeats'
  | 'limits'
  | 'budget'
  | 'answer'
  | 'context'
  | 'absentTools'
  | 'hooks'
>

/** The settings as the loop needs them, read again at each step. `toolNames`: the tools that the conversation was started with. */
export function stepSettings(
  conversationId: string,
  settings: () => RunSettings,
  toolNames?: readonly string[],
): StepSettings {
  return {
    get model() {
      return settings().model
    },
    get protocol() {
      return protocolOf(settings())
    },
    get system() {
      const { system } = settings()
      return system ? [{ type: 'text' as const, text: system }] : []
    },
    get tools() {
      return settings().tools ?? []
    },
    get options() {
      const { options, answer } = settings()
      return { cacheKey: conversationId, ...options, ...(answer && { answerSchema: answerSchemaOf(answer) }) }
    },
    get policy() {
      return settings().policy ?? 'economy'
    },
    get maxSteps() {
      return settings().maxSteps ?? defaultMaxSteps
    },
    get route() {
      return settings().route
    },
    get fallback() {
      return settings().fallback ?? []
    },
    get repeats() {
      return repeatLimits(settings().guards?.repeats)
    },
    get limits() {
      return toolLimits(settings().guards)
    },
    get budget() {
      return settings().budget
    },
    get context() {
      return settings().context
    },
    get hooks() {
      return settings().hooks
    },
    get answer() {
      return settings().answer
    },
    get absentTools() {
      return settings().tools ? undefined : toolNames
    },
  }
}

/** Names a conversation that has no title after its first message. */
export async function setTitle(
  store: Store,
  owner: string,
  id: string,
  message: UserMessage,
  stored: Conversation | undefined,
): Promise<void> {
  if (!stored) throw new SynapseError({ kind: 'not-found', message: `There is no conversation ${id}.` })
  const title = titleOf(message)
  if (!stored.title && title) await store.updateConversation(owner, id, { title })
}
