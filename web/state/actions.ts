// The actions that start a run: send, edit, regenerate, continue, approve a tool.

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
import { attach, entryOf, reached } from './run.ts'
import { attempt } from './session.ts'

const starting = new Set<string>()

/** Ignores a double click: an action does not start again before it has ended. Returns whether it was done. */
async function start(at: string, what: () => Promise<void>): Promise<boolean> {
  if (starting.has(at)) return false
  starting.add(at)
  await ready()
  const done = await attempt(what)
  starting.delete(at)
  return done
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
    if (current.value?.id !== id) return
    if (run.entryId !== undefined && !tree.value.byId.has(run.entryId)) {
      arrived(entryOf(id, run.entryId, { role: 'user', parts: content }, parentId))
    }
    attach(id, run.id)
  })
}

export async function edit(entry: Entry, text: string): Promise<boolean> {
  const { conversationId } = entry
  const parts = (entry.message.parts as Part[]).filter((part) => part.type === 'media')
  return start(conversationId, async () => {
    const run = await api.edit(conversationId, entry.id, { parts: [...parts, { type: 'text', text }] })
    await moved(conversationId, run)
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
    const left = new Map(approvals.value)
    left.delete(call.callId)
    approvals.value = left
    attach(id, run.id)
  })
  // The question may have expired.
  if (!isTaken) await attempt(() => loadDetails(id))
}

export async function goOn(): Promise<void> {
  const id = current.value?.id
  if (id !== undefined) await start(id, async () => attach(id, (await api.goOn(id)).id))
}

/** A run that started elsewhere than at the displayed position. */
async function moved(conversationId: string, run: { id: string; entryId?: string; basedOn: string }): Promise<void> {
  if (current.value?.id !== conversationId) return
  const at = run.entryId ?? run.basedOn
  const entry = tree.value.byId.has(at) ? undefined : await api.entry(at)
  if (current.value?.id !== conversationId) return
  batch(() => {
    if (entry) place(entry)
    following.value = true
    showEnd.value++
    leaf.value = reached(run.id) ?? at
    attach(conversationId, run.id)
  })
}
