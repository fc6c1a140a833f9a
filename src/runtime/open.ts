// The library in one object: a store, the providers, and conversations over them.

import type { Config } from '../config/load.ts'
import type { Conversation as Stored } from '../core/log.ts'
import { badInput, SynapseError } from '../core/error.ts'
import type { JsonObject } from '../core/json.ts'
import type { Tool } from '../core/tool.ts'
import type { Emulator } from '../emulator/handle.ts'
import { conversationOf, type Conversation, type RunSettings, type Runtime } from '../run/conversation.ts'
import { cooldown } from '../run/request/cooldown.ts'
import type { AnswerOf } from '../run/answer.ts'
import { withChanges } from '../run/settings.ts'
import { settingsToStore, storedSettings, storedToolNames, toolsNamed } from '../run/stored-settings.ts'
import { recover } from '../run/log/close-interrupted.ts'
import type { Transport } from '../run/run-context.ts'
import { findModel } from '../providers/find-model.ts'
import { parseModelRef } from '../providers/model-ref.ts'
import type { ProviderRow } from '../providers/provider.ts'
import { type Endpoint, resolve } from '../providers/resolve.ts'
import type { Handoff } from '../settings/run.ts'
import { checkArgument, checkConnection, checkRunSettings } from '../settings/check.ts'
import { isPostgres, openStore } from '../store/open.ts'
import type { Page, PageOf, Store } from '../store/store.ts'
import { wireIds } from '../wires/list.ts'
import type { Wire } from '../wires/wire.ts'
import { defaultRetry } from '../transport/retry.ts'
import { retryBudgets } from '../transport/retry-budget.ts'
import { agentTool } from './agent-tool.ts'
import { beginConversation, type Beginning } from './begin-conversation.ts'
import type { LocalModel } from './local-model.ts'
import { loadOpenTelemetry } from './load-opentelemetry.ts'
import type { TelemetryOptions } from './telemetry.ts'

export interface SynapseOptions {
  /** A file for the embedded store, a `postgres://` URL, or your own store; in memory by default. */
  store?: string | Store
  /** The owner of these conversations; each owner sees only its own. */
  owner?: string
  /** Where keys are looked up. */
  env?: Readonly<Record<string, string | undefined>>
  /** Keys by provider; they override those in `env`. */
  keys?: Readonly<Record<string, string>>
  /** Addresses by provider, for those at a non-default address. */
  baseUrls?: Readonly<Record<string, string>>
  /**
   * Use the built-in emulator in place of every provider: no key, no network, no cost. Your own emulator
   * (`synapse/testing`) emulates the providers, with their prices.
   */
  offline?: boolean | Emulator
  /** Wires in addition to the built-in ones, for `rows` that use them; `defineWire` makes one. */
  wires?: readonly Wire[]
  /**
   * Providers in addition to the built-in ones and those of `config` and the store; one with the same id replaces that
   * one.
   */
  rows?: readonly ProviderRow[]
  /** A synapse.yaml, whose providers are used; none is searched for. */
  config?: string
  /** Your own names for models, such as `{ fast: 'groq/llama-4' }`, in addition to those of `config`. */
  aliases?: Readonly<Record<string, string>>
  /** Providers that are not rows of data, such as models of the AI SDK (`synapse/ai-sdk`). */
  adapters?: readonly Adapter[]
  /** How requests are sent: `fetch`, time limits, retries. */
  transport?: Transport
  /** Tools for reopened conversations: those that one was started with are found here by name. */
  tools?: readonly Tool[]
  /** Spans and metrics through OpenTelemetry; `true` uses the global providers. Nothing is loaded without it. */
  telemetry?: boolean | TelemetryOptions
  /** The clock for approvals and cooldowns, in milliseconds. */
  now?: () => number
}

/** A provider in code: it resolves its own models. */
export interface Adapter {
  /** What comes before the slash in `provider/model`. */
  id: string
  endpoint(model: string | undefined): Promise<{ endpoint: Endpoint; transport: Transport }>
}

/** Conversations in a store. */
export interface Synapse {
  store: Store
  /** A new conversation, optionally with an existing history. Its settings are stored with it. */
  start<const S extends object>(settings: RunSettings & Beginning & { answer: S }): Promise<Conversation<AnswerOf<S>>>
  start(settings: RunSettings & Beginning): Promise<Conversation>
  /**
   * An existing conversation. It continues with the settings it was started with; those given here replace them, and
   * are stored. Tools are found by name among the `tools` of `openSynapse`, or given here.
   */
  open<const S extends object>(
    id: string,
    settings: Partial<RunSettings> & { answer: S },
  ): Promise<Conversation<AnswerOf<S>>>
  open(id: string, settings?: Partial<RunSettings>): Promise<Conversation>
  /** An agent as a tool: it works in its own conversation, whose cost counts in `usage()` of its parent. */
  agentTool(agent: Handoff): Tool
  /** Most recently changed first, 50 per page by default; `next` is the `cursor` of the next page. */
  conversations(page?: PageOf & { label?: string }): Promise<Page<Stored>>
  /** Closes the store, if it was opened here: a given store stays open. */
  close(): Promise<void>
}

/**
 * Opens the store and its conversations.
 *
 * @example
 * const synapse = await openSynapse({ store: 'chats.db' })
 * const chat = await synapse.start({ model: 'anthropic/claude-opus-5' })
 * console.log(await chat.send('Hello!').text())
 */
export async function openSynapse(options: SynapseOptions = {}): Promise<Synapse> {
  checkConnection(options)
  if (options.store) checkStore(options.store)
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
    async start(asked: RunSettings & Beginning) {
      checkArgument(asked, "start({ model: 'anthropic' })")
      const { messages, transcript, ...given } = asked
      checkRunSettings(given)
      await checkModel(given.model, given.protocol)
      for (const other of otherModels(given)) await checkModel(other, undefined)
      const beginning = { ...(messages && { messages }), ...(transcript !== undefined && { transcript }) }
      const { id, settings } = await beginConversation(store, owner, given, beginning)
      return conversationOf(runtime, id, settings)
    },
    async open(id: string, given: Partial<RunSettings> = {}) {
      if (typeof id !== 'string') throw badInput('Give the id of a conversation: open(id).')
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
      // A wire that was stored for one model does not apply to another.
      const { protocol: _, ...others } = stored.settings
      const changed = { ...others, ...settingsToStore(settings) }
      if (!sameSettings(changed, stored.settings)) await store.updateConversation(owner, id, { settings: changed })
      await recover(store, owner, id)
      return conversationOf(runtime, id, { ...(tools && { tools }), ...settings, model }, names)
    },
    agentTool: (agent) => agentTool(runtime, agent),
    conversations: (page) => store.conversations(owner, page),
    async close() {
      if (typeof options.store !== 'object') await store.close()
    },
  }
}

/** The models that a run may use later: a mistyped fallback would be found only when it is needed. */
function otherModels({ fallback = [], route }: RunSettings): string[] {
  const steps = typeof route === 'object' ? [route.tools, route.answer] : []
  return [...fallback, ...steps].flatMap((choice) => (typeof choice === 'object' ? choice.model : (choice ?? [])))
}

/** Throws unless it is an open store; a promise of one was not awaited. */
export function checkStore(store: string | Store): void {
  if (typeof store === 'string' || typeof store.conversation === 'function') return
  throw badInput("store: must be a path, a postgres:// URL, or an open store, such as await openStore('chats.db')")
}

function sameSettings(a: JsonObject, b: JsonObject): boolean {
  const sorted = (one: JsonObject) => JSON.stringify(Object.entries(one).toSorted(([x], [y]) => (x < y ? -1 : 1)))
  return sorted(a) === sorted(b)
}

async function openAddress(address: string | undefined): Promise<Store> {
  if (address !== undefined && !isPostgres(address)) {
    const { checkFolder } = await import('../store/sqlite/file.ts')
    checkFolder(address)
  }
  return openStore(address)
}

/** The endpoint of a model: the provider itself, or the emulator under the provider's name. */
export async function endpointFinder(
  options: SynapseOptions & {
    /** The current keys stored on this machine. */
    storedKeys?: () => Readonly<Record<string, string>>
  },
): Promise<Runtime['endpoint']> {
  const transport = { ...options.transport }
  if (typeof options.offline === 'object') transport.fetch = options.offline.fetch
  else if (options.offline) {
    const { createEmulator } = await import('../emulator/handle.ts')
    transport.fetch = createEmulator().answer
  }
  const rows = await rowsOf(options)
  await checkProviders(Object.keys({ ...options.keys, ...options.baseUrls }), rows)
  const aliases = await aliasesOf(options)
  const withServerFacts = serverFacts(transport)
  const budgetOf = retryBudgets(options.transport?.retry?.share ?? defaultRetry.share)
  return async (model, protocol) => {
    const adapter = options.adapters?.find(({ id }) => id === parseModelRef(model).provider)
    if (adapter) {
      const found = await adapter.endpoint(parseModelRef(model).model)
      return { ...found, transport: { budget: budgetOf(adapter.id), ...options.transport, ...found.transport } }
    }
    const storedKeys = options.storedKeys?.()
    const ref = await findModel(model, { rows, aliases, env: options.env, keys: { ...storedKeys, ...options.keys } })
    const resolved = await resolve({
      ...ref,
      ...(storedKeys && { storedKeys }),
      ...(protocol !== undefined && { protocol }),
      ...(options.env && { env: options.env }),
      ...(rows && { rows }),
      ...(options.wires && { wires: options.wires }),
      ...givenFor(ref.provider, options),
    })
    const endpoint = options.offline ? resolved : await withServerFacts(resolved)
    const budget = budgetOf(`${endpoint.provider.id} ${endpoint.baseUrl}`)
    const { authorize } = endpoint
    const way = { endpoint, transport: { budget, ...(authorize && { authorize }), ...transport } }
    if (!options.offline) return way
    if (!wireIds.includes(endpoint.protocol.id)) {
      throw badInput(`The emulator does not support ${endpoint.protocol.id}: give transport.fetch to test it.`)
    }
    const { pathname } = new URL(endpoint.baseUrl)
    const { id, family = id } = endpoint.provider
    const baseUrl = `http://emulator.invalid/${family}${pathname === '/' ? '' : pathname}`
    return { ...way, endpoint: { ...endpoint, baseUrl, ...(options.offline === true && { offline: true }) } }
  }
}

/** A key under a mistyped name would never be used. */
async function checkProviders(ids: readonly string[], known: readonly ProviderRow[] | undefined): Promise<void> {
  if (ids.length === 0) return
  const { findRow } = await import('../providers/find-row.ts')
  const { rows } = await import('../providers/rows.ts')
  for (const id of ids) findRow(id, known ?? rows)
}

/** A local server reports what its model can do and how its prompts are made. */
function serverFacts(transport: Transport): (endpoint: Endpoint) => Promise<Endpoint> {
  const known = new Map<string, LocalModel>()
  return async (endpoint) => {
    if (!endpoint.provider.describes) return endpoint
    const { withLocalModel } = await import('./local-model.ts')
    return withLocalModel(endpoint, transport.fetch ?? fetch, known)
  }
}

/** Throws if no provider has this model, or does not support the protocol. A key may still be missing. */
function modelCheck(options: SynapseOptions) {
  let rows: ReturnType<typeof rowsOf> | undefined
  return async (model: string, protocol: string | undefined): Promise<void> => {
    if (options.adapters?.some(({ id }) => id === parseModelRef(model).provider)) return
    const known = await (rows ??= rowsOf(options))
    const aliases = await aliasesOf(options)
    const ref = await findModel(model, { rows: known, aliases, env: options.env, keys: options.keys })
    const place = {
      env: {},
      keyless: true,
      baseUrl: 'https://not-asked.invalid',
      ...(options.wires && { wires: options.wires }),
    }
    await resolve({ ...ref, ...place, ...(protocol !== undefined && { protocol }), ...(known && { rows: known }) })
  }
}

function givenFor(provider: string, { offline, keys, baseUrls }: SynapseOptions): { key?: string; baseUrl?: string } {
  // A provider with a configurable address needs one here too.
  if (offline) return { key: 'offline', baseUrl: 'https://emulator.invalid' }
  const [key, baseUrl] = [keys?.[provider], baseUrls?.[provider]]
  return { ...(key !== undefined && { key }), ...(baseUrl !== undefined && { baseUrl }) }
}

/** All available providers; undefined: the built-in ones. */
async function rowsOf(options: SynapseOptions): Promise<readonly ProviderRow[] | undefined> {
  const { rows: own, config: file, env, store } = options
  const config = file === undefined ? undefined : await configOf(file, env)
  const others = typeof store === 'object' ? await storedRows(store, config) : config?.rows
  if (!own) return others
  const { rowsWith } = await import('../providers/rows.ts')
  return rowsWith(own, others)
}

async function aliasesOf({ aliases, config, env }: SynapseOptions): Promise<Readonly<Record<string, string>>> {
  return { ...(config === undefined ? {} : (await configOf(config, env)).aliases), ...aliases }
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
  const { createObservers: observing } = await import('./telemetry.ts')
  return observing(telemetry === true ? {} : telemetry, await loadOpenTelemetry())
}
