// The settings of a conversation at the terminal: the command line first, then its agent, then what it was started
// with, then synapse.yaml.

import { badInput } from '../core/error.ts'
import type { Conversation as Stored } from '../core/log.ts'
import type { SourcedTool, Toolbox } from '../agents/toolbox.ts'
import type { Tool } from '../core/tool.ts'
import type { ProviderRow } from '../providers/provider.ts'
import type { RunSettings } from '../run/conversation.ts'
import { withGrants } from '../run/tools/grants.ts'
import { rowsFor } from '../config/stored-providers.ts'
import { projectConfig } from './project-config.ts'
import type { LocalStore } from './local-store.ts'
import type { Config } from '../config/load.ts'
import { readPolicy, readOptions } from './run-options.ts'
import { folderOf, type SessionFlags } from './session-flags.ts'
import { builtInTools } from './tools.ts'
import type { toolboxes } from './toolbox.ts'
import { chooseModel } from './choose-model.ts'

export interface SessionSettings {
  settings: RunSettings
  /** Tools that can be offered to the model, whether they are or not. */
  tools: readonly Tool[]
  /** The source of each of these tools, by name. */
  sources: ReadonlyMap<string, string>
  /** More tools that can be switched on; absent: they are an agent's. */
  toolbox?: LazyToolbox
  /** All available providers. */
  rows: readonly ProviderRow[]
  /** The effective synapse.yaml. */
  config?: Config
  /** The emulator answers. */
  offline: boolean
  /** The reason, for the user; absent if it was requested. */
  whyOffline?: string
}

/** Opened when first needed: most questions need no tools. */
export interface LazyToolbox {
  get(): Promise<Toolbox>
  close(): Promise<void>
}

/** What an agent brings: its settings, and the configuration of its folder. */
export interface AgentSetup {
  file: string
  config: Config
  settings: RunSettings
}

/** The settings for a conversation that exists, or is about to be created under this id. */
export async function sessionSettings(
  values: SessionFlags,
  local: Pick<LocalStore, 'store' | 'owner'>,
  {
    id,
    stored,
    agent,
    shown,
  }: {
    id: string
    stored?: Stored | undefined
    agent?: AgentSetup | undefined
    /** Replaces the tools of the conversation if no code may be loaded and nothing started. */
    shown?: readonly Tool[]
  },
): Promise<SessionSettings> {
  // A tool may need it only later in a chat.
  if (values.folder !== undefined) folderOf(values.folder)
  const config = agent?.config ?? (await projectConfig(values))
  const agentSettings = agent?.settings
  const rows = await rowsFor(local.store, config)
  const { model, ...answers } = await chooseModel(values, {
    stored: agentSettings?.model ?? text(stored?.settings['model']),
    config,
    rows,
  })
  const system = values.system ?? agentSettings?.system ?? text(stored?.settings['system'])
  const policy = values.policy === undefined ? (agentSettings?.policy ?? config?.policy) : readPolicy(values.policy)
  const { protocol: usual, ...rest } = agentSettings ?? {}
  const protocol = values.protocol ?? (model === agentSettings?.model ? usual : undefined)
  const { offline } = answers
  const toolbox = agent ? undefined : lazyToolbox(() => openTools(values, { config, rows, offline: () => offline }))
  const names = values['no-tools'] ? [] : (values.tool ?? chosenBefore(stored))
  const sourced = agent
    ? agentTools(agent, values)
    : (shown?.map((tool) => ({ tool, source: 'built-in' })) ?? (await chosenTools(names, offline, toolbox)))
  const place = { store: local.store, owner: local.owner, conversationId: id }
  const tools = sourced.map(({ tool, source }) => withGrants(tool, { ...place, source }))
  const settings: RunSettings = {
    ...rest,
    model,
    tools,
    options: { ...agentSettings?.options, ...readOptions(values.option ?? []) },
    ...(system && { system }),
    ...(protocol !== undefined && { protocol }),
    ...(policy !== undefined && { policy }),
  }
  return {
    settings,
    tools,
    sources: new Map(sourced.map(({ tool, source }) => [tool.name, source])),
    rows,
    ...(toolbox && { toolbox }),
    ...(config && { config }),
    ...answers,
  }
}

/** All of an agent's tools, or the named ones, or none. */
function agentTools({ file, config, settings }: AgentSetup, values: SessionFlags): SourcedTool[] {
  const all = settings.tools ?? []
  const named = values.tool && [...new Set(values.tool)].map((name) => toolNamed(name, all))
  return (values['no-tools'] ? [] : (named ?? all)).map((tool) => {
    const server = Object.keys(config.mcpServers).find((name) => tool.name.startsWith(`${name}__`))
    return { tool, source: server === undefined ? `agent:${file}` : `mcp:${server}` }
  })
}

/** Without names: demo tools with the emulator, and none with a real model. */
async function chosenTools(
  names: readonly string[] | undefined,
  offline: boolean,
  toolbox: LazyToolbox | undefined,
): Promise<SourcedTool[]> {
  if (!names || !toolbox) return (offline ? builtInTools : []).map((tool) => ({ tool, source: 'built-in' }))
  if (names.length === 0) return []
  const box = await toolbox.get()
  box.check({ tools: names })
  const { offered, absent } = await box.choose({ tools: [...new Set(names)] })
  for (const name of absent) {
    const problem = box.servers().find((server) => name.startsWith(server.name))?.problem
    throw badInput(`The tool ${name} is not available${problem === undefined ? '' : `: ${problem}`}.`)
  }
  return offered
}

function chosenBefore(stored: Stored | undefined): string[] | undefined {
  const names = stored?.settings['tools']
  return Array.isArray(names) ? names.filter((name) => typeof name === 'string') : undefined
}

async function openTools(...setup: Parameters<typeof toolboxes>): Promise<Toolbox> {
  const { toolboxes } = await import('./toolbox.ts')
  return (await toolboxes(...setup)).open()
}

function lazyToolbox(open: () => Promise<Toolbox>): LazyToolbox {
  let opened: Promise<Toolbox> | undefined
  return {
    get: () => (opened ??= open()),
    close: async () => (await opened?.catch(() => undefined))?.close(),
  }
}

export function toolNamed(name: string, all: readonly Tool[]): Tool {
  const tool = all.find((candidate) => candidate.name === name)
  if (tool) return tool
  throw badInput(
    `Unknown tool "${name}". Available tools: ${all.map((available) => available.name).join(', ') || 'none'}.`,
  )
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}
