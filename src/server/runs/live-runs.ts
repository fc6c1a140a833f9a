// Runs that answer clients of other APIs. They are not stored as runs, because the client continues or repeats its
// requests itself, but users who have the conversation open on this server can follow and stop them. Other servers know
// them by their exchanges (client-runs.ts).

import type { ReplyEvent, RunEvent } from '../../core/event.ts'
import type { RunView } from '../views.ts'
import { until } from './source.ts'
import { frame, type EventSource } from './sse.ts'

export interface LiveRuns {
  /** `stop`: at the request of a user who follows it. */
  begin(owner: string, view: RunView, stop: () => void): LiveRun
  run(owner: string, runId: string): RunView | undefined
  active(owner: string, conversationId: string): RunView | undefined
  source(owner: string, runId: string): EventSource | undefined
  /** Resolves at its end. The id may also be that of its exchange. */
  cancel(owner: string, runId: string): Promise<RunView | undefined>
  /** Stops the run that has this exchange now; false: it is not here. */
  stopExchange(exchangeId: string): boolean
  stopAll(): void
  /** Resolves when there are none. */
  idle(): Promise<void>
  readonly size: number
}

interface LiveRun {
  push(event: RunEvent): void
  end(): void
}

interface Followed {
  owner: string
  view: RunView
  /** The newest one. */
  exchangeId?: string
  events: RunEvent[]
  /** The last of them, once others were added to it. */
  growing?: Delta
  /** How many events were read. Later ones may still be merged, so that their number stays small without readers. */
  read: number
  isOver: boolean
  wakes: Set<() => void>
  stop: () => void
}

export function liveRuns(): LiveRuns {
  const runs = new Map<string, Followed>()
  let idle: PromiseWithResolvers<void> | undefined
  const find = (owner: string, runId: string): Followed | undefined => {
    const run = runs.get(runId)
    return run?.owner === owner ? run : undefined
  }
  const withExchange = (exchangeId: string): Followed | undefined =>
    runs.values().find((run) => run.exchangeId === exchangeId)
  return {
    begin(owner, view, stop) {
      const run: Followed = { owner, view, events: [], read: 0, isOver: false, wakes: new Set(), stop }
      runs.set(view.id, run)
      return {
        push(event) {
          if (event.type === 'request') run.exchangeId = event.exchangeId
          add(run, event)
          wake(run)
        },
        end() {
          run.isOver = true
          runs.delete(view.id)
          if (runs.size === 0) idle?.resolve()
          wake(run)
        },
      }
    },
    run: (owner, runId) => find(owner, runId)?.view,
    active(owner, conversationId) {
      for (const run of runs.values()) {
        if (run.owner === owner && run.view.conversationId === conversationId) return run.view
      }
      return undefined
    },
    source(owner, runId) {
      const run = find(owner, runId)
      return run && sourceOf(run)
    },
    async cancel(owner, runId) {
      const run = find(owner, runId) ?? withExchange(runId)
      if (run?.owner !== owner) return undefined
      run.stop()
      await new Promise<void>((resolve) => run.wakes.add(() => run.isOver && resolve()))
      return { ...run.view, id: runId, state: 'ended', outcome: 'cancelled' }
    },
    stopExchange(exchangeId) {
      const run = withExchange(exchangeId)
      run?.stop()
      return run !== undefined
    },
    stopAll() {
      for (const run of runs.values()) run.stop()
    },
    async idle() {
      if (runs.size === 0) return
      idle ??= Promise.withResolvers<void>()
      await idle.promise
      idle = undefined
    },
    get size() {
      return runs.size
    },
  }
}

function add(run: Followed, event: RunEvent): void {
  const { events, read } = run
  const delta = deltaOf(event)
  const last = events.length > read ? events.at(-1) : undefined
  const before = last && deltaOf(last)
  if (!delta || before?.exchangeId !== delta.exchangeId || before.event.index !== delta.event.index) {
    events.push(event)
    return
  }
  // One object for all that follow each other; the event itself belongs to others too.
  if (run.growing !== before) {
    run.growing = { ...before, event: { ...before.event } }
    events[events.length - 1] = run.growing
  }
  run.growing.event.text += delta.event.text
}

type Delta = Extract<RunEvent, { type: 'reply-event' }> & { event: Extract<ReplyEvent, { type: 'part-delta' }> }

function deltaOf(event: RunEvent): Delta | undefined {
  return event.type === 'reply-event' && event.event.type === 'part-delta' ? (event as Delta) : undefined
}

function wake({ wakes }: Followed): void {
  for (const wakeUp of wakes) wakeUp()
}

function sourceOf(run: Followed): EventSource {
  return {
    async read(from) {
      const fresh = run.events.slice(from)
      run.read = run.events.length
      const frames = fresh.map((event, i) => frame(from + i + 1, JSON.stringify(event)))
      return { frames, next: run.events.length, ended: run.isOver }
    },
    async wait(from, ms, signal) {
      if (run.isOver || run.events.length > from) return
      await until(ms, signal, (done) => {
        run.wakes.add(done)
        return () => run.wakes.delete(done)
      })
    },
    close() {},
  }
}
