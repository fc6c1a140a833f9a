// What every conversation is doing, not only the open one: asked for every two seconds while the page is looked at. The
// same question shows whether the server is there at all.

import { computed, effect, signal } from '@preact/signals'
import { failureOf, keyWanted } from '../api/client.ts'
import { api } from '../api/routes.ts'
import type { RunView } from '../api/types.ts'
import { current } from './conversation.ts'

export type Activity = 'answering' | 'waits for you' | 'failed'

const intervalMs = 2000
/** The newest runs; what ran before them is at rest. */
const most = 50

/** The newest run of each conversation. */
const newest = signal<ReadonlyMap<string, RunView>>(new Map())
/** Since when the server has not answered. */
export const lostSince = signal<number | undefined>(undefined)
/** Runs whose end was seen: a failure is news only until somebody has looked at it. */
const looked = signal<ReadonlySet<string>>(new Set())

export function activityOf(conversationId: string): Activity | undefined {
  const run = newest.value.get(conversationId)
  if (!run) return undefined
  if (run.state !== 'ended') return 'answering'
  if (run.outcome === 'waiting') return 'waits for you'
  return run.outcome === 'failed' && !looked.value.has(run.id) ? 'failed' : undefined
}

/** For the tab title: how many other conversations want something from the user. */
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
  const wake = () => {
    clearTimeout(timer)
    if (!document.hidden && !stopped) void look()
  }
  document.addEventListener('visibilitychange', wake)
  // Whoever goes elsewhere wants to see at once what the one they left does.
  const forget = effect(() => {
    if (current.value?.id !== '') wake()
  })
  return () => {
    stopped = true
    forget()
    clearTimeout(timer)
    document.removeEventListener('visibilitychange', wake)
  }

  async function look(): Promise<void> {
    if (!keyWanted.value) await refresh()
    if (!stopped && !document.hidden) timer = setTimeout(() => void look(), intervalMs)
  }
}

async function refresh(): Promise<void> {
  try {
    const { items } = await api.allRuns({ limit: most })
    const runs = new Map<string, RunView>()
    for (const run of items) if (!runs.has(run.conversationId)) runs.set(run.conversationId, run)
    newest.value = runs
    lostSince.value = undefined
  } catch (error) {
    if (failureOf(error).kind === 'network') lostSince.value ??= Date.now()
  }
}
