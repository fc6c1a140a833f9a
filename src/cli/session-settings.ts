// How a conversation continues at the terminal: what was typed counts first, then the agent that it is with, then what it
// was started with, then synapse.yaml.

import { badInput } from '../core/error.ts'
import type { Conversation as Stored } from '../core/log.ts'
import type { Tool } from '../core/tool.ts'
import type { ProviderRow } from '../providers/provider.ts'
import type { RunSettings } from '../run/conversation.ts'
import { recallTool } from '../run/recall.ts'
import { rowsFor } from '../config/stored-providers.ts'
import { projectConfig } from './project-config.ts'
import type { LocalStore } from './local-store.ts'
import type { Config } from '../config/load.ts'
import { readPolicy, readOptions } from './run-options.ts'
import type { SessionFlags } from './session-flags.ts'
import { builtInTools } from './tools.ts'
import { chooseModel } from './choose-model.ts'

export interface SessionSettings {
  settings: RunSettings
  /** What the model can be offered, whether it is or not. */
  tools: readonly Tool[]
  /** Everybody who can be asked. */
  rows: readonly ProviderRow[]
  /** The synapse.yaml that counts. */
  config?: Config
  /** The emulator answers. */
  offline: boolean
  /** Why it does, for the person who reads it; absent when it was asked for. */
  whyOffline?: string
}

/** What an agent brings: its settings, and the configuration that counts in its folder. */
export interface AgentSetup {
  config: Config
  settings: RunSettings
}

/** The settings for a conversation that is there, or is about to be under this id. */
export async function sessionSettings(
  values: SessionFlags,
  local: Pick<LocalStore, 'store' | 'owner'>,
  { id, stored, agent }: { id: string; stored?: Stored | undefined; agent?: AgentSetup | undefined },
): Promise<SessionSettings> {
  const config = agent?.config ?? (await projectConfig(values))
  const own = agent?.settings
  const rows = await rowsFor(local.store, config)
  const { model, ...answers } = await chooseModel({
    asked: values.model,
    kept: own?.model ?? text(stored?.settings['model']),
    configured: config?.model,
    offline: values.offline === true,
    env: process.env,
    rows,
  })
  const system = values.system ?? own?.system ?? text(stored?.settings['system'])
  const policy = values.policy === undefined ? (own?.policy ?? config?.policy) : readPolicy(values.policy)
  const { protocol: usual, ...rest } = own ?? {}
  const protocol = values.protocol ?? (model === own?.model ? usual : undefined)
  const tools = own?.tools ?? [...builtInTools, recallTool(local.store, local.owner, id)]
  const settings: RunSettings = {
    ...rest,
    model,
    tools: chosen(values, tools),
    options: { ...own?.options, ...readOptions(values.option ?? []) },
    ...(system && { system }),
    ...(protocol !== undefined && { protocol }),
    ...(policy !== undefined && { policy }),
  }
  return { settings, tools, rows, ...(config && { config }), ...answers }
}

/** All tools, or those that were named, or none. */
function chosen(values: Pick<SessionFlags, 'tool' | 'no-tools'>, all: readonly Tool[]): readonly Tool[] {
  if (values['no-tools']) return []
  return values.tool ? [...new Set(values.tool)].map((name) => toolNamed(name, all)) : all
}

export function toolNamed(name: string, all: readonly Tool[]): Tool {
  const tool = all.find((one) => one.name === name)
  if (tool) return tool
  throw badInput(`There is no tool "${name}". There are ${all.map((one) => one.name).join(', ') || 'none'}.`)
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}
