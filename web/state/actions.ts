// The actions that start a run: send, edit, regenerate, continue, approve a tool; and the one that stops it.

import { batch } from '@preact/signals'
import { api } from '../api/routes.ts'
import type { Approval, Entry, Part, Verdict } from '../api/types.ts'
import {
  approvals,
  arrived,
  current,
  ensure,
  following,
  leaf,
  loadDetails,
  place,
  ready,
  showEnd,
  tree,
} from './conversation.ts'
import { attach, cancel, entryOf, live, reached } from './run.ts'
import { attempt } from './session.ts'

const starting = new Map<string, { isStopped: boolean }>()

/**
 * Ignores a double click: an action does not start again before it has ended. `what` returns the id of the run. Returns
 * whether it was done.
 */
async function start(at: string, what: () => Promise<string>): Promise<boolean> {
  if (starting.has(at)) return false
  const action = { isStopped: false }
  starting.set(at, action)
  await ready()
  let runId: string | undefined
  const done = await attempt(async () => void (runId = await what()))
  starting.delete(at)
  if (action.isStopped && runId !== undefined) await cancel(runId)
  return done
}

/** Stops the run. A run that is just being started is stopped as soon as its id is known. */
export function stop(): void {
  const run = live.value
  if (!run) for (const action of starting.values()) action.isStopped = true
  else if (!run.stopping) void cancel(run.runId)
}

/** Sends a message, in this conversation or in a new one. Returns whether it was accepted. */
export async function send(parts: Part[]): Promise<boolean> {
  return start(current.value?.id ?? '', async () => {
    const { id } = await ensure()
    const content = parts.filter((part) => part.type === 'text' || part.type === 'media')
    const parentId = leaf.value
    if (parentId !== current.value?.head && parentId !== null) await api.change(id, { head: parentId })
    following.value = true
    showEnd.value++
    const run = await api.send(id, { parts: content, parentId })
    if (current.value?.id !== id) return run.id
    if (run.entryId !== undefined && !tree.value.byId.has(run.entryId)) {
      arrived(entryOf(id, run.entryId, { role: 'user', parts: content }, parentId))
    }
    attach(id, run.id)
    return run.id
  })
}

export async function edit(entry: Entry, text: string): Promise<boolean> {
  const { conversationId } = entry
  const parts = (entry.message.parts as Part[]).filter((part) => part.type === 'media')
  return start(conversationId, async () => {
    const run = await api.edit(conversationId, entry.id, { parts: [...parts, { type: 'text', text }] })
    return moved(conversationId, run)
  })
}

export async function retry(entry: Entry): Promise<void> {
  const { conversationId } = entry
  await start(conversationId, async () => moved(conversationId, await api.retry(conversationId, entry.id)))
}

/** Approves or denies a waiting tool call. */
export async function answer({ call, argsHash }: Approval, verdict: Omit<Verdict, 'argsHash'>): Promise<void> {
  const id = current.value?.id
  if (id === undefined) return
  const isTaken = await start(call.callId, async () => {
    const run = await api.answer(id, call.callId, { ...verdict, argsHash })
    const remaining = new Map(approvals.value)
    remaining.delete(call.callId)
    approvals.value = remaining
    attach(id, run.id)
    return run.id
  })
  // The question may have expired.
  if (!isTaken) await attempt(() => loadDetails(id))
}

export async function continueRun(): Promise<void> {
  const id = current.value?.id
  if (id === undefined) return
  await start(id, async () => {
    const run = await api.continueRun(id)
    attach(id, run.id)
    return run.id
  })
}

/** A run that started elsewhere than at the displayed position. Returns its id. */
async function moved(conversationId: string, run: { id: string; entryId?: string; basedOn: string }): Promise<string> {
  if (current.value?.id !== conversationId) return run.id
  const at = run.entryId ?? run.basedOn
  const entry = tree.value.byId.has(at) ? undefined : await api.entry(at)
  if (current.value?.id !== conversationId) return run.id
  batch(() => {
    if (entry) place(entry)
    following.value = true
    showEnd.value++
    leaf.value = reached(run.id) ?? at
    attach(conversationId, run.id)
  })
  return run.id
}
