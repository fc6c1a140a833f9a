// A conversation at the terminal: which one, with whom, and whether for real or with the emulator.

import { badInput } from '../core/error.ts'
import type { Tool } from '../core/tool.ts'
import { conversationOf, type Conversation, type RunSettings, type Surroundings } from '../run/conversation.ts'
import { recallTool } from '../run/recall.ts'
import { uuidv7 } from '../store/ids.ts'
import type { ProviderRow } from '../providers/provider.ts'
import { configOptions, configured } from './configured.ts'
import { openHouse, storeOptions, type House } from './house.ts'
import { endpointFinder } from '../open.ts'
import type { PresetName } from '../context/policy.ts'
import { readOptions } from './run-options.ts'
import { builtInTools } from './tools.ts'
import { chooseModel } from './who-answers.ts'

export const talkOptions = {
  ...storeOptions,
  ...configOptions,
  model: { type: 'string', short: 'm' },
  system: { type: 'string', short: 's' },
  continue: { type: 'boolean', short: 'c' },
  conversation: { type: 'string' },
  offline: { type: 'boolean' },
  protocol: { type: 'string' },
  policy: { type: 'string' },
  option: { type: 'string', short: 'o', multiple: true },
  fragment: { type: 'string', short: 'f', multiple: true },
  attach: { type: 'string', short: 'a', multiple: true },
  tool: { type: 'string', short: 't', multiple: true },
  'no-tools': { type: 'boolean', short: 'T' },
  json: { type: 'boolean' },
} as const

export interface TalkValues {
  db?: string | undefined
  config?: string | undefined
  model?: string | undefined
  system?: string | undefined
  continue?: boolean | undefined
  conversation?: string | undefined
  offline?: boolean | undefined
  protocol?: string | undefined
  policy?: string | undefined
  option?: string[] | undefined
  tool?: string[] | undefined
  'no-tools'?: boolean | undefined
}

export interface Talk {
  house: House
  conversation: Conversation
  settings: RunSettings
  endpoint: Surroundings['endpoint']
  /** The providers, where synapse.yaml says something about them. */
  rows?: readonly ProviderRow[]
  /** The emulator answers. */
  offline: boolean
  /** Why it does, for the person who reads it; absent when it was asked for. */
  whyOffline?: string
}

export async function openTalk(values: TalkValues): Promise<Talk> {
  const config = await configured(values)
  const house = await openHouse(values)
  try {
    const stored = await storedConversation(house, values)
    const kept = { model: text(stored?.settings['model']), system: text(stored?.settings['system']) }
    const { model, offline, whyOffline } = chooseModel({
      asked: values.model,
      kept: kept.model,
      configured: config?.model,
      offline: values.offline === true,
      env: process.env,
      rows: config?.rows,
    })
    const system = values.system ?? kept.system
    const options = readOptions(values.option ?? [])
    const id = stored?.id ?? uuidv7()
    const settings: RunSettings = {
      model,
      tools: toolsFor(values, house, id),
      options,
      ...(system && { system }),
      ...(values.protocol !== undefined && { protocol: values.protocol }),
      ...(config?.policy !== undefined && { policy: config.policy }),
      ...(values.policy !== undefined && { policy: presetNamed(values.policy) }),
    }
    // Asked before anything is written: a wrong name or a missing key leaves no empty conversation behind.
    const endpoint = await endpointFinder({ offline, env: process.env, ...(config && { rows: config.rows }) })
    await endpoint(model, values.protocol)
    const keep = { model, ...(system && { system }) }
    await (stored
      ? house.store.updateConversation(house.owner, id, { settings: { ...stored.settings, ...keep } })
      : house.store.createConversation(house.owner, { id, settings: keep }))
    const conversation = conversationOf({ store: house.store, owner: house.owner, endpoint }, id, settings)
    const rows = config && { rows: config.rows }
    return { house, conversation, settings, endpoint, offline, ...rows, ...(whyOffline && { whyOffline }) }
  } catch (error) {
    await house.close()
    throw error
  }
}

export function presetNamed(name: string): PresetName {
  if (name === 'economy' || name === 'classic' || name === 'full' || name === 'small') return name
  throw badInput(`There is no policy "${name}". The presets are economy, classic, full and small.`)
}

/** All built-in tools, or those that were named, or none. */
export function toolsFor(
  values: Pick<TalkValues, 'tool' | 'no-tools'>,
  { store, owner }: Pick<House, 'store' | 'owner'>,
  conversationId: string,
): readonly Tool[] {
  const all = [...builtInTools, recallTool(store, owner, conversationId)]
  if (values['no-tools']) return []
  return values.tool ? values.tool.map((name) => toolNamed(name, all)) : all
}

export function toolNamed(name: string, all: readonly Tool[]): Tool {
  const tool = all.find((one) => one.name === name)
  if (tool) return tool
  throw badInput(`There is no tool "${name}". The built-in ones are ${all.map((one) => one.name).join(', ')}.`)
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
