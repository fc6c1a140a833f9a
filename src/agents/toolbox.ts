// What the conversations of one user can use: built-in tools, the tools of MCP servers, and agents with their own
// tools. Nothing is offered unless it is chosen; MCP servers are started, and modules loaded, on first use. Two users
// never share a toolbox, and so no MCP server.

import { existsSync, realpathSync, statSync } from 'node:fs'
import { resolve, sep } from 'node:path'
import type { Config } from '../config/load.ts'
import { hashOfFiles } from '../config/trust.ts'
import type { Note } from '../core/context.ts'
import { badInput, errorMessage } from '../core/error.ts'
import type { Tool } from '../core/tool.ts'
import type { ConnectionState } from '../mcp/connection.ts'
import type { ChangedTool } from '../mcp/definition.ts'
import type { Digests, McpServers } from '../mcp/servers.ts'
import { fetchTool } from './built-in/fetch-url.ts'
import { fileTools } from './built-in/files.ts'
import { commandTool } from './built-in/run-command.ts'
import { agentFiles, agentName, findAgentFile } from './find.ts'
import { involvedFiles } from './involved-files.ts'
import { type Agent, openAgent } from './load.ts'
import type { Prompt } from './fill-prompt.ts'
import { listPrompts } from './prompts.ts'
import { readAgent, type AgentFile } from './read.ts'

export interface ToolboxOptions {
  /** A trusted configuration. */
  config?: Config | undefined
  /** Where files are read and commands run; absent: no such tools. */
  folder?: string | undefined
  /** Others that a conversation may choose. */
  folders?: readonly string[]
  /** Whether commands can be run there. */
  commands?: boolean
  /** Whether pages of the internet can be fetched. */
  fetches?: boolean
  /** The default tools. */
  usual?: (model?: string) => readonly Tool[]
  env?: Readonly<Record<string, string | undefined>>
  /** Definitions of MCP tools that were allowed before. */
  known?: Digests
  /** Called with the allowed definitions, whenever they may have changed. */
  onDigests?: (digests: Digests) => void
  /** Why the code of an agent may not be loaded; undefined: it may. */
  agentProblem?: (file: string) => string | undefined
  /** Whether a prompt of the configuration's folder may be used. */
  promptTrusted?: (file: string) => boolean
  onNote?: (note: Note) => void
}

/**
 * The selection of a conversation: an agent, and names of tools or of MCP servers. Without names, the default tools.
 */
interface ToolChoice {
  /** The owner. */
  model?: string | undefined
  agent?: string | undefined
  tools?: readonly string[] | undefined
  /** The folder of the file and command tools, if not the first one: one of those that are allowed, or inside one. */
  folder?: string | undefined
}

/** A tool and its source: `built-in`, `mcp:NAME`, or `agent:FILE`. */
export interface SourcedTool {
  tool: Tool
  source: string
}

interface AgentInfo {
  name: string
  file: string
  description?: string
  model?: string
  /** Why it cannot be used. */
  problem?: string
}

export interface McpServerInfo {
  name: string
  state: ConnectionState
  problem?: string
  tools: string[]
  /** Left out until they are allowed: they are new, or their definition has changed. */
  waiting: ChangedTool[]
}

export interface Toolbox {
  /** All available tools: the built-in ones and those of connected MCP servers. */
  tools(): (SourcedTool & { usual: boolean })[]
  agents(): AgentInfo[]
  /** Named prompts of the configuration and of the user. */
  prompts(): Prompt[]
  /** An agent's file, read again each time; throws one sentence if there is none, or it may not be used. */
  agent(name: string): AgentFile & { sha256: string }
  /** The agents that this one can hand a conversation to. */
  handoffs(name: string): AgentFile[]
  servers(): McpServerInfo[]
  /** Connects all disconnected MCP servers that are due for a retry. */
  refresh(): Promise<void>
  /** False: there is no such server. */
  restart(server: string): Promise<boolean>
  /** Offers a waiting tool. False: none waits. */
  allow(server: string, tool: string): boolean
  /** Throws if a chosen tool cannot exist. */
  check(choice: ToolChoice): void
  /** The tools themselves; `absent`: unavailable ones, such as of a disconnected server. */
  choose(choice: ToolChoice): Promise<{ offered: SourcedTool[]; absent: string[] }>
  close(): Promise<void>
}

/** The parts that a toolbox is put together from. */
interface Parts {
  readonly options: ToolboxOptions
  readonly env: Readonly<Record<string, string | undefined>>
  readonly onNote: (note: Note) => void
  readonly usual: (model?: string) => readonly Tool[]
  readonly builtIn: readonly Tool[]
  readonly serverNames: readonly string[]
  /** The built-in tools of the folders that conversations have chosen. */
  readonly inFolder: Map<string, Tool[]>
  /** The agents that have been loaded, by their files. */
  readonly loaded: Map<string, Promise<{ agent: Agent; sha256: string }>>
  opening: Promise<McpServers> | undefined
  servers: McpServers | undefined
}

export function openToolbox(options: ToolboxOptions = {}): Toolbox {
  const { config, usual = () => [], env = process.env, onNote = () => {}, promptTrusted } = options
  const parts: Parts = {
    options,
    env,
    onNote,
    usual,
    builtIn: builtInTools(options),
    serverNames: Object.keys(config?.mcpServers ?? {}),
    inFolder: new Map(),
    loaded: new Map(),
    opening: undefined,
    servers: undefined,
  }
  const { builtIn, serverNames } = parts
  return {
    tools() {
      const offered = usual()
      const builtInTools = [...offered, ...builtIn.filter((tool) => !offered.includes(tool))]
      return [
        ...builtInTools.map((tool) => ({ tool, source: 'built-in', usual: offered.includes(tool) })),
        ...serverNames.flatMap((name) => toolsOfServer(parts, name).map((tool) => ({ ...tool, usual: false }))),
      ]
    },
    agents: () => (config ? agentFiles(config.agentsDir).map((file) => agentInfo(options, file)) : []),
    prompts: () => listPrompts({ config, env, ...(promptTrusted && { isTrusted: promptTrusted }) }),
    agent: (name) => agentNamed(options, name),
    handoffs: (name) => agentNamed(options, name).handoffs.map((path) => agentNamed(options, agentName(path))),
    servers: () => serverNames.map((name) => serverInfo(parts, name)),
    refresh: () => connect(parts, serverNames),
    async restart(server) {
      if (!serverNames.includes(server)) return false
      await (await openedServers(parts))?.restart(server)
      reportDigests(parts)
      return true
    },
    allow(server, tool) {
      const waiting = parts.servers?.changed(server).find(({ name }) => name === tool)
      if (waiting) parts.servers?.allow(waiting)
      reportDigests(parts)
      return waiting !== undefined
    },
    check: (choice) => check(parts, choice),
    choose: (choice) => choose(parts, choice),
    async close() {
      reportDigests(parts)
      const agents = await Promise.allSettled(parts.loaded.values())
      await Promise.all(agents.flatMap((result) => (result.status === 'fulfilled' ? [result.value.agent.close()] : [])))
      await (await parts.opening)?.close()
    },
  }
}

function check(parts: Parts, { agent, tools = [], folder }: ToolChoice): void {
  const { options, usual, builtIn, serverNames } = parts
  builtInFor(parts, folder)
  const file = agent === undefined ? undefined : agentNamed(options, agent)
  const hasModules = file?.tools.some((source) => 'module' in source) === true
  const builtInNames = [...usual(), ...builtIn].map(({ name }) => name)
  const unknown = tools.find((name) => !builtInNames.includes(name) && serverOf(parts, name) === undefined)
  if (unknown === undefined || hasModules) return
  const names = [...builtInNames, ...serverNames.map((name) => `${name} (MCP server)`)].join(', ') || 'none'
  throw badInput(`There is no tool "${unknown}". The tools are: ${names}.`)
}

async function choose(parts: Parts, { model, agent, tools: names, folder }: ToolChoice): ReturnType<Toolbox['choose']> {
  const { options, usual } = parts
  const ofAgent = agent === undefined ? [] : await agentTools(parts, agentNamed(options, agent))
  if (!names) return { offered: agent === undefined ? usual(model).map(asBuiltIn) : ofAgent, absent: [] }
  const others = names.filter((name) => !ofAgent.some(({ tool }) => tool.name === name))
  await connect(parts, [...new Set(others.flatMap((name) => serverOf(parts, name) ?? []))])
  const builtInTools = [...usual(), ...builtInFor(parts, folder)].map(asBuiltIn)
  const matches = names.map((name) => {
    const match = [...ofAgent, ...builtInTools].find(({ tool }) => tool.name === name)
    if (match) return [match]
    const server = serverOf(parts, name)
    const all = server === undefined ? [] : toolsOfServer(parts, server)
    return server === name ? all : all.filter(({ tool }) => tool.name === name)
  })
  const byName = new Map(matches.flat().map((offer) => [offer.tool.name, offer]))
  return { offered: [...byName.values()], absent: names.filter((_, index) => matches[index]?.length === 0) }
}

/** The built-in tools over a folder that a conversation has chosen. */
function builtInFor({ options, builtIn, inFolder }: Parts, chosen: string | undefined): readonly Tool[] {
  if (chosen === undefined) return builtIn
  const folder = allowedFolder(chosen, options)
  const tools = inFolder.get(folder) ?? builtInTools({ ...options, folder })
  inFolder.set(folder, tools)
  return tools
}

function serverInfo(parts: Parts, name: string): McpServerInfo {
  const { servers } = parts
  const problem = servers?.problem(name)
  return {
    name,
    state: servers?.state(name) ?? 'idle',
    ...(problem !== undefined && { problem }),
    tools: toolsOfServer(parts, name).map(({ tool }) => tool.name),
    waiting: servers?.changed(name) ?? [],
  }
}

/** MCP tools outside of an agent ask each time. */
function toolsOfServer({ servers }: Parts, name: string): SourcedTool[] {
  const source = `mcp:${name}`
  return (servers?.tools(name) ?? []).map((tool) => ({ tool: { ...tool, ask: true }, source }))
}

/** The MCP server that a name refers to, directly or by one of its tools. */
function serverOf({ serverNames }: Parts, name: string): string | undefined {
  return serverNames.find((server) => name === server || name.startsWith(`${server}__`))
}

async function openedServers(parts: Parts): Promise<McpServers | undefined> {
  const { options, serverNames, env, onNote } = parts
  const { config, known } = options
  if (!config || serverNames.length === 0) return undefined
  parts.opening ??= import('../mcp/servers.ts').then(({ openMcpServers }) =>
    openMcpServers(config.mcpServers, { env, onNote, ...(known && { known }) }),
  )
  parts.servers = await parts.opening
  return parts.servers
}

async function connect(parts: Parts, names: readonly string[]): Promise<void> {
  if (names.length === 0) return
  await (await openedServers(parts))?.refresh(names)
  reportDigests(parts)
}

function reportDigests({ servers, options }: Parts): void {
  const digests = servers?.digests() ?? {}
  if (Object.keys(digests).length > 0) options.onDigests?.(digests)
}

function agentInfo(options: ToolboxOptions, file: string): AgentInfo {
  try {
    const { name, description, settings } = agentNamed(options, agentName(file))
    return { name, file, ...(description !== undefined && { description }), model: settings.model }
  } catch (error) {
    return { name: agentName(file), file, problem: errorMessage(error) }
  }
}

function agentNamed({ config, agentProblem }: ToolboxOptions, name: string): AgentFile & { sha256: string } {
  // Only a name: a path in a request or in a stored setting names no file here.
  if (!config || !/^[a-z0-9][a-z0-9_-]*$/.test(name)) throw badInput(`There is no agent "${name}".`)
  const path = findAgentFile(name, config)
  const read = readAgent(path, config)
  const problem = agentProblem?.(path)
  if (problem !== undefined) throw badInput(problem)
  return { ...read, sha256: hashOfFiles(involvedFiles(read, config).filter((file) => existsSync(file))) }
}

async function agentTools(parts: Parts, file: AgentFile & { sha256: string }): Promise<SourcedTool[]> {
  const { loaded } = parts
  const { path, sha256 } = file
  const opened = loaded.get(path) ?? load(parts, path, sha256)
  loaded.set(path, opened)
  const { agent, sha256: then } = await opened.catch((error: unknown) => {
    loaded.delete(path)
    throw error
  })
  // Imported modules stay in the process.
  if (then !== sha256) throw badInput(`${path}, or a file that it uses, has changed: start the server again to use it.`)
  const { tools = [] } = await agent.settings()
  reportDigests(parts)
  const ofServers = file.tools.flatMap((source) => ('mcp' in source ? [source.mcp] : []))
  return tools.map((tool) => {
    const server = ofServers.find((name) => tool.name.startsWith(`${name}__`))
    return { tool, source: server === undefined ? `agent:${path}` : `mcp:${server}` }
  })
}

async function load(parts: Parts, path: string, sha256: string): Promise<{ agent: Agent; sha256: string }> {
  const { options, env, onNote } = parts
  const servers = await openedServers(parts)
  const { config } = options
  const agent = await openAgent(path, { ...(config && { config }), env, onNote, ...(servers && { servers }) })
  return { agent, sha256 }
}

/** Symbolic links are followed first: what counts is where the files are. */
function allowedFolder(chosen: string, { folder, folders = [] }: ToolboxOptions): string {
  if (folder === undefined) throw badInput('folder: this server has no tools for files, so there is none to choose.')
  const path = resolve(folder, chosen)
  if (!statSync(path, { throwIfNoEntry: false })?.isDirectory()) throw badInput(`folder: there is no folder ${chosen}.`)
  const real = realpathSync(path)
  const isInside = [folder, ...folders].some(
    (allowed) => real === allowed || real.startsWith(allowed.endsWith(sep) ? allowed : allowed + sep),
  )
  if (isInside) return real
  throw badInput(
    `folder: ${chosen} is not inside a folder that this server allows; start it with --folder to allow another one.`,
  )
}

function builtInTools({ folder, commands = false, fetches = false }: ToolboxOptions): Tool[] {
  return [
    ...(folder === undefined ? [] : fileTools(folder)),
    ...(fetches ? [fetchTool()] : []),
    ...(folder !== undefined && commands ? [commandTool(folder)] : []),
  ]
}

function asBuiltIn(tool: Tool): SourcedTool {
  return { tool, source: 'built-in' }
}
