// MCP servers in code: connected once, their tools passed to conversations. The protocol client is loaded only if there
// is such a server.

import type { McpServerEntry } from '../config/mcp-entry.ts'
import type { Note } from '../core/context.ts'
import { badInput } from '../core/error.ts'
import type { Tool } from '../core/tool.ts'
import { lineOf } from '../settings/check.ts'

export interface McpConnectOptions {
  /** Where `${NAME}` in the settings of servers is looked up; the variables of the process by default. */
  env?: Readonly<Record<string, string | undefined>>
  /** The base folder of relative paths; the current one by default. */
  folder?: string
  /** Called with tools that a server added, removed or defines differently than before. */
  onNote?: (note: Note) => void
}

/** Connected MCP servers. Close them, or their processes keep running. */
export interface McpConnection {
  /** The current tools of all servers, or of one; the model sees `server__tool`. */
  tools(server?: string): Tool[]
  /** Why a server is unavailable, by its name. Its tools are still offered, and the next call tries it again. */
  problems(): Record<string, string>
  close(): Promise<void>
}

/**
 * Connects MCP servers, programs or URLs, and returns their tools. An unreachable one does not delay the others.
 *
 * @example
 * const mcp = await connectMcp({ files: { command: 'npx', args: ['-y', '@modelcontextprotocol/server-filesystem', '.'] } })
 * const chat = await synapse.start({ model: 'anthropic/claude-opus-5', tools: mcp.tools() })
 * await mcp.close()
 */
export async function connectMcp(
  servers: Readonly<Record<string, McpServerEntry>>,
  { env = process.env, folder = process.cwd(), onNote }: McpConnectOptions = {},
): Promise<McpConnection> {
  const [{ openMcpServers }, { mcpServersSchema }, { zodProblems }] = await Promise.all([
    import('./servers.ts'),
    import('../config/mcp-schema.ts'),
    import('../config/zod-problems.ts'),
  ])
  const problems = zodProblems(mcpServersSchema, servers)
  if (problems.length > 0) throw badInput(problems.map(lineOf).join('\n'))
  const entries = Object.entries(servers).map(([name, server]) => [name, { ...server, home: folder }] as const)
  const opened = openMcpServers(Object.fromEntries(entries), { env, ...(onNote && { onNote }) })
  await opened.refresh()
  const names = Object.keys(servers)
  return {
    tools: (server) => (server === undefined ? names : [server]).flatMap((name) => opened.tools(name)),
    problems: () =>
      Object.fromEntries(
        names.flatMap((name) => {
          const problem = opened.problem(name)
          return problem === undefined ? [] : [[name, problem]]
        }),
      ),
    close: () => opened.close(),
  }
}
