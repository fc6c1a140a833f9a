// The list on the left: all conversations, those of one label, or search results.

import { effect, signal } from '@preact/signals'
import { api } from '../api/routes.ts'
import type { ConversationView, Hit } from '../api/types.ts'
import { attempt } from './session.ts'

export const conversations = signal<ConversationView[]>([])
/** The conversations at the top of the list: they have this label. */
export const pinned = signal<ConversationView[]>([])
export const pinLabel = 'pinned'
/** Requests that clients make for their own purposes: only the list of this label has them. */
const sideCallLabel = 'side-call'
export const moreConversations = signal<string | undefined>(undefined)
export const label = signal('')
/** Labels seen so far: the server has no list of them. */
export const labels = signal<string[]>([])

export const searchText = signal('')
export const hits = signal<Hit[] | undefined>(undefined)
export const moreHits = signal<string | undefined>(undefined)

const pauseMs = 200

/** A response that was pending when a conversation was deleted may still contain it. */
const deleted = new Set<string>()

export async function loadConversations(cursor?: string): Promise<void> {
  const within = label.value
  await attempt(async () => {
    const [page, top, aside] = await Promise.all([
      api.conversations({ limit: 50, cursor, label: within || undefined }),
      cursor === undefined ? api.conversations({ limit: 50, label: pinLabel }) : undefined,
      cursor === undefined ? api.conversations({ limit: 1, label: sideCallLabel }) : undefined,
    ])
    if (top) pinned.value = top.items.filter((one) => !deleted.has(one.id))
    if (within !== label.value) return
    const items = page.items.filter((one) => !deleted.has(one.id))
    conversations.value = cursor === undefined ? items : [...conversations.value, ...items]
    moreConversations.value = page.next
    rememberLabels([...items, ...(aside?.items ?? [])])
  })
}

export function chooseLabel(name: string): void {
  label.value = label.value === name ? '' : name
  void loadConversations()
}

/** Updates a conversation in the list: most recently changed first. */
export function updateListed(changed: ConversationView): void {
  if (deleted.has(changed.id)) return
  const others = conversations.value.filter((one) => one.id !== changed.id)
  const fits = label.value === '' || changed.labels.includes(label.value)
  const before = others.findIndex((one) => one.updatedAt <= changed.updatedAt)
  const isPinned = changed.labels.includes(pinLabel)
  const rest = pinned.value.filter((one) => one.id !== changed.id)
  if (isPinned || rest.length < pinned.value.length) pinned.value = isPinned ? [changed, ...rest] : rest
  if (fits) others.splice(before < 0 ? others.length : before, 0, changed)
  conversations.value = others
  rememberLabels([changed])
}

/** What clients of the server and other pages have started, continued or deleted. */
export async function loadChanged(): Promise<void> {
  const before = conversations.value
  const { items, next } = await api.conversations({ limit: 20 })
  const known = new Map(conversations.value.map((one) => [one.id, one.updatedAt]))
  for (const one of items.toReversed()) if (known.get(one.id) !== one.updatedAt) updateListed(one)
  // The newest come first: of what was listed before, everything newer than the last of them must be among them. A
  // list of one label may hold what the whole list leaves out.
  if (label.value !== '') return
  const oldest = next === undefined ? '' : (items.at(-1)?.updatedAt ?? '')
  const found = new Set(items.map((one) => one.id))
  for (const one of before) if (one.updatedAt > oldest && !found.has(one.id)) unlist(one.id)
}

export function dropListed(id: string): void {
  deleted.add(id)
  unlist(id)
}

function unlist(id: string): void {
  conversations.value = conversations.value.filter((one) => one.id !== id)
  pinned.value = pinned.value.filter((one) => one.id !== id)
}

function rememberLabels(seen: readonly ConversationView[]): void {
  const all = new Set([...labels.value, ...seen.flatMap((one) => one.labels)])
  all.delete(pinLabel)
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
