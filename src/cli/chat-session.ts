// A conversation at the terminal: which one, with which model, and whether the emulator answers.

import { realpathSync } from 'node:fs'
import { dirname, isAbsolute, relative, sep } from 'node:path'
import { readStoredKeys } from '../config/stored-keys.ts'
import { badInput } from '../core/error.ts'
import { isObject, type JsonObject } from '../core/json.ts'
import type { Conversation as Stored } from '../core/log.ts'
import { findModel } from '../providers/find-model.ts'
import { type Conversation, conversationOf, type RunSettings, type Runtime } from '../run/conversation.ts'
import type { Handoff } from '../settings/run.ts'
import { uuidv7 } from '../store/ids.ts'
import { endpoints } from './endpoints.ts'
import { type LocalStore, openLocalStore } from './local-store.ts'
import type { BoundAgent, OpenAgent } from './open-agent.ts'
import type { SessionFlags } from './session-flags.ts'
import { type LazyToolbox, sessionSettings, type SessionSettings } from './session-settings.ts'
import { neutral } from './terminal.ts'

export interface ChatSession extends SessionSettings {
  local: LocalStore
  conversation: Conversation
  endpoint: Runtime['endpoint']
  close(): Promise<void>
}

export async function openChatSession(values: SessionFlags): Promise<ChatSession> {
  const local = await openLocalStore(values)
  let agent: OpenAgent | undefined
  let toolbox: LazyToolbox | undefined
  const close = async (): Promise<void> => {
    try {
      await agent?.close()
      await toolbox?.close()
    } finally {
      await local.close()
    }
  }
  try {
    if (values.agent !== undefined) {
      const { openAgentNamed } = await import('./open-agent.ts')
      agent = await openAgentNamed(values.agent, values, local)
    }
    const stored = await storedConversation(local, values, agent?.agent.name)
    agent ??= await agentOf(stored, values, local)
    const id = stored?.id ?? uuidv7()
    const agentSetup = agent && {
      file: agent.bound.file,
      config: agent.config,
      settings: withBinding(await agent.agent.settings(), agent, local, id),
    }
    const setup = await sessionSettings(values, local, { id, stored, agent: agentSetup })
    ;({ toolbox } = setup)
    const { settings, offline, rows } = setup
    // Checked before anything is written: a wrong name or a missing key leaves no empty conversation behind.
    const endpoint = await endpoints({ offline, rows, aliases: setup.config?.aliases })
    await endpoint(settings.model, settings.protocol)
    // An agent's instructions are in its file.
    const instructions = agent ? { agent: agent.agent.name } : settings.system && { system: settings.system }
    const origin = await conversationOrigin(setup, stored, agent?.bound)
    const tools = values['no-tools'] ? { tools: [] } : values.tool && !agent ? { tools: values.tool } : {}
    const keep = { model: settings.model, ...instructions, ...tools, origin }
    await (stored
      ? local.store.updateConversation(local.owner, id, { settings: { ...stored.settings, ...keep } })
      : local.store.createConversation(local.owner, { id, settings: keep }))
    const conversation = conversationOf({ store: local.store, owner: local.owner, endpoint }, id, settings)
    return { ...setup, local, conversation, endpoint, close }
  } catch (error) {
    await close()
    throw error
  }
}

/** A conversation that is handed to another agent is bound to that one from then on. */
function withBinding(settings: RunSettings, agent: OpenAgent, local: LocalStore, id: string): RunSettings {
  const { handoffs } = settings
  if (!handoffs) return settings
  const bound = handoffs.map((handoff): Handoff => ({
    ...handoff,
    async settings() {
      const { bindingOf } = await import('./open-agent.ts')
      const stored = await local.store.conversation(local.owner, id)
      const change = { agent: handoff.name, ...(await bindingOf(handoff, agent, stored?.settings ?? {})) }
      await local.store.updateConversation(local.owner, id, { settings: { ...stored?.settings, ...change } })
      const next = typeof handoff.settings === 'function' ? await handoff.settings() : handoff.settings
      return withBinding(next, agent, local, id)
    },
  }))
  return { ...settings, handoffs: bound }
}

/** The agent that a conversation is bound to. */
async function agentOf(
  stored: Stored | undefined,
  values: SessionFlags,
  local: LocalStore,
): Promise<OpenAgent | undefined> {
  if (typeof stored?.settings['agent'] !== 'string') return undefined
  const { openAgentOf } = await import('./open-agent.ts')
  return openAgentOf(stored.settings, values, local)
}

async function storedConversation(
  local: LocalStore,
  values: SessionFlags,
  agent: string | undefined,
): Promise<Stored | undefined> {
  if (values.conversation !== undefined) return local.find(values.conversation)
  if (!values.continue) return undefined
  // An agent without a conversation takes over the last one.
  const ofAgent = await local.last(({ settings }) => agent === undefined || settings['agent'] === agent)
  const conversation = ofAgent ?? (await local.last(() => true))
  if (conversation) return conversation
  throw badInput('There is no conversation to continue yet. Leave out -c to start one.')
}

// The origin of a conversation: the folder, and the file of its agent. A history from one folder is sent to a host
// chosen by another folder only after the user was informed.

/** The origin to store. Throws if the user does not want to continue here. */
export async function conversationOrigin(
  setup: SessionSettings,
  stored: Stored | undefined,
  agent: BoundAgent | undefined,
  confirm: (question: string) => Promise<boolean | undefined> = askYesOrNo,
): Promise<JsonObject> {
  const folder = realpathSync(process.cwd())
  const previous = isObject(stored?.settings['origin']) ? stored.settings['origin'] : {}
  const origin: JsonObject = { ...previous, ...(agent && { agent }) }
  if (!stored) return { ...origin, folder }
  const host = setup.offline ? undefined : await hostOfFolder(setup)
  if (host === undefined || isInside(previous['folder'], setup.config?.file)) return origin
  const startedIn = typeof previous['folder'] === 'string' ? `in ${previous['folder']}` : 'in an unknown folder'
  const line = `This conversation was started elsewhere (${startedIn}); its history is sent to ${host}, as set in ${setup.config?.file}.`
  const { isInteractive, printNotice } = await import('./trusted.ts')
  if (!isInteractive()) {
    printNotice([line])
    return origin
  }
  if (await confirm(`${neutral(line)} Continue? [y/N] `)) return { ...origin, folder }
  throw badInput('The conversation was not continued; leave out -c, or use --no-config.')
}

async function askYesOrNo(question: string): Promise<boolean | undefined> {
  const { yesOrNo } = await import('./yes-or-no.ts')
  return yesOrNo(question)
}

/** Whether the conversation is from the folder whose file chose the host, or below it. */
function isInside(folder: unknown, file: string | undefined): boolean {
  if (typeof folder !== 'string' || file === undefined) return false
  const way = relative(realpathSync(dirname(file)), folder)
  return !isAbsolute(way) && way.split(sep)[0] !== '..'
}

/** The host that a file of the current folder chose for one of the models that may be used. */
async function hostOfFolder({
  settings,
  config,
  rows,
}: Pick<SessionSettings, 'settings' | 'config' | 'rows'>): Promise<string | undefined> {
  if (config?.origin !== 'folder') return undefined
  const { route, fallback = [] } = settings
  const routed = typeof route === 'object' ? [route.tools, route.answer] : []
  const models = [
    settings.model,
    ...routed,
    ...fallback.map((choice) => (typeof choice === 'string' ? choice : choice.model)),
  ]
  const lookup = { rows, env: process.env, keys: readStoredKeys(), aliases: config.aliases }
  const named = models.filter((model) => typeof model === 'string')
  // Some are named without their provider; one that cannot be found is not used either.
  const refs = await Promise.all(named.map((model) => findModel(model, lookup).catch(() => undefined)))
  const providers = new Set(refs.map((ref) => ref?.provider))
  const row = rows.find(({ id }) => providers.has(id) && config.ownIds.includes(id))
  return row?.wires[0].baseUrl
}
