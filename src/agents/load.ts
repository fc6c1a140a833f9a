// From an agent's file to settings for a conversation. Modules are loaded here; MCP servers are started when the
// settings are first requested, and only those that the agent names.

import { errorMessage } from '../core/error.ts'
import { dirname } from 'node:path'
import { pathToFileURL } from 'node:url'
import { type Config, loadConfig } from '../config/load.ts'
import type { Note } from '../core/context.ts'
import { isObject } from '../core/json.ts'
import type { Tool } from '../core/tool.ts'
import type { ChangedTool } from '../mcp/definition.ts'
import type { Digests, McpServers } from '../mcp/servers.ts'
import type { RunSettings } from '../run/conversation.ts'
import { type AgentFile, agentsWith, readAgent, type ToolSource } from './read.ts'

export interface OpenAgentOptions {
  /** Absent: the synapse.yaml of the agent's folder. */
  config?: Config
  /** Where `${NAME}` in the settings of MCP servers is looked up. */
  env?: Readonly<Record<string, string | undefined>>
  /** Definitions of MCP tools that were allowed before: changed ones are noted, and left out. */
  known?: Digests
  /** Whether a tool that has changed since it was allowed may be offered in its new form; absent: no. */
  onChanged?: (tool: ChangedTool) => boolean | Promise<boolean>
  onNote?: (note: Note) => void
  /** MCP servers that are already open; they stay open when the agent is closed. */
  servers?: McpServers
}

/** An agent that is ready to use. Close it, or its MCP servers keep running. */
export interface Agent {
  readonly name: string
  readonly description?: string
  readonly file: string
  /**
   * For `start`, `open` and `send`, with the current tools. Disconnected MCP servers are retried first; those that stay
   * unavailable are noted, and never delay this longer than their connect timeout.
   */
  settings(): Promise<RunSettings>
  /** The allowed MCP tools, to pass as `known` the next time. */
  digests(): Digests
  close(): Promise<void>
}

/** Throws all problems of the file or its modules, with file, line, column and key. */
export async function openAgent(path: string, options: OpenAgentOptions = {}): Promise<Agent> {
  const { env = process.env, onNote = () => {} } = options
  const config = options.config ?? loadConfig({ cwd: dirname(path), env })
  const files = agentsWith(readAgent(path, config), config)
  const servers = options.servers ?? (await openServers(files.flatMap(serversOf)))
  const close = async (): Promise<void> => (options.servers ? undefined : servers?.close())
  const agents = new Map<string, Agent>()
  for (const file of files) agents.set(file.path, await agentOf(file))
  const [agent] = agents.values()
  if (!agent) throw new TypeError('an agent without a file')
  return agent

  async function agentOf(file: AgentFile): Promise<Agent> {
    const toolsByModule = await moduleTools(file)
    const names = serversOf(file)
    return {
      name: file.name,
      ...(file.description !== undefined && { description: file.description }),
      file: file.path,
      async settings() {
        await servers?.refresh(names)
        for (const name of names) await askAboutChanges(name)
        const tools = file.tools.flatMap((source) =>
          'mcp' in source ? toolsFromServer(source) : (toolsByModule.get(source) ?? []),
        )
        // Agents may hand over to each other in a cycle: all of them are open by now.
        const handoffs = file.handoffs.flatMap((handoffPath) => agents.get(handoffPath) ?? [])
        return { ...file.settings, tools: eachOnce(tools), ...(handoffs.length > 0 && { handoffs }) }
      },
      digests: () => servers?.digests() ?? {},
      close,
    }
  }

  async function askAboutChanges(name: string): Promise<void> {
    for (const tool of servers?.changed(name) ?? []) {
      if (await options.onChanged?.(tool)) servers?.allow(tool)
      else
        onNote({
          kind: 'dropped',
          what: `tool ${tool.name}`,
          why: tool.added
            ? `${tool.server} did not have it before, and it was not allowed`
            : 'its definition has changed since it was allowed, and it was not allowed again',
          rule: 'mcp',
        })
    }
  }

  function toolsFromServer(source: ToolSource & { mcp: string }): Tool[] {
    const away = servers?.problem(source.mcp)
    if (away !== undefined) onNote({ kind: 'dropped', what: `MCP server ${source.mcp}`, why: away, rule: 'mcp' })
    const offered = servers?.tools(source.mcp) ?? []
    const short = (tool: { name: string }) => tool.name.slice(source.mcp.length + 2)
    const listed = [...offered, ...(servers?.changed(source.mcp) ?? [])]
    const missing = source.only?.filter((name) => !listed.some((tool) => short(tool) === name)) ?? []
    for (const name of away === undefined ? missing : []) {
      onNote({
        kind: 'dropped',
        what: `tool ${source.mcp}__${name}`,
        why: `${source.mcp} does not offer it`,
        rule: 'mcp',
      })
    }
    return withAsk(source, source.only ? offered.filter((tool) => source.only?.includes(short(tool))) : offered)
  }

  async function openServers(names: readonly string[]): Promise<McpServers | undefined> {
    if (names.length === 0) return undefined
    const { openMcpServers } = await import('../mcp/servers.ts')
    const entries = Object.entries(config.mcpServers).filter(([name]) => names.includes(name))
    return openMcpServers(Object.fromEntries(entries), { env, onNote, ...(options.known && { known: options.known }) })
  }
}

function serversOf(file: AgentFile): string[] {
  return file.tools.flatMap((source) => ('mcp' in source ? [source.mcp] : []))
}

async function moduleTools(file: AgentFile): Promise<Map<ToolSource, Tool[]>> {
  const loaded = new Map<ToolSource, Tool[]>()
  const usedNames = new Set<string>()
  for (const source of file.tools) {
    if (!('module' in source)) continue
    const tools = await toolsOfModule(source.module).catch((error: unknown) => {
      throw file.problem(source.at, errorMessage(error))
    })
    const names = tools.map((tool) => tool.name)
    const missing = source.only?.find((name) => !names.includes(name))
    if (missing !== undefined) {
      throw file.problem([...source.at, 'only'], `there is no tool "${missing}"; the module has ${names.join(', ')}`)
    }
    const chosen = tools.filter((tool) => source.only?.includes(tool.name) ?? true)
    const duplicate = chosen.find((tool) => usedNames.has(tool.name))
    if (duplicate) throw file.problem(source.at, `there are two tools named ${duplicate.name}`)
    for (const tool of chosen) usedNames.add(tool.name)
    loaded.set(source, withAsk(source, chosen))
  }
  return loaded
}

/**
 * A server may be named twice, to ask about some of its tools: a tool that is named twice is offered once, and asks.
 */
function eachOnce(tools: readonly Tool[]): Tool[] {
  const byName = new Map<string, Tool>()
  for (const tool of tools) if (tool.ask === true || !byName.has(tool.name)) byName.set(tool.name, tool)
  return [...byName.values()]
}

/** A tool that asks by itself for some inputs keeps doing so unless the agent is stricter. */
function withAsk({ ask }: ToolSource, tools: Tool[]): Tool[] {
  return ask ? tools.map((tool) => ({ ...tool, ask: true })) : tools
}

// Tools from a user's module: every export that is a tool, or a list of tools.

/** Throws one sentence, without the path: the caller knows which module was named. */
async function toolsOfModule(path: string): Promise<Tool[]> {
  const exported = await load(path)
  const tools = new Set(Object.values(exported).flat().filter(isTool))
  if (tools.size > 0) return [...tools]
  throw new Error('exports no tools; a tool has a name, an input schema and a function run')
}

async function load(path: string): Promise<Record<string, unknown>> {
  try {
    return (await import(pathToFileURL(path).href)) as Record<string, unknown>
  } catch (error) {
    const reason = error instanceof Error ? error.message.split('\n', 1)[0] : String(error)
    throw new Error(`cannot be loaded: ${reason}${isModuleInCommonJs(error) ? hint : ''}`, { cause: error })
  }
}

const hint = '; Node treats it as CommonJS: name it .mjs or .mts, or set "type": "module" in package.json'

/** `npm init` creates packages of type commonjs, where a file with `export` is a syntax error (checked 2026-11). */
function isModuleInCommonJs(error: unknown): boolean {
  return error instanceof SyntaxError && /^(Unexpected token 'export'|Cannot use import statement)/.test(error.message)
}

function isTool(value: unknown): value is Tool {
  if (!isObject(value)) return false
  const { name, input, run } = value as Record<string, unknown>
  return typeof name === 'string' && name !== '' && isObject(input) && typeof run === 'function'
}
