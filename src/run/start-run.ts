// A run from its beginning to its end: the right to write, what a crash has left behind, the guards, and the loop.

import type { RunEvent } from '../core/event.ts'
import { asFailure, SynapseError } from '../core/error.ts'
import type { Exchange } from '../core/log.ts'
import type { UserMessage } from '../core/message.ts'
import { noUsage } from '../core/usage.ts'
import type { Outage, Store } from '../store/store.ts'
import { cooldown } from './cooldown.ts'
import type { PathTo } from './path-cache.ts'
import { holdLease, type Held } from './lease.ts'
import { loop, outcomeOfFailure, type RunEnd } from './loop.ts'
import { repeatLimits } from './repeats.ts'
import type { LoopContext } from './run-context.ts'
import { closeInterrupted, stepBack, type ClosingContext } from './close-interrupted.ts'
import { toolLimits } from './guards.ts'
import type { RunSettings, Runtime } from './settings.ts'
import { answerSchemaOf } from './answer-schema.ts'
import { titleOf } from './title.ts'
import { guardTimer } from './guard-timer.ts'

const defaultMaxSteps = 50

export interface RunRequest {
  conversationId: string
  pathTo: PathTo
  /** As they are now: they may change while the run continues. */
  settings: () => RunSettings
  /** The tools that the conversation was started with, by name: those that are not given are noted. */
  toolNames?: readonly string[] | undefined
  /** What the user says first; without it, the run continues where the log ends. */
  message?: UserMessage | undefined
  /** What the user says while the run continues. */
  incoming: () => UserMessage[]
  /** Moves the head, before anything else is written. */
  before?(held: Held): Promise<void>
  emit(event: RunEvent): void
  stop: AbortController
  /** The run ends with the first reply, whatever it asks for: somebody else runs the tools. */
  oneReply?: boolean
  counted?: (exchange: Exchange) => void
}

/** Never rejects: what went wrong is in the outcome. */
export async function startRun(runtime: Runtime, request: RunRequest): Promise<RunEnd> {
  const { store, owner } = runtime
  const { conversationId, message, stop } = request
  const first = request.settings()
  const observer = runtime.observe?.()
  const outer = first.signal ? AbortSignal.any([stop.signal, first.signal]) : stop.signal
  const timer = guardTimer(first.guards ?? {}, outer)
  const emit = (event: RunEvent): void => {
    timer.onEvent(event)
    observer?.onEvent(event)
    request.emit(event)
  }
  const stopWatching = tellOutages(store, emit)
  try {
    // Before the head is moved. What the user says is kept first, whatever fails then.
    if (!message) await runtime.endpoint(first.model, first.protocol)
    const held = await holdLease(store, owner, conversationId, () => stop.abort())
    try {
      const settling: ClosingContext = { store, owner, conversationId, write: held.write }
      await closeInterrupted(settling, message !== undefined)
      await request.before?.(held)
      if (message) await nameAfter(store, owner, conversationId, message)
      else await stepBack(settling)
      const run = loopContext(runtime, request, {
        emit,
        write: held.write,
        signal: timer.signal,
        stoppedBy: timer.stoppedBy,
      })
      return await loop(run, message)
    } finally {
      await held.release()
    }
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

/** A run that stands still because the database is away says so. */
function tellOutages({ outages }: Store, emit: (event: RunEvent) => void): () => void {
  let since: string | undefined
  const tell = (outage: Outage | undefined): void => {
    if (outage) emit({ type: 'store-waiting', ...outage })
    else if (since !== undefined) emit({ type: 'store-back', waitedMs: Date.now() - Date.parse(since) })
    since = outage?.since
  }
  tell(outages?.current())
  return outages?.watch(tell) ?? (() => {})
}

/** The settings as the loop reads them, again at each step. */
function loopContext(
  runtime: Runtime,
  { conversationId, pathTo, settings, incoming, counted, toolNames, oneReply }: RunRequest,
  rest: Pick<LoopContext, 'emit' | 'write' | 'signal' | 'stoppedBy'>,
): LoopContext {
  // Assigned, not spread: the settings are read through getters.
  return Object.assign(stepSettings(conversationId, settings, toolNames), rest, {
    store: runtime.store,
    owner: runtime.owner,
    conversationId,
    pathTo,
    async endpointOf(model: string, protocol: string | undefined) {
      const found = await runtime.endpoint(model, protocol)
      const contentSize = settings().guards?.replySize
      if (contentSize === undefined) return found
      return { ...found, transport: { ...found.transport, limits: { ...found.transport.limits, contentSize } } }
    },
    cooldown: runtime.cooldown ?? cooldown(runtime.now),
    now: runtime.now ?? Date.now,
    incoming,
    ...(counted && { counted }),
    ...(oneReply && { oneReply }),
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
      return settings().protocol
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
    get answer() {
      return settings().answer
    },
    get absentTools() {
      return settings().tools ? undefined : toolNames
    },
  }
}

/** A conversation without a title is named after its first words. */
async function nameAfter(store: Store, owner: string, id: string, message: UserMessage): Promise<void> {
  const stored = await store.conversation(owner, id)
  if (!stored) throw new SynapseError({ kind: 'not-found', message: `There is no conversation ${id}.` })
  const title = titleOf(message)
  if (!stored.title && title) await store.updateConversation(owner, id, { title })
}
