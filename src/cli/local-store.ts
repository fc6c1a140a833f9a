// Where the command line keeps conversations, and who answers: the pieces that most commands begin with.

import { homedir } from 'node:os'
import { join } from 'node:path'
import { userVariable } from '../config/folder-variables.ts'
import { badInput } from '../core/error.ts'
import type { Conversation as Stored } from '../core/log.ts'
import type { Store } from '../store/store.ts'
import { printError } from './print.ts'
import { neutral } from './terminal.ts'

export const storeOptions = { db: { type: 'string' } } as const

/** Everyone at this terminal is the same owner. */
const owner = 'local'

export interface LocalStore {
  store: Store
  owner: string
  /** A conversation by its id or the beginning of it. */
  find(id: string): Promise<Stored>
  /** The last conversation in which something was said: a chat that was opened and left again is none to continue with. */
  last(wanted?: (one: Stored) => boolean): Promise<Stored | undefined>
  close(): Promise<void>
}

export async function openLocalStore(values: { db?: string | undefined }): Promise<LocalStore> {
  const { openStore } = await import('../store/open.ts')
  const store = await openStore(storeAddress(values), { warn })
  return {
    store,
    owner,
    find: (id) => find(store, id),
    last: (wanted) => last(store, wanted),
    close: () => store.close(),
  }
}

function warn(sentence: string): void {
  printError(`synapse: Warning: ${neutral(sentence)}\n`)
}

/** Where things are kept that are no conversation, such as what was typed. */
export function dataFolder(): string {
  return join(userVariable('XDG_DATA_HOME') || join(homedir(), '.local', 'share'), 'synapse')
}

/** The file or address that was named, or the usual one. */
export function storeAddress(values: { db?: string | undefined }): string {
  if (values.db === '') throw badInput('--db takes the path of a file, and was given an empty one.')
  return values.db ?? (userVariable('SYNAPSE_DB') || defaultFile())
}

function defaultFile(): string {
  return join(dataFolder(), 'synapse.db')
}

async function find(store: Store, id: string): Promise<Stored> {
  // Every id begins with nothing: what a script meant with an empty word is not known.
  if (id === '') throw badInput('The id of a conversation is empty. "synapse log" lists them.')
  const exact = await store.conversation(owner, id)
  if (exact) return exact
  const found: Stored[] = []
  for await (const one of everyConversation({ store, owner })) if (one.id.startsWith(id)) found.push(one)
  const [only, ...others] = found
  if (!only) throw badInput(`There is no conversation ${id}. "synapse log" lists them.`)
  if (others.length > 0) throw badInput(`${found.length} conversations begin with ${id}. Give more of the id.`)
  return only
}

async function last(store: Store, wanted: (one: Stored) => boolean = () => true): Promise<Stored | undefined> {
  for await (const one of everyConversation({ store, owner })) if (one.entries > 0 && wanted(one)) return one
  return undefined
}

/** The last changed first. */
export async function* everyConversation({
  store,
  owner,
}: Pick<LocalStore, 'store' | 'owner'>): AsyncGenerator<Stored> {
  for (let cursor: string | undefined; ;) {
    const page = await store.conversations(owner, { limit: 100, ...(cursor !== undefined && { cursor }) })
    yield* page.items
    cursor = page.next
    if (cursor === undefined) return
  }
}
