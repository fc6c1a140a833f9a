// The library in one object: a store, the providers, and conversations over them.

import type { Conversation as Stored } from './core/log.ts'
import type { Emulator } from './emulator/handle.ts'
import { conversationOf, type Conversation, type RunSettings, type Surroundings } from './run/conversation.ts'
import type { Transport } from './run/running.ts'
import { parseModelRef } from './providers/model-ref.ts'
import type { ProviderRow } from './providers/provider.ts'
import { resolve } from './providers/resolve.ts'
import type { Store } from './store/store.ts'

export interface SynapseOptions {
  /** A file for the embedded store, or a store of your own; without it, memory. */
  store?: string | Store
  /** Whose conversations these are; each owner sees only its own. */
  owner?: string
  /** Where keys are looked up. */
  env?: Readonly<Record<string, string | undefined>>
  /** Let an emulator answer in place of every provider: no key, no network. */
  offline?: boolean | Emulator
  /** Providers beside the built-in ones, or in their place. */
  rows?: readonly ProviderRow[]
  transport?: Transport
}

export interface Synapse {
  store: Store
  /** A new conversation. */
  start(settings: RunSettings): Promise<Conversation>
  /** One that is there. */
  open(id: string, settings: RunSettings): Promise<Conversation>
  conversations(): Promise<Stored[]>
  close(): Promise<void>
}

export async function openSynapse(options: SynapseOptions = {}): Promise<Synapse> {
  const store = await storeOf(options.store)
  const owner = options.owner ?? 'local'
  const house: Surroundings = { store, owner, endpoint: await endpointFinder(options) }
  return {
    store,
    async start(settings) {
      const { id } = await store.createConversation(owner)
      return conversationOf(house, id, settings)
    },
    async open(id, settings) {
      const conversation = conversationOf(house, id, settings)
      await conversation.info()
      return conversation
    },
    conversations: async () => (await store.conversations(owner)).items,
    close: () => store.close(),
  }
}

/** Who serves a model: the provider itself, or the emulator under the provider's name. */
export async function endpointFinder(options: SynapseOptions): Promise<Surroundings['endpoint']> {
  const transport = { ...options.transport }
  if (typeof options.offline === 'object') transport.fetch = options.offline.fetch
  else if (options.offline) {
    const { createEmulator } = await import('./emulator/handle.ts')
    transport.fetch = createEmulator().fetch
  }
  return async (model, protocol) => {
    const endpoint = await resolve({
      ...parseModelRef(model),
      ...(protocol !== undefined && { protocol }),
      ...(options.env && { env: options.env }),
      ...(options.rows && { rows: options.rows }),
      ...(options.offline && { key: 'offline' }),
    })
    if (!options.offline) return { endpoint, transport }
    const { pathname } = new URL(endpoint.baseUrl)
    const baseUrl = `http://emulator.invalid/${endpoint.provider.id}${pathname === '/' ? '' : pathname}`
    return { endpoint: { ...endpoint, baseUrl }, transport }
  }
}

async function storeOf(store: string | Store | undefined): Promise<Store> {
  if (typeof store === 'object') return store
  if (store === undefined) {
    const { openMemoryStore } = await import('./store/memory.ts')
    return openMemoryStore()
  }
  const { openSqliteStore } = await import('./store/sqlite.ts')
  return openSqliteStore(store)
}
