// A run from its beginning to its end: the right to write, what a crash has left behind, the guards, and the loop.

import type { RunEvent } from '../core/event.ts'
import { asFailure, SynapseError } from '../core/error.ts'
import type { Exchange } from '../core/log.ts'
import type { UserMessage } from '../core/message.ts'
import { noUsage } from '../core/usage.ts'
import type { Outage, Store } from '../store/store.ts'
import { cooldown } from './cooldown.ts'
import type { PathTo } from './known-path.ts'
import { holdLease, type Held } from './lease.ts'
import { loop, type RunEnd } from './loop.ts'
import { repeatLimits } from './repeats.ts'
import type { LoopRun } from './running.ts'
import { settle, stepBack, type Settling } from './settle.ts'
import type { RunSettings, Surroundings } from './settings.ts'
import { titleOf } from './title.ts'
import { watchdog } from './watchdog.ts'

const defaultMaxSteps = 50

export interface Journey {
  conversationId: string
  pathTo: PathTo
  /** As they are now: they may change while the run goes on. */
  settings: () => RunSettings
  /** What the user says first; without it, the run goes on where the log ends. */
  message?: UserMessage | undefined
  /** What the user says while the run goes on. */
  incoming: () => UserMessage[]
  /** Moves the head, before anything else is written. */
  before?(held: Held): Promise<void>
  emit(event: RunEvent): void
  stop: AbortController
  counted?: (exchange: Exchange) => void
}

/** Never rejects: what went wrong is in the outcome. */
export async function drive(house: Surroundings, journey: Journey): Promise<RunEnd> {
  const { store, owner } = house
  const { conversationId, message, stop } = journey
  const first = journey.settings()
  const observer = house.observe?.()
  const outer = first.signal ? AbortSignal.any([stop.signal, first.signal]) : stop.signal
  const dog = watchdog(first.guards ?? {}, outer)
  const emit = (event: RunEvent): void => {
    dog.saw(event)
    observer?.saw(event)
    journey.emit(event)
  }
  const stopWatching = tellOutages(store, emit)
  try {
    await house.endpoint(first.model, first.protocol)
    const held = await holdLease(store, owner, conversationId, () => stop.abort())
    try {
      const settling: Settling = { store, owner, conversationId, write: held.write }
      await settle(settling, message !== undefined)
      await journey.before?.(held)
      if (message) await nameAfter(store, owner, conversationId, message)
      else await stepBack(settling)
      const run = loopRun(house, journey, { emit, write: held.write, signal: dog.signal, stoppedBy: dog.stoppedBy })
      return await loop(run, message)
    } finally {
      await held.release()
    }
  } catch (error) {
    const failure = asFailure(error)
    emit({ type: 'run-end', outcome: 'failed', usage: noUsage, failure })
    return { outcome: 'failed', usage: noUsage, cost: 0, failure }
  } finally {
    stopWatching()
    dog.stop()
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

/** The settings as the loop reads them, anew at each step. */
function loopRun(
  house: Surroundings,
  { conversationId, pathTo, settings, incoming, counted }: Journey,
  rest: Pick<LoopRun, 'emit' | 'write' | 'signal' | 'stoppedBy'>,
): LoopRun {
  // Assigned, not spread: the settings are read through getters.
  return Object.assign(stepSettings(conversationId, settings), rest, {
    store: house.store,
    owner: house.owner,
    conversationId,
    pathTo,
    endpointOf: (model: string, protocol: string | undefined) => house.endpoint(model, protocol),
    cooldown: house.cooldown ?? cooldown(house.now),
    now: house.now ?? Date.now,
    incoming,
    ...(counted && { counted }),
  })
}

type StepSettings = Pick<
  LoopRun,
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
  | 'budget'
>

export function stepSettings(conversationId: string, settings: () => RunSettings): StepSettings {
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
      return { cacheKey: conversationId, ...settings().options }
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
    get budget() {
      return settings().budget
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
