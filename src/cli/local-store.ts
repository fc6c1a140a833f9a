// Where the command line stores conversations, and its endpoints: the parts that most commands begin with.

import { homedir } from 'node:os'
import { join } from 'node:path'
import { userVariable } from '../config/folder-variables.ts'
import { badInput } from '../core/error.ts'
import { sideCall, type Conversation as Stored } from '../core/log.ts'
import type { Store } from '../store/store.ts'
import { printError } from './print.ts'
import { neutral } from './terminal.ts'

export const storeOptions = { db: { type: 'string' } } as const

/** There is one owner for the command line. */
const owner = 'local'

export interface LocalStore {
  store: Store
  owner: string
  /** A conversation by its id, a prefix of it, its row number in `synapse log`, or "last". */
  find(id: string): Promise<Stored>
  /** The last conversation with a message: an empty chat is not continued. */
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
    last: (matches) => findLast(store, matches),
    close: () => store.close(),
  }
}

/** Closes the store when the work is done. */
export async function withLocalStore<T>(
  values: { db?: string | undefined },
  work: (local: LocalStore) => Promise<T>,
): Promise<T> {
  const local = await openLocalStore(values)
  try {
    return await work(local)
  } finally {
    await local.close()
  }
}

function warn(sentence: string): void {
  printError(`synapse: Warning: ${neutral(sentence)}\n`)
}

/** The folder for other data, such as the input history. */
export function dataFolder(): string {
  return join(userVariable('XDG_DATA_HOME') || join(homedir(), '.local', 'share'), 'synapse')
}

/** The given file or address, or the default one. */
export function storeAddress(values: { db?: string | undefined }): string {
  if (values.db === '') throw badInput('--db takes a file path, but it is empty.')
  return values.db ?? (userVariable('SYNAPSE_DB') || defaultFile())
}

function defaultFile(): string {
  return join(dataFolder(), 'synapse.db')
}

async function find(store: Store, id: string): Promise<Stored> {
  // Every id begins with an empty prefix: what a script meant with an empty argument is unknown.
  if (id === '') throw badInput('The conversation id is empty. "synapse log" lists the ids.')
  const exact = await store.conversation(owner, id)
  if (exact) return exact
  if (isRowNumber(id)) return rowOf(store, Number(id))
  if (id === 'last') return lastOrThrow(store)
  const matches: Stored[] = []
  for await (const conversation of everyConversation({ store, owner }))
    if (conversation.id.startsWith(id)) matches.push(conversation)
  const [only, ...others] = matches
  if (!only) throw badInput(`There is no conversation ${id}. "synapse log" lists them.`)
  if (others.length > 0) throw badInput(`${matches.length} conversations begin with ${id}. Use a longer prefix.`)
  return only
}

/** A row number of "synapse log", not an id prefix: ids begin with a zero. */
export function isRowNumber(text: string): boolean {
  return /^[1-9]\d{0,3}$/.test(text)
}

async function rowOf(store: Store, number: number): Promise<Stored> {
  let row = 0
  for await (const conversation of listedConversations(store)) if (++row === number) return conversation
  throw badInput(`No row ${number}: there are only ${row} conversations. "synapse log" lists them.`)
}

async function lastOrThrow(store: Store): Promise<Stored> {
  const conversation = await findLast(store)
  if (!conversation) throw badInput('There are no conversations yet.')
  return conversation
}

async function findLast(store: Store, matches: (one: Stored) => boolean = () => true): Promise<Stored | undefined> {
  for await (const conversation of listedConversations(store))
    if (conversation.entries > 0 && matches(conversation)) return conversation
  return undefined
}

/** As "synapse log" lists them. */
function listedConversations(store: Store): AsyncGenerator<Stored> {
  return everyConversation({ store, owner }, { withoutLabel: sideCall })
}

/** Most recently changed first. */
export async function* everyConversation(
  { store, owner }: Pick<LocalStore, 'store' | 'owner'>,
  only: { withoutLabel?: string } = {},
): AsyncGenerator<Stored> {
  for (let cursor: string | undefined; ;) {
    const page = await store.conversations(owner, { ...only, limit: 100, ...(cursor !== undefined && { cursor }) })
    yield* page.items
    cursor = page.next
    if (cursor === undefined) return
  }
}
