// A conversation at the terminal: which one, with whom, and whether for real or with the emulator.

import { badInput } from '../core/error.ts'
import type { Conversation as Stored } from '../core/log.ts'
import { conversationOf, type Conversation, type Surroundings } from '../run/conversation.ts'
import { uuidv7 } from '../store/ids.ts'
import { conversationOrigin } from './conversation-origin.ts'
import { endpoints } from './endpoints.ts'
import { openHouse, type House } from './house.ts'
import type { OpenAgent } from './open-agent.ts'
import type { TalkValues } from './talk-options.ts'
import { setUp, type TalkSetup } from './talk-setup.ts'

export interface Talk extends TalkSetup {
  house: House
  conversation: Conversation
  endpoint: Surroundings['endpoint']
  close(): Promise<void>
}

export async function openTalk(values: TalkValues): Promise<Talk> {
  const house = await openHouse(values)
  let agent: OpenAgent | undefined
  const close = async (): Promise<void> => {
    try {
      await agent?.close()
    } finally {
      await house.close()
    }
  }
  try {
    if (values.agent !== undefined) {
      const { openAgentNamed } = await import('./open-agent.ts')
      agent = await openAgentNamed(values.agent, values, house)
    }
    const stored = await storedConversation(house, values, agent?.agent.name)
    agent ??= await agentOf(stored, values, house)
    const id = stored?.id ?? uuidv7()
    const own = agent && { config: agent.config, settings: await agent.agent.settings() }
    const setup = await setUp(values, house, { id, stored, agent: own })
    const { settings, offline, rows } = setup
    // Asked before anything is written: a wrong name or a missing key leaves no empty conversation behind.
    const endpoint = await endpoints({ offline, rows })
    await endpoint(settings.model, settings.protocol)
    // What an agent is told stands in its file.
    const told = agent ? { agent: agent.agent.name } : settings.system && { system: settings.system }
    const origin = await conversationOrigin(setup, stored, agent?.bound)
    const keep = { model: settings.model, ...told, origin }
    await (stored
      ? house.store.updateConversation(house.owner, id, { settings: { ...stored.settings, ...keep } })
      : house.store.createConversation(house.owner, { id, settings: keep }))
    const conversation = conversationOf({ store: house.store, owner: house.owner, endpoint }, id, settings)
    return { ...setup, house, conversation, endpoint, close }
  } catch (error) {
    await close()
    throw error
  }
}

/** The agent that a conversation is bound to. */
async function agentOf(stored: Stored | undefined, values: TalkValues, house: House): Promise<OpenAgent | undefined> {
  if (typeof stored?.settings['agent'] !== 'string') return undefined
  const { openAgentOf } = await import('./open-agent.ts')
  return openAgentOf(stored.settings, values, house)
}

async function storedConversation(
  house: House,
  values: TalkValues,
  agent: string | undefined,
): Promise<Stored | undefined> {
  if (values.conversation !== undefined) return house.find(values.conversation)
  if (!values.continue) return undefined
  const found = await house.last(({ settings }) => agent === undefined || settings['agent'] === agent)
  if (found) return found
  const whose = agent === undefined ? '' : ` with ${agent}`
  throw badInput(`There is no conversation${whose} to continue yet. Leave out -c to start one.`)
}
