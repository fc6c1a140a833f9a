// One provider without a store: for those who want to talk to models in one way and keep the history themselves. The
// same loop runs underneath, over a store that lasts as long as the object.

import type { Message, UserMessage } from '../core/message.ts'
import type { Exchange } from '../core/log.ts'
import type { Tool } from '../core/tool.ts'
import type { ToolSpec } from '../core/context.ts'
import { addUsage, noUsage, type Usage } from '../core/usage.ts'
import { settingsOf, type Policy, type PolicySettings } from '../settings/policy.ts'
import { endpointFinder, type SynapseOptions } from './open.ts'
import { checkProviderConfig, checkProviderOptions } from '../settings/check.ts'
import { compactNow } from '../run/compact-now.ts'
import { runHandle, type Run } from '../run/run-handle.ts'
import { cooldown } from '../run/cooldown.ts'
import { startRun, stepSettings } from '../run/start-run.ts'
import { cachedPath, type PathTo } from '../run/path-cache.ts'
import { holdLease } from '../run/lease.ts'
import { meter } from '../run/budget.ts'
import { sentMessages } from '../run/sent-messages.ts'
import { externalTools, type SubmittedResult } from '../run/external-tools.ts'
import { userMessage, withChanges, type RunSettings, type UserInput, type Runtime } from '../run/settings.ts'
import { portableMessages } from './portable-messages.ts'
import { loadMedia } from '../run/load-media.ts'

/** Whom to talk to, and how. Everything but the first lines can be changed later by `updateConfig`. */
export interface ProviderOptions
  extends
    Pick<SynapseOptions, 'env' | 'offline' | 'rows' | 'config' | 'adapters' | 'transport' | 'now'>,
    Partial<Omit<RunSettings, 'model' | 'tools' | 'signal' | 'context'>> {
  /** Such as `anthropic`; `synapse providers` lists them. */
  provider: string
  /** Without it, the provider's default. */
  model?: string
  /** Without it, the key is looked for in the environment. */
  apiKey?: string
  /** Where the provider is, for those that have no address of their own. */
  baseUrl?: string
}

/** What can be changed at any time: the settings of a run, and those of its policy beside them. */
export interface ProviderConfig
  extends Omit<RunSettings, 'model' | 'tools' | 'signal' | 'context' | 'policy'>, PolicySettings {
  provider: string
  model: string
}

/** What was used since the object was made. */
export interface ProviderState extends Usage {
  /** In US dollars, as far as prices are known. */
  cost: number
  /** Requests that went out, with those that were tried again. */
  requests: number
}

/** A loop under way: its events, and a say in how it continues. */
export interface ChatLoop extends Omit<Run, 'update'> {
  /** The result of a call whose tool has no `run` of its own. */
  submit(result: SubmittedResult): void
  /** Other tools, from the next request on. */
  setTools(tools: readonly (Tool | ToolSpec)[]): void
}

/** One provider. The history is that of the last `chatLoop`, and what `chat` has added to it. */
export interface Provider {
  /** Says something and streams the answer; continues with the history. */
  chat(prompt: UserInput): Run
  /** Continues with a history of your own, or says something in the present one; calls tools until the model rests. */
  chatLoop(history: UserInput | readonly Message[], tools?: readonly (Tool | ToolSpec)[]): ChatLoop
  state(): ProviderState
  /** A copy: change it by `updateConfig`. */
  config(): ProviderConfig
  /** Changes the settings from the next request on, also in the middle of a loop. The function may change what it is given, or give what changes. */
  updateConfig(change: (config: ProviderConfig) => Partial<ProviderConfig> | void): void
  /** A long text that opens every request and is kept in the provider's prompt cache; undefined takes it away. */
  promptCache(text: string | undefined): void
  /** The history with a summary in place of its older part; without one, the present history. */
  compact(history?: readonly Message[]): Promise<Message[]>
  /** Everything that was said, with all calls and raw results, whatever was sent of it. */
  getHistory(): Promise<Message[]>
}

const owner = 'provider'

/**
 * Talks to one provider, without a store.
 *
 * @example
 * const claude = createProvider({ provider: 'anthropic', model: 'claude-opus-5' })
 * for await (const event of claude.chatLoop('What time is it?', [clock])) console.log(event.type)
 * console.log(claude.state().cost)
 */
export function createProvider(options: ProviderOptions): Provider {
  checkProviderOptions(options)
  let config = firstConfig(options)
  let used: ProviderState = { ...noUsage, cost: 0, requests: 0 }
  let runtime: Promise<ProviderStore> | undefined
  let present: Promise<string> | undefined

  return {
    chat: (prompt) => start(prompt, []).run,
    chatLoop(history, tools = []) {
      const { run, setTools, submit } = start(history, tools)
      return { ...run, setTools, submit, [Symbol.asyncIterator]: () => run[Symbol.asyncIterator]() }
    },
    state: () => ({ ...used }),
    config: () => structuredCloneOf(config),
    updateConfig(change) {
      const draft = structuredCloneOf(config)
      const given = change(draft)
      const changed = withPreset(config, { ...draft, ...given })
      // A wire that was chosen for one provider is not kept for another.
      const { protocol, ...anyWire } = changed
      const kept = changed.provider === config.provider || protocol !== config.protocol
      checkProviderConfig(changed)
      config = kept ? changed : anyWire
    },
    promptCache(text) {
      const { pinned: _, ...rest } = config
      config = text === undefined ? rest : { ...rest, pinned: text }
    },
    compact,
    async getHistory() {
      return present ? messagesOf(await present) : []
    },
  }

  function start(history: UserInput | readonly Message[], tools: readonly (Tool | ToolSpec)[]) {
    const outside = externalTools()
    let offered = outside.runnable(tools)
    const said: UserMessage[] = []
    const stop = new AbortController()
    let changes: Partial<RunSettings> = {}
    const settings = (): RunSettings => withChanges({ ...runSettings(config), tools: offered }, changes)
    const isHistory = isMessages(history)
    const controls = {
      abort: () => stop.abort(),
      steer: (message: UserInput) => void said.push(userMessage(message)),
      update: (change: Partial<RunSettings>) => void (changes = { ...changes, ...change }),
    }
    const run = runHandle(
      controls,
      () => settings().answer,
      async (emit) => {
        const around = await surroundings()
        if (isHistory) present = conversationWith(around, history)
        const conversationId = await (present ??= conversationWith(around, []))
        return startRun(around, {
          conversationId,
          pathTo: around.pathTo,
          settings,
          ...(!isHistory && { message: userMessage(history) }),
          incoming: () => said.splice(0),
          emit,
          stop,
          counted,
        })
      },
    )
    const setTools = (next: readonly (Tool | ToolSpec)[]): void => void (offered = outside.runnable(next))
    return { run, setTools, submit: outside.submit }
  }

  async function compact(history?: readonly Message[]): Promise<Message[]> {
    const around = await surroundings()
    const { store } = around
    const conversationId = await (history
      ? conversationWith(around, history)
      : (present ??= conversationWith(around, [])))
    const { model, protocol } = runSettings(config)
    const found = await around.endpoint(model, protocol)
    const counter = await meter(store, owner, conversationId)
    const held = await holdLease(store, owner, conversationId)
    try {
      const run = {
        store,
        owner,
        conversationId,
        ...stepSettings(conversationId, () => runSettings(config)),
        ...found,
        signal: new AbortController().signal,
        write: held.write,
        emit: () => {},
      }
      const entries = await entriesOf(around, conversationId)
      await compactNow(run, entries)
      return portableMessages(await sentMessages(run, entries))
    } finally {
      for (const exchange of await counter.read()) counted(exchange)
      await held.release()
      if (history) await store.deleteConversation(owner, conversationId)
    }
  }

  function counted({ usage, cost, attempts }: Exchange): void {
    used = {
      ...addUsage(used, usage ?? noUsage),
      cost: used.cost + (cost ?? 0),
      requests: used.requests + attempts,
    }
  }

  async function messagesOf(conversationId: string): Promise<Message[]> {
    return (await entriesOf(await surroundings(), conversationId)).map((entry) => entry.message)
  }

  function surroundings(): Promise<ProviderStore> {
    runtime ??= openProviderStore(options)
    return runtime
  }
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
  const {
    provider,
    model = '',
    policy,
    protocol,
    system,
    options,
    maxSteps,
    guards,
    budget,
    route,
    fallback,
    answer,
  } = given
  return {
    ...(typeof policy !== 'object' && { preset: policy ?? 'economy' }),
    ...settingsOf(policy ?? 'economy'),
    provider,
    model,
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

/** Another preset takes back what the last one set; what was set beside it stays. */
function withPreset(before: ProviderConfig, changed: ProviderConfig): ProviderConfig {
  const { preset } = changed
  if (preset === undefined || preset === before.preset) return changed
  const usual: Readonly<Record<string, unknown>> = { ...(before.preset && settingsOf(before.preset)) }
  const kept = Object.entries(changed).filter(([key, value]) => !(key in usual) || value !== usual[key])
  return { ...settingsOf(preset), ...(Object.fromEntries(kept) as ProviderConfig) }
}

function runSettings(config: ProviderConfig): RunSettings {
  const { provider, model, protocol, system, options, maxSteps, guards, budget, route, fallback, answer, ...policy } =
    config
  return {
    model: model === '' ? provider : `${provider}/${model}`,
    policy: policy satisfies Policy,
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

/** Deep enough that no one changes the settings by accident; functions in them stay the same. */
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
