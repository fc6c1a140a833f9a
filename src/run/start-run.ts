// A run from start to end: the lease, recovery after a crash, the guards, and the loop.

import type { RunEvent, GuardReason } from '../core/event.ts'
import { asFailure, SynapseError } from '../core/error.ts'
import type { Note } from '../core/context.ts'
import type { Conversation, Exchange } from '../core/log.ts'
import type { UserMessage } from '../core/message.ts'
import { noUsage } from '../core/usage.ts'
import type { Outage, Store } from '../store/store.ts'
import { meter } from './budget.ts'
import { cooldown } from './request/cooldown.ts'
import type { PathTo } from './log/path-cache.ts'
import { holdLease, type Held } from './log/lease.ts'
import { loop, outcomeOfFailure, type RunEnd } from './loop.ts'
import { PendingWrites } from './log/pending-writes.ts'
import { repeatLimits } from './tools/repeats.ts'
import type { LoopContext, Opening, RecordsOf, Verbatim } from './run-context.ts'
import { closeInterrupted, stepBack, type ClosingContext } from './log/close-interrupted.ts'
import { toolLimits } from './guards.ts'
import { protocolOf, type RunSettings, type Runtime } from './settings.ts'
import { answerSchemaOf } from './answer-schema.ts'
import { titleOf } from './title.ts'
import type { Guards } from '../settings/run.ts'

const defaultMaxSteps = 50

export interface RunRequest {
  conversationId: string
  pathTo: PathTo
  /** The current settings: they may change during the run. */
  settings: () => RunSettings
  /** The tools that the conversation was started with, by name: missing ones are noted. */
  toolNames?: readonly string[] | undefined
  /** The first user message; without it, the run continues where the log ends. */
  message?: UserMessage | undefined
  /** In place of the first message: what a client has added. It gets the lease. */
  opening?: (held: Held) => Opening
  /** User messages that arrive during the run. */
  incoming: () => UserMessage[]
  /** Moves the head, before anything else is written. */
  before?(held: Held): Promise<void>
  emit(event: RunEvent): void
  stop: AbortController
  /** The run ends with the first reply that asks for more than `recall`: the client runs the tools. */
  oneReply?: boolean
  /** Those that are run here all the same. */
  ownTools?: readonly string[]
  /** What was changed before the request came here. */
  notes?: readonly Note[]
  /** The request as the client wrote it. */
  verbatim?: Verbatim | undefined
  recordsOf?: RecordsOf
  counted?: (exchange: Exchange) => void
}

/** Never rejects: what went wrong is in the outcome. */
export async function startRun(runtime: Runtime, request: RunRequest): Promise<RunEnd> {
  const { store, owner } = runtime
  const { conversationId, message, stop } = request
  return watched(runtime, request, async (within) => {
    // Before the head is moved. The user message is stored first, whatever fails then.
    const first = request.settings()
    if (!message) await runtime.endpoint(first.model, protocolOf(first))
    const held = await holdLease(store, owner, conversationId, () => stop.abort(), true)
    try {
      const settling: ClosingContext = { store, owner, conversationId, write: held.write }
      const [changed, seen] = await Promise.all([
        closeInterrupted(settling, message !== undefined),
        store.conversation(owner, conversationId),
      ])
      await request.before?.(held)
      const stored = changed || request.before ? await store.conversation(owner, conversationId) : seen
      const opening = request.opening?.(held)
      const context = loopContext(runtime, request, {
        ...within,
        write: held.write,
        opening,
        learned: { overlays: {} },
      })
      context.pending?.add(held.committed)
      const naming = message && nameAfter(store, owner, conversationId, message, stored)
      if (naming && context.pending) context.pending.add(naming)
      else await naming
      const steppedBack = !message && !opening && (await stepBack(settling))
      return await loop(context, message, steppedBack ? undefined : stored)
    } finally {
      await held.release()
    }
  })
}

/** The loop alone, from the end of the log, under a lease that the caller releases. Never rejects. */
export function runUnderLease(runtime: Runtime, held: Held, request: RunRequest): Promise<RunEnd> {
  return watched(runtime, request, (within) =>
    loop(loopContext(runtime, request, { ...within, write: held.write, learned: {} }), undefined),
  )
}

/** With everything that watches a run: time guards, an observer, the state of the database. */
async function watched(
  runtime: Runtime,
  request: RunRequest,
  run: (within: Pick<LoopContext, 'emit' | 'signal' | 'stoppedBy'>) => Promise<RunEnd>,
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
  const stopWatching = reportOutages(runtime.store, emit)
  try {
    return await run({ emit, signal: timer.signal, stoppedBy: timer.stoppedBy })
  } catch (error) {
    const failure = asFailure(error)
    const outcome = outcomeOfFailure(failure)
    emit({ type: 'run-end', outcome, usage: noUsage, failure })
    return { outcome, usage: noUsage, cost: 0, failure }
  } finally {
    stopWatching()
    timer.stop()
  }
}

/** A run that waits for the database reports it. */
function reportOutages({ outages }: Store, emit: (event: RunEvent) => void): () => void {
  let since: string | undefined
  const tell = (outage: Outage | undefined): void => {
    if (outage) emit({ type: 'store-waiting', ...outage })
    else if (since !== undefined) emit({ type: 'store-back', waitedMs: Date.now() - Date.parse(since) })
    since = outage?.since
  }
  tell(outages?.current())
  return outages?.watch(tell) ?? (() => {})
}

/** The settings for the loop, read again at each step. */
function loopContext(
  runtime: Runtime,
  {
    conversationId,
    pathTo,
    settings,
    incoming,
    counted,
    toolNames,
    oneReply,
    verbatim,
    recordsOf,
    ownTools,
    notes,
  }: RunRequest,
  rest: Pick<LoopContext, 'emit' | 'write' | 'signal' | 'stoppedBy' | 'opening' | 'learned'>,
): LoopContext {
  /** Resolved once, as long as requests succeed. */
  const found = new Map<string, Awaited<ReturnType<Runtime['endpoint']>>>()
  // Assigned, not spread: the settings are read through getters.
  return Object.assign(stepSettings(conversationId, settings, toolNames), rest, {
    store: runtime.store,
    meter: meter(),
    pending: runtime.store.ordered && new PendingWrites(runtime.store.ordered),
    owner: runtime.owner,
    storesEvents: runtime.storesEvents,
    conversationId,
    pathTo,
    async endpointOf(model: string, protocol: string | undefined) {
      const name = JSON.stringify([model, protocol])
      const way = found.get(name) ?? (await runtime.endpoint(model, protocol))
      found.set(name, way)
      const contentSize = settings().guards?.replySize
      if (contentSize === undefined) return way
      return { ...way, transport: { ...way.transport, limits: { ...way.transport.limits, contentSize } } }
    },
    forgetEndpoints: () => found.clear(),
    cooldown: runtime.cooldown ?? cooldown(runtime.now),
    now: runtime.now ?? Date.now,
    incoming,
    ...(counted && { counted }),
    ...(oneReply && { oneReply }),
    ...(verbatim && { verbatim }),
    ...(recordsOf && { recordsOf }),
    ...(ownTools && { ownTools }),
    ...(notes && { notes }),
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

/** `toolNames`: the tools that the conversation was started with. */
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

/** A conversation without a title is named after its first message. */
export async function nameAfter(
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

// The guards that cannot wait for the next step: the duration of a run, and the size of its output. They end it through
// its signal.

interface GuardTimer {
  /** Aborted by the outer signal or by a guard. */
  signal: AbortSignal
  onEvent(event: RunEvent): void
  stoppedBy: () => GuardReason | undefined
  stop(): void
}

function guardTimer({ timeoutMs, outputSize }: Guards, outer: AbortSignal): GuardTimer {
  const abort = new AbortController()
  const cancel = (): void => abort.abort(outer.reason)
  if (outer.aborted) cancel()
  outer.addEventListener('abort', cancel)
  let reason: GuardReason | undefined
  let size = 0
  const timer =
    timeoutMs === undefined
      ? undefined
      : setTimeout(() => fire({ guard: 'time', why: `The run reached its time limit of ${timeoutMs} ms.` }), timeoutMs)
  return {
    signal: abort.signal,
    onEvent(event) {
      if (outputSize === undefined || event.type !== 'reply-event' || event.event.type !== 'part-delta') return
      size += event.event.text.length
      if (size > outputSize) {
        fire({ guard: 'output-size', why: `The run reached its limit of ${outputSize} characters of output.` })
      }
    },
    stoppedBy: () => reason,
    stop() {
      clearTimeout(timer)
      outer.removeEventListener('abort', cancel)
    },
  }

  function fire(why: GuardReason): void {
    if (outer.aborted || reason) return
    reason = why
    abort.abort(why.why)
  }
}
