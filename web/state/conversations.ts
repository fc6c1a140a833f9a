// The list on the left: all conversations, those of one label, or what a search found.

import { effect, signal } from '@preact/signals'
import { api } from '../api/routes.ts'
import type { ConversationView, Hit } from '../api/types.ts'
import { attempt } from './session.ts'

export const conversations = signal<ConversationView[]>([])
export const moreConversations = signal<string | undefined>(undefined)
export const label = signal('')
/** Labels seen so far: the server has no list of them. */
export const labels = signal<string[]>([])

export const searchText = signal('')
export const hits = signal<Hit[] | undefined>(undefined)
export const moreHits = signal<string | undefined>(undefined)

const pauseMs = 200

/** An answer that was under way when a conversation was deleted may still name it. */
const deleted = new Set<string>()

export async function loadConversations(cursor?: string): Promise<void> {
  const within = label.value
  await attempt(async () => {
    const page = await api.conversations({ limit: 50, cursor, label: within || undefined })
    if (within !== label.value) return
    const items = page.items.filter((one) => !deleted.has(one.id))
    conversations.value = cursor === undefined ? items : [...conversations.value, ...items]
    moreConversations.value = page.next
    rememberLabels(items)
  })
}

export function chooseLabel(name: string): void {
  label.value = label.value === name ? '' : name
  void loadConversations()
}

/** Puts what is known of a conversation now at its place in the list: the last changed first. */
export function updateListed(changed: ConversationView): void {
  if (deleted.has(changed.id)) return
  const others = conversations.value.filter((one) => one.id !== changed.id)
  const fits = label.value === '' || changed.labels.includes(label.value)
  const before = others.findIndex((one) => one.updatedAt <= changed.updatedAt)
  if (fits) others.splice(before < 0 ? others.length : before, 0, changed)
  conversations.value = others
  rememberLabels([changed])
}

export function dropListed(id: string): void {
  deleted.add(id)
  conversations.value = conversations.value.filter((one) => one.id !== id)
}

function rememberLabels(seen: readonly ConversationView[]): void {
  const all = new Set([...labels.value, ...seen.flatMap((one) => one.labels)])
  if (all.size > labels.value.length) labels.value = [...all].sort()
}

effect(() => {
  const text = searchText.value.trim()
  const within = label.value
  if (text === '') {
    hits.value = undefined
    moreHits.value = undefined
    return undefined
  }
  const stop = new AbortController()
  const timer = setTimeout(() => void search(text, within, stop.signal), pauseMs)
  return () => {
    clearTimeout(timer)
    stop.abort()
  }
})

export async function searchMore(): Promise<void> {
  const cursor = moreHits.value
  if (cursor !== undefined) await search(searchText.value.trim(), label.value, undefined, cursor)
}

async function search(text: string, within: string, signal?: AbortSignal, cursor?: string): Promise<void> {
  await attempt(async () => {
    try {
      const page = await api.search({ text, limit: 30, cursor, label: within || undefined }, signal)
      if (text !== searchText.value.trim() || within !== label.value) return
      hits.value = cursor === undefined ? page.items : [...(hits.value ?? []), ...page.items]
      moreHits.value = page.next
    } catch (error) {
      if (!signal?.aborted) throw error
    }
  })
}
