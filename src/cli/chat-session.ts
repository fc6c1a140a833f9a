// A conversation at the terminal: which one, with whom, and whether for real or with the emulator.

import { badInput } from '../core/error.ts'
import type { Conversation as Stored } from '../core/log.ts'
import { conversationOf, type Conversation, type Runtime } from '../run/conversation.ts'
import { uuidv7 } from '../store/ids.ts'
import { conversationOrigin } from './conversation-origin.ts'
import { endpoints } from './endpoints.ts'
import { openLocalStore, type LocalStore } from './local-store.ts'
import type { OpenAgent } from './open-agent.ts'
import type { SessionFlags } from './session-flags.ts'
import { sessionSettings, type SessionSettings } from './session-settings.ts'

export interface ChatSession extends SessionSettings {
  local: LocalStore
  conversation: Conversation
  endpoint: Runtime['endpoint']
  close(): Promise<void>
}

export async function openChatSession(values: SessionFlags): Promise<ChatSession> {
  const local = await openLocalStore(values)
  let agent: OpenAgent | undefined
  const close = async (): Promise<void> => {
    try {
      await agent?.close()
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
    const own = agent && { config: agent.config, settings: await agent.agent.settings() }
    const setup = await sessionSettings(values, local, { id, stored, agent: own })
    const { settings, offline, rows } = setup
    // Asked before anything is written: a wrong name or a missing key leaves no empty conversation behind.
    const endpoint = await endpoints({ offline, rows })
    await endpoint(settings.model, settings.protocol)
    // What an agent is told stands in its file.
    const told = agent ? { agent: agent.agent.name } : settings.system && { system: settings.system }
    const origin = await conversationOrigin(setup, stored, agent?.bound)
    const keep = { model: settings.model, ...told, origin }
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
  const found = await local.last(({ settings }) => agent === undefined || settings['agent'] === agent)
  if (found) return found
  const whose = agent === undefined ? '' : ` with ${agent}`
  throw badInput(`There is no conversation${whose} to continue yet. Leave out -c to start one.`)
}
