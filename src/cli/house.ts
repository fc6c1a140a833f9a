// Where the command line keeps conversations, and who answers: the pieces that most commands begin with.

import { homedir } from 'node:os'
import { join } from 'node:path'
import { badInput } from '../core/error.ts'
import type { Conversation as Stored } from '../core/log.ts'
import type { Store } from '../store/store.ts'

export const storeOptions = { db: { type: 'string' } } as const

/** Everyone at this terminal is the same owner. */
const owner = 'local'

export interface House {
  store: Store
  owner: string
  /** A conversation by its id or the beginning of it. */
  find(id: string): Promise<Stored>
  close(): Promise<void>
}

export async function openHouse(values: { db?: string | undefined }): Promise<House> {
  const { openStore } = await import('../store/open.ts')
  const store = await openStore(placeOf(values))
  return { store, owner, find: (id) => find(store, id), close: () => store.close() }
}

/** Where things are kept that are no conversation, such as what was typed. */
export function dataFolder(): string {
  return join(process.env['XDG_DATA_HOME'] || join(homedir(), '.local', 'share'), 'synapse')
}

/** The file or address that was named, or the usual one. */
export function placeOf(values: { db?: string | undefined }): string {
  return values.db ?? process.env['SYNAPSE_DB'] ?? defaultFile()
}

function defaultFile(): string {
  return join(dataFolder(), 'synapse.db')
}

async function find(store: Store, id: string): Promise<Stored> {
  const exact = await store.conversation(owner, id)
  if (exact) return exact
  const found: Stored[] = []
  for (let cursor: string | undefined; ;) {
    const page = await store.conversations(owner, { limit: 500, ...(cursor && { cursor }) })
    found.push(...page.items.filter((item) => item.id.startsWith(id)))
    cursor = page.next
    if (!cursor) break
  }
  const [only, ...others] = found
  if (!only) throw badInput(`There is no conversation ${id}. "synapse log" lists them.`)
  if (others.length > 0) throw badInput(`${found.length} conversations begin with ${id}. Give more of the id.`)
  return only
}
