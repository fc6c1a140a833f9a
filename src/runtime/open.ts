// The library in one object: a store, the providers, and conversations over them.

import type { Config } from '../config/load.ts'
import type { Conversation as Stored } from '../core/log.ts'
import { badInput, SynapseError } from '../core/error.ts'
import type { JsonObject } from '../core/json.ts'
import type { Tool } from '../core/tool.ts'
import type { Emulator } from '../emulator/handle.ts'
import { conversationOf, type Conversation, type RunSettings, type Runtime } from '../run/conversation.ts'
import { cooldown } from '../run/cooldown.ts'
import type { AnswerOf } from '../run/answer-schema.ts'
import { withChanges } from '../run/settings.ts'
import { settingsToStore, storedSettings, storedToolNames, toolsNamed } from '../run/stored-settings.ts'
import { recover } from '../run/recover.ts'
import type { Transport } from '../run/run-context.ts'
import { findModel } from '../providers/find-model.ts'
import { parseModelRef } from '../providers/model-ref.ts'
import type { ProviderRow } from '../providers/provider.ts'
import { resolve, type Endpoint } from '../providers/resolve.ts'
import { checkConnection, checkRunSettings } from '../settings/check.ts'
import { isPostgres, openStore } from '../store/open.ts'
import type { Page, PageOf, Store } from '../store/store.ts'
import { defaultRetry } from '../transport/retry.ts'
import { retryBudgets } from '../transport/retry-budget.ts'
import { beginConversation, type Beginning } from './begin-conversation.ts'
import { loadOpenTelemetry } from './load-opentelemetry.ts'
import type { TelemetryOptions } from './telemetry.ts'

export interface SynapseOptions {
  /** A file for the embedded store, a `postgres://` URL, or a store of your own; without it, memory. */
  store?: string | Store
  /** Whose conversations these are; each owner sees only its own. */
  owner?: string
  /** Where keys are looked up. */
  env?: Readonly<Record<string, string | undefined>>
  /** Keys by provider, in place of those in `env`. */
  keys?: Readonly<Record<string, string>>
  /** Addresses by provider, for those that live elsewhere than usual. */
  baseUrls?: Readonly<Record<string, string>>
  /**
   * Let the built-in emulator answer in place of every provider: no key, no network, no cost. An emulator of your own
   * (`synapse/testing`) plays the providers, with their prices.
   */
  offline?: boolean | Emulator
  /** Providers beside the built-in ones and those of `config` and the store; one with the same id takes its place. */
  rows?: readonly ProviderRow[]
  /** A synapse.yaml, whose providers count; none is looked for. */
  config?: string
  /** Providers that are no row of data, such as models of the AI SDK (`synapse/ai-sdk`). */
  adapters?: readonly Adapter[]
  /** How requests are sent: `fetch`, time limits, retries. */
  transport?: Transport
  /** Tools of conversations that are opened again: those that one was started with are found here by name. */
  tools?: readonly Tool[]
  /** Spans and metrics through OpenTelemetry; `true` takes the global providers. Nothing is loaded without it. */
  telemetry?: boolean | TelemetryOptions
  /** The clock of approvals and cooldowns, in milliseconds. */
  now?: () => number
}

/** A provider in code: it finds its own models. */
export interface Adapter {
  /** What comes before the slash in `provider/model`. */
  id: string
  endpoint(model: string | undefined): Promise<{ endpoint: Endpoint; transport: Transport }>
}

/** Conversations in a store. */
export interface Synapse {
  store: Store
  /** A new conversation, which may begin with a history from elsewhere. Its settings are stored with it. */
  start<const S extends object>(settings: RunSettings & Beginning & { answer: S }): Promise<Conversation<AnswerOf<S>>>
  start(settings: RunSettings & Beginning): Promise<Conversation>
  /**
   * One that is there. It continues with the settings it was started with; those given here take their place, and are
   * stored. Tools are found by name among the `tools` of `openSynapse`, or given here.
   */
  open<const S extends object>(
    id: string,
    settings: Partial<RunSettings> & { answer: S },
  ): Promise<Conversation<AnswerOf<S>>>
  open(id: string, settings?: Partial<RunSettings>): Promise<Conversation>
  /** The last changed first, 50 at a time by default; `next` is the `cursor` of the next page. */
  conversations(page?: PageOf & { label?: string }): Promise<Page<Stored>>
  /** Closes the store, if it was opened here: one that was given stays open. */
  close(): Promise<void>
}

/**
 * Opens the store and gives conversations over it.
 *
 * @example
 * const synapse = await openSynapse({ store: 'chats.db' })
 * const chat = await synapse.start({ model: 'anthropic/claude-opus-5' })
 * console.log(await chat.send('Hello!').text())
 */
export async function openSynapse(options: SynapseOptions = {}): Promise<Synapse> {
  checkConnection(options)
  const store = typeof options.store === 'object' ? options.store : await openAddress(options.store)
  const owner = options.owner ?? 'local'
  const runtime: Runtime = {
    store,
    owner,
    endpoint: await endpointFinder({ ...options, store }),
    cooldown: cooldown(options.now),
    ...(options.now && { now: options.now }),
    ...(options.telemetry && { observe: await observerOf(options.telemetry) }),
  }
  const checkModel = modelCheck({ ...options, store })
  return {
    store,
    async start({ messages, transcript, ...given }: RunSettings & Beginning) {
      checkRunSettings(given)
      await checkModel(given.model, given.protocol)
      const beginning = { ...(messages && { messages }), ...(transcript !== undefined && { transcript }) }
      const { id, settings } = await beginConversation(store, owner, given, beginning)
      return conversationOf(runtime, id, settings)
    },
    async open(id: string, given: Partial<RunSettings> = {}) {
      const stored = await store.conversation(owner, id)
      if (!stored) throw new SynapseError({ kind: 'not-found', message: `There is no conversation ${id}.` })
      const names = storedToolNames(stored.settings)
      const tools = toolsNamed(names, options.tools ?? [])
      const settings = withChanges(storedSettings(stored.settings), given)
      const { model } = settings
      if (model === undefined) {
        throw badInput(
          `No model is stored with conversation ${id}: give one, such as open(id, { model: 'anthropic' }).`,
        )
      }
      // A wire that was stored for one model is not kept for another.
      const { protocol: _, ...others } = stored.settings
      const changed = { ...others, ...settingsToStore(settings) }
      if (!sameSettings(changed, stored.settings)) await store.updateConversation(owner, id, { settings: changed })
      await recover(store, owner, id)
      return conversationOf(runtime, id, { ...(tools && { tools }), ...settings, model }, names)
    },
    conversations: (page) => store.conversations(owner, page),
    async close() {
      if (typeof options.store !== 'object') await store.close()
    },
  }
}

function sameSettings(a: JsonObject, b: JsonObject): boolean {
  const sorted = (one: JsonObject) => JSON.stringify(Object.entries(one).toSorted(([x], [y]) => (x < y ? -1 : 1)))
  return sorted(a) === sorted(b)
}

async function openAddress(address: string | undefined): Promise<Store> {
  if (address !== undefined && !isPostgres(address)) {
    const { checkFolder } = await import('../store/check-folder.ts')
    checkFolder(address)
  }
  return openStore(address)
}

/** Who serves a model: the provider itself, or the emulator under the provider's name. */
export async function endpointFinder(options: SynapseOptions): Promise<Runtime['endpoint']> {
  const transport = { ...options.transport }
  if (typeof options.offline === 'object') transport.fetch = options.offline.fetch
  else if (options.offline) {
    const { createEmulator } = await import('../emulator/handle.ts')
    transport.fetch = createEmulator().answer
  }
  const rows = await rowsOf(options)
  const budgetOf = retryBudgets(options.transport?.retry?.share ?? defaultRetry.share)
  return async (model, protocol) => {
    const adapter = options.adapters?.find(({ id }) => id === parseModelRef(model).provider)
    if (adapter) {
      const found = await adapter.endpoint(parseModelRef(model).model)
      return { ...found, transport: { budget: budgetOf(adapter.id), ...options.transport, ...found.transport } }
    }
    const ref = await findModel(model, { rows, env: options.env, keys: options.keys })
    const endpoint = await resolve({
      ...ref,
      ...(protocol !== undefined && { protocol }),
      ...(options.env && { env: options.env }),
      ...(rows && { rows }),
      ...givenFor(ref.provider, options),
    })
    const budget = budgetOf(`${endpoint.provider.id} ${endpoint.baseUrl}`)
    const way = { endpoint, transport: { budget, ...transport } }
    if (!options.offline) return way
    const { pathname } = new URL(endpoint.baseUrl)
    const { id, family = id } = endpoint.provider
    const baseUrl = `http://emulator.invalid/${family}${pathname === '/' ? '' : pathname}`
    return { ...way, endpoint: { ...endpoint, baseUrl, ...(options.offline === true && { offline: true }) } }
  }
}

/** Throws where no provider has this model's name, or does not speak the protocol. It may still lack a key. */
function modelCheck(options: SynapseOptions) {
  let rows: ReturnType<typeof rowsOf> | undefined
  return async (model: string, protocol: string | undefined): Promise<void> => {
    if (options.adapters?.some(({ id }) => id === parseModelRef(model).provider)) return
    const known = await (rows ??= rowsOf(options))
    const ref = await findModel(model, { rows: known, env: options.env, keys: options.keys })
    const place = { env: {}, keyless: true, baseUrl: 'https://not-asked.invalid' }
    await resolve({ ...ref, ...place, ...(protocol !== undefined && { protocol }), ...(known && { rows: known }) })
  }
}

function givenFor(provider: string, { offline, keys, baseUrls }: SynapseOptions): { key?: string; baseUrl?: string } {
  // Whoever lives where its user says needs an address here too.
  if (offline) return { key: 'offline', baseUrl: 'https://emulator.invalid' }
  const [key, baseUrl] = [keys?.[provider], baseUrls?.[provider]]
  return { ...(key !== undefined && { key }), ...(baseUrl !== undefined && { baseUrl }) }
}

/** Everybody who can be asked; undefined: those that are built in. */
async function rowsOf(options: SynapseOptions): Promise<readonly ProviderRow[] | undefined> {
  const { rows: own, config: file, env, store } = options
  const config = file === undefined ? undefined : await configOf(file, env)
  const others = typeof store === 'object' ? await storedRows(store, config) : config?.rows
  if (!own) return others
  const { rowsWith } = await import('../providers/rows.ts')
  return rowsWith(own, others)
}

async function configOf(file: string, env: SynapseOptions['env']): Promise<Config> {
  const { loadConfig } = await import('../config/load.ts')
  return loadConfig({ file, ...(env && { env }) })
}

async function storedRows(store: Store, config: Config | undefined): Promise<readonly ProviderRow[]> {
  const { rowsFor } = await import('../config/stored-providers.ts')
  return rowsFor(store, config)
}

async function observerOf(telemetry: true | TelemetryOptions): Promise<NonNullable<Runtime['observe']>> {
  const { observing } = await import('./telemetry.ts')
  return observing(telemetry === true ? {} : telemetry, await loadOpenTelemetry())
}
