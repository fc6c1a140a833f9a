// A conversation at the terminal: which one, with which model, and whether the emulator answers.

import { badInput } from '../core/error.ts'
import type { Conversation as Stored } from '../core/log.ts'
import { conversationOf, type Conversation, type RunSettings, type Runtime } from '../run/conversation.ts'
import type { Handoff } from '../settings/run.ts'
import { uuidv7 } from '../store/ids.ts'
import { conversationOrigin } from './conversation-origin.ts'
import { endpoints } from './endpoints.ts'
import { openLocalStore, type LocalStore } from './local-store.ts'
import type { OpenAgent } from './open-agent.ts'
import type { SessionFlags } from './session-flags.ts'
import { sessionSettings, type LazyToolbox, type SessionSettings } from './session-settings.ts'

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
    const own = agent && {
      file: agent.bound.file,
      config: agent.config,
      settings: withBinding(await agent.agent.settings(), agent, local, id),
    }
    const setup = await sessionSettings(values, local, { id, stored, agent: own })
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
  const own = await local.last(({ settings }) => agent === undefined || settings['agent'] === agent)
  const found = own ?? (await local.last(() => true))
  if (found) return found
  throw badInput('There is no conversation to continue yet. Leave out -c to start one.')
}
