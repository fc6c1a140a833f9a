// From an agent's file to settings that a conversation can be continued with. Modules are loaded here; MCP servers are
// started when the settings are asked for the first time, and only those that the agent names.

import { dirname } from 'node:path'
import { loadConfig, type Config } from '../config/load.ts'
import type { Note } from '../core/context.ts'
import type { Tool } from '../core/tool.ts'
import type { RunSettings } from '../run/conversation.ts'
import type { ChangedTool } from '../mcp/known-definition.ts'
import type { Digests, McpServers } from '../mcp/servers.ts'
import { readAgent, type AgentFile, type ToolSource } from './read.ts'
import { toolsOfModule } from './tool-module.ts'

export interface AgentOptions {
  /** Absent: the synapse.yaml that counts in the folder of the agent. */
  config?: Config
  /** Where `${NAME}` in the settings of MCP servers is looked up. */
  env?: Readonly<Record<string, string | undefined>>
  /** Definitions of MCP tools that were allowed before: what has changed since is noted, and left out. */
  known?: Digests
  /** Whether a tool that has changed since it was allowed may be offered as it is now; absent: no. */
  onChanged?: (tool: ChangedTool) => boolean | Promise<boolean>
  onNote?: (note: Note) => void
}

/** An agent that is ready to be asked. Close it, or its MCP servers keep running. */
export interface Agent {
  readonly name: string
  readonly description?: string
  readonly file: string
  /**
   * For `start`, `open` and `send`, with the tools as they are now. MCP servers that are away are tried again first;
   * those that stay away are noted, and never waited for longer than their connect timeout.
   */
  settings(): Promise<RunSettings>
  /** The MCP tools that count as allowed, to be given as `known` the next time. */
  digests(): Digests
  close(): Promise<void>
}

/** Throws everything that is wrong with the file or its modules, with file, line, column and key. */
export async function openAgent(path: string, options: AgentOptions = {}): Promise<Agent> {
  const { env = process.env, onNote = () => {} } = options
  const config = options.config ?? loadConfig({ cwd: dirname(path), env })
  const file = readAgent(path, config)
  const own = await moduleTools(file)
  const names = file.tools.flatMap((source) => ('mcp' in source ? [source.mcp] : []))
  const servers = names.length > 0 ? await openServers(names) : undefined
  return {
    name: file.name,
    ...(file.description !== undefined && { description: file.description }),
    file: path,
    async settings() {
      await servers?.refresh(names)
      for (const name of names) await askAboutChanges(name)
      const tools = file.tools.flatMap((source) => ('mcp' in source ? served(source) : (own.get(source) ?? [])))
      return { ...file.settings, tools: eachOnce(tools) }
    },
    digests: () => servers?.digests() ?? {},
    close: async () => servers?.close(),
  }

  async function askAboutChanges(name: string): Promise<void> {
    for (const tool of servers?.changed(name) ?? []) {
      if (await options.onChanged?.(tool)) servers?.allow(tool)
      else
        onNote({
          kind: 'dropped',
          what: `tool ${tool.name}`,
          why: 'its definition has changed since it was allowed, and it was not allowed again',
          rule: 'mcp',
        })
    }
  }

  function served(source: ToolSource & { mcp: string }): Tool[] {
    const away = servers?.problem(source.mcp)
    if (away !== undefined) onNote({ kind: 'dropped', what: `MCP server ${source.mcp}`, why: away, rule: 'mcp' })
    const offered = servers?.tools(source.mcp) ?? []
    const short = (tool: { name: string }) => tool.name.slice(source.mcp.length + 2)
    const there = [...offered, ...(servers?.changed(source.mcp) ?? [])]
    const missing = source.only?.filter((name) => !there.some((tool) => short(tool) === name)) ?? []
    for (const name of away === undefined ? missing : []) {
      onNote({
        kind: 'dropped',
        what: `tool ${source.mcp}__${name}`,
        why: `${source.mcp} does not offer it`,
        rule: 'mcp',
      })
    }
    return asking(source, source.only ? offered.filter((tool) => source.only?.includes(short(tool))) : offered)
  }

  async function openServers(wanted: readonly string[]): Promise<McpServers> {
    const { openMcpServers } = await import('../mcp/servers.ts')
    const entries = Object.entries(config.mcpServers).filter(([name]) => wanted.includes(name))
    return openMcpServers(Object.fromEntries(entries), { env, onNote, ...(options.known && { known: options.known }) })
  }
}

async function moduleTools(file: AgentFile): Promise<Map<ToolSource, Tool[]>> {
  const loaded = new Map<ToolSource, Tool[]>()
  const taken = new Set<string>()
  for (const source of file.tools) {
    if (!('module' in source)) continue
    const tools = await toolsOfModule(source.module).catch((error: unknown) => {
      throw file.problem(source.at, error instanceof Error ? error.message : String(error))
    })
    const names = tools.map((tool) => tool.name)
    const missing = source.only?.find((name) => !names.includes(name))
    if (missing !== undefined) {
      throw file.problem([...source.at, 'only'], `there is no tool "${missing}"; the module has ${names.join(', ')}`)
    }
    const wanted = tools.filter((tool) => source.only?.includes(tool.name) ?? true)
    const twice = wanted.find((tool) => taken.has(tool.name))
    if (twice) throw file.problem(source.at, `there are two tools named ${twice.name}`)
    for (const tool of wanted) taken.add(tool.name)
    loaded.set(source, asking(source, wanted))
  }
  return loaded
}

/** A server may be named twice, to ask about some of its tools: what is named twice is offered once, and asks. */
function eachOnce(tools: readonly Tool[]): Tool[] {
  const byName = new Map<string, Tool>()
  for (const tool of tools) if (tool.ask === true || !byName.has(tool.name)) byName.set(tool.name, tool)
  return [...byName.values()]
}

/** A tool that asks by itself, for some inputs, keeps doing so unless the agent is stricter. */
function asking({ ask }: ToolSource, tools: Tool[]): Tool[] {
  return ask ? tools.map((tool) => ({ ...tool, ask: true })) : tools
}
