// What a person can do that starts a run: say something, say it in other words, ask again, continue, allow a tool.

import { batch } from '@preact/signals'
import { api } from '../api/routes.ts'
import type { Approval, Entry, Part } from '../api/types.ts'
import {
  approvals,
  arrived,
  current,
  ensure,
  following,
  leaf,
  loadBeside,
  place,
  ready,
  showEnd,
  tree,
} from './conversation.ts'
import { attach, entryOf, reached } from './run.ts'
import { attempt } from './session.ts'

const starting = new Set<string>()

/** Who clicks twice wants it once: nothing is started again at a place before it was. Gives whether it was done. */
async function start(at: string, what: () => Promise<void>): Promise<boolean> {
  if (starting.has(at)) return false
  starting.add(at)
  await ready()
  const done = await attempt(what)
  starting.delete(at)
  return done
}

/** What the user says, in this conversation or in a new one. Gives whether it was taken. */
export async function send(parts: Part[]): Promise<boolean> {
  return start(current.value?.id ?? '', async () => {
    const { id } = await ensure()
    const said = parts.filter((part) => part.type === 'text' || part.type === 'media')
    const parentId = leaf.value
    if (parentId !== current.value?.head && parentId !== null) await api.change(id, { head: parentId })
    following.value = true
    showEnd.value++
    const run = await api.send(id, { parts: said, parentId })
    if (current.value?.id !== id) return
    if (run.entryId !== undefined && !tree.value.byId.has(run.entryId)) {
      arrived(entryOf(id, run.entryId, { role: 'user', parts: said }, parentId))
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

/** Lets a tool run that waits for a person, or does not. */
export async function answer({ call, argsHash }: Approval, allowed: boolean): Promise<void> {
  const id = current.value?.id
  if (id === undefined) return
  const isTaken = await start(call.callId, async () => {
    const run = await api.answer(id, call.callId, { allowed, argsHash })
    const left = new Map(approvals.value)
    left.delete(call.callId)
    approvals.value = left
    attach(id, run.id)
  })
  // The question may be over.
  if (!isTaken) await attempt(() => loadBeside(id))
}

export async function goOn(): Promise<void> {
  const id = current.value?.id
  if (id !== undefined) await start(id, async () => attach(id, (await api.goOn(id)).id))
}

/** A run that began at another place than what was looked at. */
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
