// The active run, from its events. The events are read from the first one on, so a page that was reloaded in the middle
// of an answer, or opened in a second tab, shows the same as the first. A stored `message` replaces what was streamed.

import { batch, effect, signal } from '@preact/signals'
import { failureOf } from '../api/client.ts'
import { api, paths } from '../api/routes.ts'
import { follow, type Streamed } from '../api/stream.ts'
import type { Entry, Failure, Json, RunEvent, ToolCallPart } from '../api/types.ts'
import { announce } from './announce.ts'
import { approvals, arrived, current, lastRun, leaf, loadDetails, loadTree, tree, whenRunSeen } from './conversation.ts'
import { withReply, type LiveExchange } from './live-reply.ts'
import { attempt } from './session.ts'

interface LiveTool {
  call: ToolCallPart
  startedAt: number
  ended: boolean
  /** Its progress so far. */
  progress?: Json
}

interface Live {
  runId: string
  conversationId: string
  stopping: boolean
  /** Entries may not follow the previous one, which only the server knows. */
  isUnsure: boolean
  /** The last entry that the run wrote or started from. */
  tail?: string
  exchange?: LiveExchange
  retry?: { attempt: number; until: number; failure: Failure }
  /** The database is unreachable, and the run waits for it. */
  waiting?: true
  /** Reported on the way: another model is used, a guard warned. */
  remarks: string[]
}

export const live = signal<Live | undefined>(undefined)
export const tools = signal<ReadonlyMap<string, LiveTool>>(new Map())

let stop: (() => void) | undefined

whenRunSeen((run) => {
  const id = current.value?.id
  if (id !== undefined && run.state !== 'ended') attach(id, run.id)
})

// The user navigated away, or the conversation was deleted.
effect(() => {
  if (live.value && live.value.conversationId !== current.value?.id) detach()
})

function detach(): void {
  stop?.()
  stop = undefined
  batch(() => {
    live.value = undefined
    tools.value = new Map()
  })
}

/** Runs that have ended, with the last entry of each. */
const endedRuns = new Map<string, string | undefined>()

/**
 * The last entry that a run is known to have written, or started from: it may arrive before the response to its start.
 */
export function reached(runId: string): string | undefined {
  return live.value?.runId === runId ? live.value.tail : endedRuns.get(runId)
}

/** Follows a run from its first event on. */
export function attach(conversationId: string, runId: string): void {
  if (endedRuns.has(runId) || live.value?.runId === runId) return
  detach()
  batch(() => {
    live.value = { runId, conversationId, stopping: false, isUnsure: false, remarks: [] }
    lastRun.value = undefined
  })
  stop = follow(
    paths.events(runId),
    (event) => {
      if (current.value?.id === conversationId) batch(() => take(conversationId, runId, event))
    },
    () => live.value?.runId === runId && finish(conversationId, runId),
  )
}

type StreamedEvent = RunEvent | { type: 'run-resumed' }

function take(conversationId: string, runId: string, { data }: Streamed): void {
  const event = JSON.parse(data) as StreamedEvent
  const now = live.value
  if (!now || now.runId !== runId) return
  switch (event.type) {
    case 'run-start':
      live.value = { ...now, tail: event.entryId }
      void fetchEntry(event.entryId)
      break
    case 'run-resumed':
      // The resumed run may continue from an earlier entry than the last one it wrote.
      live.value = { ...without(now, 'exchange', 'retry'), isUnsure: true }
      break
    case 'request': {
      const { exchangeId, provider, model, notes } = event
      live.value = { ...without(now, 'retry'), exchange: { id: exchangeId, provider, model, notes, parts: [] } }
      break
    }
    case 'retry': {
      const { attempt, waitMs, failure } = event
      live.value = { ...now, retry: { attempt, until: Date.now() + waitMs, failure } }
      break
    }
    case 'reply-event':
      if (now.exchange) live.value = { ...without(now, 'retry'), exchange: withReply(now.exchange, event.event) }
      break
    case 'message':
      live.value = {
        ...(event.message.role === 'assistant' ? without(now, 'exchange', 'retry') : now),
        tail: event.entryId,
      }
      arrived(entryOf(conversationId, event.entryId, event.message, now.tail ?? leaf.value))
      if (now.isUnsure) void attempt(() => loadTree(conversationId))
      break
    case 'tool-start':
      tools.value = new Map(tools.value).set(event.call.callId, {
        call: event.call,
        startedAt: Date.now(),
        ended: false,
      })
      announce(`Tool ${event.call.name} started`)
      break
    case 'tool-progress': {
      const tool = tools.value.get(event.call.callId)
      if (tool) tools.value = new Map(tools.value).set(event.call.callId, { ...tool, progress: event.value })
      break
    }
    case 'approval-needed': {
      const { call, argsHash, expiresAt } = event
      approvals.value = new Map(approvals.value).set(call.callId, { call, argsHash, expiresAt })
      announce(`${call.name} is waiting for your approval`)
      // Only the server knows what it would change and where it comes from.
      void attempt(() => loadDetails(conversationId))
      break
    }
    case 'store-waiting':
      live.value = { ...now, waiting: true }
      announce('The database cannot be reached. The run waits for it.')
      break
    case 'store-back':
      live.value = without(now, 'waiting')
      announce('The database is back')
      break
    case 'fallback':
      remark(now, `${event.from} failed: ${event.failure.message} Continuing with ${event.to}.`)
      break
    case 'guard':
      remark(now, event.why)
      break
    case 'tool-end': {
      const tool = tools.value.get(event.call.callId)
      if (tool) tools.value = new Map(tools.value).set(event.call.callId, { ...tool, ended: true })
      announce(`Tool ${event.call.name} ${event.result.failed ? 'failed' : 'finished'}`)
      break
    }
    case 'run-end':
      finish(conversationId, runId)
      if (event.failure) announce(`The run failed: ${event.failure.message}`)
  }
}

function remark(run: Live, words: string): void {
  live.value = { ...run, remarks: [...run.remarks, words] }
  announce(words)
}

/** The event does not include the position of an entry in the tree; after the last one, unless it is already known. */
export function entryOf(conversationId: string, id: string, message: Entry['message'], parent: string | null): Entry {
  const known = tree.value.byId.get(id)
  const parentId = known ? known.parentId : parent
  const depth = known?.depth ?? (tree.value.byId.get(parentId ?? '')?.depth ?? -1) + 1
  return { id, conversationId, parentId, depth, message, at: known?.at ?? new Date().toISOString() }
}

async function fetchEntry(entryId: string): Promise<void> {
  if (entryId === '' || tree.value.byId.has(entryId)) return
  await attempt(async () => arrived(await api.entry(entryId)))
}

function without(run: Live, ...names: ('exchange' | 'retry' | 'waiting')[]): Live {
  const rest = { ...run }
  for (const name of names) delete rest[name]
  return rest
}

function finish(conversationId: string, runId: string): void {
  endedRuns.set(runId, live.value?.tail)
  // Concurrent tools may be reported in another order than they were written.
  const isUnsure = live.value?.isUnsure === true || tools.value.size > 1
  detach()
  void attempt(async () => {
    try {
      const [{ items }] = await Promise.all([
        api.runs(conversationId, { limit: 1 }),
        loadDetails(conversationId),
        isUnsure ? loadTree(conversationId) : undefined,
      ])
      const [run] = items
      // A client's run is not listed: the newest one is an earlier one.
      if (current.value?.id === conversationId && run?.id === runId && run.state === 'ended') lastRun.value = run
    } catch (error) {
      // The conversation was deleted during its run: another event reports that.
      if (failureOf(error).kind !== 'not-found') throw error
    }
  })
}

export async function cancel(runId: string): Promise<void> {
  if (live.value?.runId === runId) live.value = { ...live.value, stopping: true }
  const isAccepted = await attempt(() => api.cancel(runId))
  if (!isAccepted && live.value?.runId === runId) live.value = { ...live.value, stopping: false }
}
