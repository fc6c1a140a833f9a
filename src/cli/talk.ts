// A conversation at the terminal: which one, with whom, and whether for real or with the emulator.

import { badInput } from '../core/error.ts'
import type { Tool } from '../core/tool.ts'
import { conversationOf, type Conversation, type RunSettings, type Surroundings } from '../run/conversation.ts'
import { openHouse, storeOptions, type House } from './house.ts'
import { endpointFinder } from '../open.ts'
import { chooseModel } from './who-answers.ts'
import { builtInTools } from './tools.ts'

export const talkOptions = {
  ...storeOptions,
  model: { type: 'string', short: 'm' },
  system: { type: 'string', short: 's' },
  continue: { type: 'boolean', short: 'c' },
  conversation: { type: 'string' },
  offline: { type: 'boolean' },
  'no-tools': { type: 'boolean' },
  json: { type: 'boolean' },
} as const

export interface TalkValues {
  db?: string | undefined
  model?: string | undefined
  system?: string | undefined
  continue?: boolean | undefined
  conversation?: string | undefined
  offline?: boolean | undefined
  'no-tools'?: boolean | undefined
}

export interface Talk {
  house: House
  conversation: Conversation
  settings: RunSettings
  endpoint: Surroundings['endpoint']
  /** The emulator answers. */
  offline: boolean
  /** Why it does, for the person who reads it; absent when it was asked for. */
  whyOffline?: string
}

export async function openTalk(values: TalkValues): Promise<Talk> {
  const house = await openHouse(values)
  try {
    const stored = await storedConversation(house, values)
    const kept = { model: text(stored?.settings['model']), system: text(stored?.settings['system']) }
    const { model, offline, whyOffline } = chooseModel({
      asked: values.model,
      kept: kept.model,
      offline: values.offline === true,
      env: process.env,
    })
    const system = values.system ?? kept.system
    const tools: readonly Tool[] = values['no-tools'] ? [] : builtInTools
    const settings: RunSettings = { model, tools, ...(system && { system }) }
    // Asked before anything is written: a wrong name or a missing key leaves no empty conversation behind.
    const endpoint = await endpointFinder({ offline, env: process.env })
    await endpoint(model, undefined)
    const keep = { model, ...(system && { system }) }
    const { id } = stored
      ? await house.store.updateConversation(house.owner, stored.id, { settings: { ...stored.settings, ...keep } })
      : await house.store.createConversation(house.owner, { settings: keep })
    const conversation = conversationOf({ store: house.store, owner: house.owner, endpoint }, id, settings)
    return { house, conversation, settings, endpoint, offline, ...(whyOffline && { whyOffline }) }
  } catch (error) {
    await house.close()
    throw error
  }
}

async function storedConversation(house: House, values: TalkValues) {
  if (values.conversation) return house.find(values.conversation)
  if (!values.continue) return undefined
  const { items } = await house.store.conversations(house.owner, { limit: 1 })
  if (!items[0]) throw badInput('There is no conversation to continue yet. Leave out -c to start one.')
  return items[0]
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}
