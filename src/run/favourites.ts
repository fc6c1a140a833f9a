// Models that a person uses often: favourites and recent ones.

import type { Store } from '../store/store.ts'

const kind = 'favourite-model'
const mostRecent = 8

export async function setFavourite(store: Store, owner: string, model: string, isFavourite: boolean): Promise<void> {
  const id = Buffer.from(model).toString('base64url')
  if (isFavourite) await store.putRecords([{ owner, kind, id, data: { model } }])
  else await store.deleteRecord(owner, kind, id)
}

export async function favouriteModels(store: Store, owner: string): Promise<string[]> {
  const { items } = await store.records(owner, kind, { limit: 500 })
  return items.flatMap(({ data }) => (typeof data['model'] === 'string' ? [data['model']] : [])).toReversed()
}

/** Most recently used first, of those that a provider answered. */
export async function recentModels(store: Store, owner: string): Promise<string[]> {
  const rows = await store.usage(owner, {})
  const used = rows.filter(({ offline, exchanges }) => offline < exchanges)
  const last = used.toSorted((a, b) => (a.day === b.day ? b.exchanges - a.exchanges : a.day < b.day ? 1 : -1))
  return [...new Set(last.map(({ provider, model }) => `${provider}/${model}`))].slice(0, mostRecent)
}
