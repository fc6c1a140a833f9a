// What every conversation is doing, not only the open one: polled every two seconds while the page is visible, with those
// that others have started or continued. The same requests show whether the server is reachable.

import { computed, effect, signal, untracked } from '@preact/signals'
import { failureOf, keyWanted } from '../api/client.ts'
import { api } from '../api/routes.ts'
import type { RunView } from '../api/types.ts'
import { current } from './conversation.ts'
import { loadChanged } from './conversations.ts'

export type Activity = 'answering' | 'waits for you' | 'failed'

const intervalMs = 2000
/** The newest runs; earlier ones have ended. */
const most = 50

/** The newest run of each conversation. */
const newest = signal<ReadonlyMap<string, RunView>>(new Map())
/** Since when the server has not answered. */
export const lostSince = signal<number | undefined>(undefined)
/** Runs whose end was seen: a failure is news only until the user has seen it. */
const looked = signal<ReadonlySet<string>>(new Set())

export function activityOf(conversationId: string): Activity | undefined {
  const run = newest.value.get(conversationId)
  if (!run) return undefined
  if (run.state !== 'ended') return 'answering'
  if (run.outcome === 'waiting') return 'waits for you'
  return run.outcome === 'failed' && !looked.value.has(run.id) ? 'failed' : undefined
}

/** For the tab title: how many other conversations need the user. */
export const waitingCount = computed(
  () => [...newest.value.keys()].filter((id) => activityOf(id) === 'waits for you').length,
)

effect(() => {
  const run = newest.value.get(current.value?.id ?? '')
  if (run?.state === 'ended' && !looked.peek().has(run.id)) looked.value = new Set([...looked.peek(), run.id])
})

export function watchActivity(): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined
  let stopped = false
  let isPolling = false
  let isStale = false
  const wake = () => {
    clearTimeout(timer)
    if (isPolling) isStale = true
    else if (!document.hidden && !stopped) void poll()
  }
  document.addEventListener('visibilitychange', wake)
  // After navigating away, the state of the previous conversation is shown at once.
  const forget = effect(() => {
    if (current.value?.id !== '') untracked(wake)
  })
  return () => {
    stopped = true
    forget()
    clearTimeout(timer)
    document.removeEventListener('visibilitychange', wake)
  }

  /** Never runs twice at once: a wake-up during a poll leads to another poll after it. */
  async function poll(): Promise<void> {
    isPolling = true
    isStale = false
    if (!keyWanted.value) await refresh()
    isPolling = false
    if (!stopped && !document.hidden) timer = setTimeout(() => void poll(), isStale ? 0 : intervalMs)
  }
}

async function refresh(): Promise<void> {
  try {
    const [{ items }] = await Promise.all([api.allRuns({ limit: most }), loadChanged()])
    const runs = new Map<string, RunView>()
    for (const run of items) if (!runs.has(run.conversationId)) runs.set(run.conversationId, run)
    newest.value = runs
    lostSince.value = undefined
  } catch (error) {
    if (failureOf(error).kind === 'network') lostSince.value ??= Date.now()
  }
}
