// One provider without a store: for applications that want one interface to models and store the history themselves.
// The same loop runs underneath, over a store that lasts as long as the object.

import type { Message, UserMessage } from '../core/message.ts'
import type { Exchange } from '../core/log.ts'
import type { Tool } from '../core/tool.ts'
import type { ToolSpec } from '../core/context.ts'
import { addUsage, noUsage, type Usage } from '../core/usage.ts'
import { rowsWith } from '../providers/rows.ts'
import { settingsOf, type Policy, type PolicySettings } from '../settings/policy.ts'
import { endpointFinder, type SynapseOptions } from './open.ts'
import { checkProviderConfig, checkProviderOptions } from '../settings/check.ts'
import { compactNow } from '../run/compaction/compact.ts'
import { runHandle, type Run } from '../run/events/run-handle.ts'
import { cooldown } from '../run/request/cooldown.ts'
import { startRun, stepSettings } from '../run/start-run.ts'
import { cachedPath, type PathTo } from '../run/log/path-cache.ts'
import { holdLease } from '../run/log/lease.ts'
import { meter } from '../run/budget.ts'
import { sentMessages } from '../run/request/draft.ts'
import { externalTools, type SubmittedResult } from '../run/tools/external-tools.ts'
import {
  protocolOf,
  userMessage,
  withChanges,
  type RunSettings,
  type UserInput,
  type Runtime,
} from '../run/settings.ts'
import { portableMessages } from './portable-messages.ts'
import { loadMedia } from '../run/request/load-media.ts'

/** The model and its settings. Everything but the first lines can be changed later by `updateConfig`. */
export interface ProviderOptions
  extends
    Pick<SynapseOptions, 'env' | 'offline' | 'rows' | 'wires' | 'config' | 'adapters' | 'transport' | 'now'>,
    Partial<Omit<RunSettings, 'model' | 'tools' | 'signal' | 'context' | 'hooks' | 'handoffs'>> {
  /** Such as `anthropic`; `synapse providers` lists them. */
  provider: string
  /** The provider's default if absent. */
  model?: string
  /** Taken from the environment if absent. */
  apiKey?: string
  /** The provider's address, for those without a fixed one. */
  baseUrl?: string
}

/** What can be changed at any time: the settings of a run, and those of its policy. */
export interface ProviderConfig
  extends
    Omit<RunSettings, 'model' | 'tools' | 'signal' | 'context' | 'hooks' | 'handoffs' | 'policy'>,
    PolicySettings {
  provider: string
  model: string
}

/** Usage since the object was created. */
export interface ProviderState extends Usage {
  /** In US dollars, as far as prices are known. */
  cost: number
  /** Requests sent, including retries. */
  requests: number
}

/** An active loop: its events, and methods to steer it. */
export interface ChatLoop extends Omit<Run, 'update'> {
  /** The result of a call whose tool has no `run`. */
  submit(result: SubmittedResult): void
  /** Other tools, from the next request on. */
  setTools(tools: readonly (Tool | ToolSpec)[]): void
}

/** One provider. The history is that of the last `chatLoop`, plus what `chat` has added to it. */
export interface Provider {
  /** Sends a message and streams the answer; continues with the history. */
  chat(prompt: UserInput): Run
  /** Continues with your own history, or sends a message in the current one; calls tools until the model is done. */
  chatLoop(history: UserInput | readonly Message[], tools?: readonly (Tool | ToolSpec)[]): ChatLoop
  state(): ProviderState
  /** A copy: change it by `updateConfig`. */
  config(): ProviderConfig
  /**
   * Changes the settings from the next request on, even in the middle of a loop. The function may mutate its argument,
   * or return the changes.
   */
  updateConfig(change: (config: ProviderConfig) => Partial<ProviderConfig> | void): void
  /** A long text that opens every request and stays in the provider's prompt cache; undefined removes it. */
  promptCache(text: string | undefined): void
  /** The history with a summary in place of its older part; by default of the current history. */
  compact(history?: readonly Message[]): Promise<Message[]>
  /** The complete history, with all calls and raw results, whatever part of it was sent. */
  getHistory(): Promise<Message[]>
}

const owner = 'provider'

/**
 * Creates a client for one provider, without a store.
 *
 * @example
 * const claude = createProvider({ provider: 'anthropic', model: 'claude-opus-5' })
 * for await (const event of claude.chatLoop('What time is it?', [clock])) console.log(event.type)
 * console.log(claude.state().cost)
 */
export function createProvider(options: ProviderOptions): Provider {
  checkProviderOptions(options)
  const state: State = {
    options,
    config: firstConfig(options),
    used: { ...noUsage, cost: 0, requests: 0 },
    runtime: undefined,
    present: undefined,
  }
  return {
    chat: (prompt) => start(state, prompt, []).run,
    chatLoop(history, tools = []) {
      const { run, setTools, submit } = start(state, history, tools)
      return { ...run, setTools, submit, [Symbol.asyncIterator]: () => run[Symbol.asyncIterator]() }
    },
    state: () => ({ ...state.used }),
    config: () => shownConfig(state),
    updateConfig(change) {
      const { config } = state
      const draft = shownConfig(state)
      const shownModel = draft.model
      const given = change(draft)
      const wanted = { ...draft, ...given }
      // A default that was not changed stays one: another provider has another.
      const model = wanted.model === shownModel ? config.model : wanted.model
      const changed = withPreset(config, { ...wanted, model })
      // A wire that was chosen for one provider does not apply to another.
      const { protocol, ...anyWire } = changed
      const sameWire = changed.provider === config.provider || protocol !== config.protocol
      checkProviderConfig(changed)
      state.config = sameWire ? changed : anyWire
    },
    promptCache(text) {
      const { pinned: _, ...rest } = state.config
      state.config = text === undefined ? rest : { ...rest, pinned: text }
    },
    compact: (history) => compact(state, history),
    async getHistory() {
      if (!state.present) return []
      const entries = await entriesOf(await runtimeOf(state), await state.present)
      return entries.map((entry) => entry.message)
    },
  }
}

interface State {
  readonly options: ProviderOptions
  config: ProviderConfig
  used: ProviderState
  runtime: Promise<ProviderStore> | undefined
  /** The conversation of the last loop. */
  present: Promise<string> | undefined
}

function start(state: State, history: UserInput | readonly Message[], tools: readonly (Tool | ToolSpec)[]) {
  const outside = externalTools()
  let offered = outside.runnable(tools)
  const queued: UserMessage[] = []
  const stop = new AbortController()
  let changes: Partial<RunSettings> = {}
  const settings = (): RunSettings => withChanges({ ...runSettings(state.config), tools: offered }, changes)
  const isHistory = isMessages(history)
  const controls = {
    abort: () => stop.abort(),
    steer: (message: UserInput) => void queued.push(userMessage(message)),
    update: (change: Partial<RunSettings>) => void (changes = { ...changes, ...change }),
  }
  const run = runHandle(
    controls,
    () => settings().answer,
    async (emit) => {
      const runtime = await runtimeOf(state)
      if (isHistory) state.present = conversationWith(runtime, history)
      const conversationId = await (state.present ??= conversationWith(runtime, []))
      return startRun(runtime, {
        conversationId,
        pathTo: runtime.pathTo,
        settings,
        ...(!isHistory && { message: userMessage(history) }),
        incoming: () => queued.splice(0),
        emit,
        stop,
        onExchange: (exchange) => count(state, exchange),
      })
    },
  )
  const setTools = (next: readonly (Tool | ToolSpec)[]): void => void (offered = outside.runnable(next))
  return { run, setTools, submit: outside.submit }
}

async function compact(state: State, history: readonly Message[] | undefined): Promise<Message[]> {
  const runtime = await runtimeOf(state)
  const { store } = runtime
  const conversationId = await (history
    ? conversationWith(runtime, history)
    : (state.present ??= conversationWith(runtime, [])))
  const settings = runSettings(state.config)
  const found = await runtime.endpoint(settings.model, protocolOf(settings))
  const counter = meter()
  const lease = await holdLease(store, owner, conversationId)
  try {
    const run = {
      store,
      owner,
      conversationId,
      ...stepSettings(conversationId, () => runSettings(state.config)),
      ...found,
      signal: new AbortController().signal,
      meter: counter,
      write: lease.write,
      emit: () => {},
    }
    const entries = await entriesOf(runtime, conversationId)
    await compactNow(run, entries)
    return portableMessages(await sentMessages(run, entries))
  } finally {
    for (const exchange of counter.read()) count(state, exchange)
    await lease.release()
    if (history) await store.deleteConversation(owner, conversationId)
  }
}

function count(state: State, { usage, cost, attempts }: Exchange): void {
  const { used } = state
  state.used = {
    ...addUsage(used, usage ?? noUsage),
    cost: used.cost + (cost ?? 0),
    requests: used.requests + attempts,
  }
}

function runtimeOf(state: State): Promise<ProviderStore> {
  state.runtime ??= openProviderStore(state.options)
  return state.runtime
}

interface ProviderStore extends Runtime {
  pathTo: PathTo
}

async function openProviderStore(options: ProviderOptions): Promise<ProviderStore> {
  const { openMemoryStore } = await import('../store/memory.ts')
  const { provider, apiKey, baseUrl, now } = options
  const endpoint = await endpointFinder({
    ...options,
    ...(apiKey !== undefined && { keys: { [provider]: apiKey } }),
    ...(baseUrl !== undefined && { baseUrls: { [provider]: baseUrl } }),
  })
  const store = openMemoryStore()
  const pathTo = cachedPath(store, owner)
  return { store, owner, endpoint, pathTo, cooldown: cooldown(now), ...(now && { now }) }
}

function firstConfig(given: ProviderOptions): ProviderConfig {
  const { provider, model = '', policy } = given
  return {
    ...(typeof policy !== 'object' && { preset: policy ?? 'economy' }),
    ...settingsOf(policy ?? 'economy'),
    provider,
    model,
    ...ownSettings(given),
  }
}

/** The settings of a run that are also those of a provider, as far as they are set. */
function ownSettings(given: { [Key in OwnSetting]?: RunSettings[Key] | undefined }): Pick<RunSettings, OwnSetting> {
  const { protocol, system, options, maxSteps, guards, budget, route, fallback, answer } = given
  return {
    ...(protocol !== undefined && { protocol }),
    ...(system !== undefined && { system }),
    ...(options && { options }),
    ...(maxSteps !== undefined && { maxSteps }),
    ...(guards && { guards }),
    ...(budget && { budget }),
    ...(route && { route }),
    ...(fallback && { fallback }),
    ...(answer && { answer }),
  }
}

type OwnSetting = 'protocol' | 'system' | 'options' | 'maxSteps' | 'guards' | 'budget' | 'route' | 'fallback' | 'answer'

/** Another preset reverts what the last one set; explicit settings stay. */
function withPreset(before: ProviderConfig, changed: ProviderConfig): ProviderConfig {
  const { preset } = changed
  if (preset === undefined || preset === before.preset) return changed
  const usual: Readonly<Record<string, unknown>> = { ...(before.preset && settingsOf(before.preset)) }
  const own = Object.entries(changed).filter(([key, value]) => !(key in usual) || value !== usual[key])
  return { ...settingsOf(preset), ...(Object.fromEntries(own) as ProviderConfig) }
}

function runSettings(config: ProviderConfig): RunSettings {
  const { provider, model, protocol, system, options, maxSteps, guards, budget, route, fallback, answer, ...policy } =
    config
  return {
    model: model === '' ? provider : `${provider}/${model}`,
    policy: policy satisfies Policy,
    ...ownSettings({ protocol, system, options, maxSteps, guards, budget, route, fallback, answer }),
  }
}

/** A copy that names the model, even if it is the provider's default. */
function shownConfig({ config, options }: State): ProviderConfig {
  const copy = structuredCloneOf(config)
  if (copy.model !== '') return copy
  const row = rowsWith(options.rows ?? []).find(({ id }) => id === copy.provider)
  const wire = row?.wires.find(({ protocol }) => protocol === copy.protocol)
  return { ...copy, model: wire?.defaultModel ?? row?.defaultModel ?? '' }
}

/** Deep enough that settings are not changed by accident; functions in them stay the same. */
function structuredCloneOf(config: ProviderConfig): ProviderConfig {
  const { route, answer, ...plain } = config
  return { ...structuredClone(plain), ...(route && { route }), ...(answer && { answer }) }
}

function isMessages(history: UserInput | readonly Message[]): history is readonly Message[] {
  return typeof history !== 'string' && history.every((one) => 'role' in one)
}

async function conversationWith({ store }: Runtime, messages: readonly Message[]): Promise<string> {
  const { id } = await store.createConversation(owner)
  await store.appendAll(
    owner,
    id,
    messages.map((message) => ({ message })),
  )
  return id
}

async function entriesOf({ store }: Runtime, conversationId: string) {
  const stored = await store.conversation(owner, conversationId)
  return stored?.head ? loadMedia(store, owner, await store.history(owner, stored.head)) : []
}
