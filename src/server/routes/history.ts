// The log: pages of a history, single entries, the tree, the export.

import type { Entry } from '../../core/log.ts'
import type { Store } from '../../store/store.ts'
import { json, longAnswer } from '../answer.ts'
import { audit } from '../audit.ts'
import { missing, route, type Route } from '../route.ts'
import { entriesQuery, exportQuery, type EntriesQuery } from '../schema.ts'
import { entriesPage, entryView, treeView, type EntriesPage } from '../views.ts'

export const historyRoutes: readonly Route[] = [
  route({
    method: 'get',
    path: '/api/conversations/{id}/entries',
    access: 'read',
    summary: 'A page of the history',
    query: entriesQuery,
    answer: { status: 200, description: 'Entries in order.', schema: entriesPage },
    handle: async ({ server, owner, param, query }) => json(await pageOf(server.store, owner, param('id'), query)),
  }),
  route({
    method: 'get',
    path: '/api/conversations/{id}/tree',
    access: 'read',
    summary: 'Every entry without its message, and the branches',
    answer: { status: 200, description: 'The tree.', schema: treeView },
    async handle({ server, owner, param }) {
      const id = param('id')
      const conversation = await server.store.conversation(owner, id)
      if (!conversation) throw missing('conversation', id)
      const place = { owner, conversationId: id }
      return longAnswer(await server.longReads.read(server.store, { do: 'tree', place }, conversation.entries))
    },
  }),
  route({
    method: 'get',
    path: '/api/conversations/{id}/export',
    access: 'read',
    summary: 'The history as a file: Markdown, HTML, or any transcript format',
    query: exportQuery,
    answer: { status: 200, description: 'The transcript.', type: 'application/json' },
    async handle({ server, owner, principal, param, query: { format = 'synapse' } }) {
      const { store } = server
      const id = param('id')
      const conversation = await store.conversation(owner, id)
      if (!conversation) throw missing('conversation', id)
      const task = { do: 'export', place: { owner, conversationId: id }, format } as const
      const written = await server.longReads.read(store, task, conversation.entries)
      await audit(store, principal, 'exported', id)
      return longAnswer(written)
    },
  }),
  route({
    method: 'get',
    path: '/api/entries/{id}',
    access: 'read',
    summary: 'One entry',
    answer: { status: 200, description: 'The entry.', schema: entryView },
    async handle({ server, owner, param }) {
      const entry = await server.store.entry(owner, param('id'))
      if (!entry) throw missing('entry', param('id'))
      return json(entry)
    },
  }),
]

async function pageOf(store: Store, owner: string, id: string, query: EntriesQuery): Promise<EntriesPage> {
  const conversation = await store.conversation(owner, id)
  if (!conversation) throw missing('conversation', id)
  const { limit = 50, before, after, around } = query
  const leaf = query.leaf ?? conversation.head
  for (const given of [query.leaf, before, after, around]) {
    const entry = given === undefined ? undefined : await store.entry(owner, given)
    if (given !== undefined && entry?.conversationId !== id) throw missing('entry', given)
  }
  // The common case, upward from the end, reads only the page.
  if (after === undefined && around === undefined) {
    const last = before === undefined ? leaf : ((await store.entry(owner, before))?.parentId ?? null)
    const items = last === null ? [] : await store.history(owner, last, { last: limit })
    return { items, before: beginning(items), after: before === undefined ? null : (items.at(-1)?.id ?? null) }
  }
  const path = await pathThrough(store, owner, id, after ?? around ?? '', leaf)
  const place = path.indexOf(after ?? around ?? '')
  const from = after === undefined ? Math.max(0, place - Math.floor(limit / 2)) : place + 1
  const wanted = path.slice(from, from + limit)
  const end = wanted.at(-1)
  const items = end === undefined ? [] : await store.history(owner, end, { last: wanted.length })
  return { items, before: beginning(items), after: from + limit < path.length ? (end ?? null) : null }
}

function beginning(items: readonly Entry[]): string | null {
  return items[0] && items[0].parentId !== null ? items[0].id : null
}

/** The ids from the root to a leaf, through the entry: to the given leaf if it follows, otherwise to the newest one. */
async function pathThrough(
  store: Store,
  owner: string,
  conversationId: string,
  entryId: string,
  leaf: string | null,
): Promise<string[]> {
  const outline = await store.outline(owner, conversationId)
  const parents = new Map(outline.map((entry) => [entry.id, entry.parentId]))
  const up = (from: string | null): string[] => {
    const path: string[] = []
    for (let at: string | null = from; at !== null; at = parents.get(at) ?? null) path.push(at)
    return path.toReversed()
  }
  const wanted = up(leaf)
  if (wanted.includes(entryId)) return wanted
  // In the order of writing, so a child comes after its parent, and the newest child is the last.
  let end = entryId
  const below = new Set([entryId])
  for (const { id, parentId } of outline) {
    if (parentId === null || !below.has(parentId)) continue
    below.add(id)
    end = id
  }
  return up(end)
}
