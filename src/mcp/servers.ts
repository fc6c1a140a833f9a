// All MCP servers of one user, as sources of tools. Each has its own client and process: nothing is shared between two
// of them, or between two users.

import type { McpServer } from '../config/load.ts'
import type { Note } from '../core/context.ts'
import type { Tool } from '../core/tool.ts'
import { type Connection, type ConnectionState, connectionTo } from './connection.ts'
import type { ChangedTool, KnownDefinition } from './definition.ts'

export interface McpServers {
  /** Connects disconnected servers that are due for a retry, all at the same time. Never throws. */
  refresh(names?: readonly string[]): Promise<void>
  /** The tools of a server, under the names that the model sees. */
  tools(name: string): Tool[]
  /** Why a server is unavailable; undefined: it is connected. */
  problem(name: string): string | undefined
  state(name: string): ConnectionState
  /** Closes the connection to a server and opens it again. Never throws. */
  restart(name: string): Promise<void>
  /** By server, then by tool: the allowed definitions. */
  digests(): Digests
  /** The tools of a server that are left out until they are allowed: they are new, or their definition has changed. */
  changed(name: string): ChangedTool[]
  /** Offers such a tool in its new form. */
  allow(tool: ChangedTool): void
  close(): Promise<void>
}

export type Digests = Readonly<Record<string, Readonly<Record<string, KnownDefinition>>>>

export interface McpOptions {
  /** Where `${NAME}` is looked up. */
  env?: Readonly<Record<string, string | undefined>>
  /** Definitions that were allowed before: a changed one is noted, and left out until it is allowed. */
  known?: Digests
  /** Tools that were added, left out, or have a new definition. */
  onNote?: (note: Note) => void
  now?: () => number
}

/** Nothing is started before `refresh` or the first call. */
export function openMcpServers(
  servers: Readonly<Record<string, McpServer>>,
  { env = process.env, known = {}, onNote = () => {}, now = Date.now }: McpOptions = {},
): McpServers {
  const connections = new Map<string, Connection>(
    Object.entries(servers).map(([name, server]) => {
      const seen = Object.hasOwn(known, name) ? known[name] : undefined
      return [name, connectionTo(name, server, { env, now, note: onNote, ...(seen && { known: seen }) })]
    }),
  )
  return {
    async refresh(names = [...connections.keys()]) {
      const chosen = names.flatMap((name) => connections.get(name) ?? [])
      await Promise.all(chosen.map((connection) => connection.refresh()))
    },
    tools: (name) => connections.get(name)?.tools() ?? [],
    changed: (name) => connections.get(name)?.changed() ?? [],
    allow: ({ server, name }) => connections.get(server)?.allow(name),
    problem: (name) => connections.get(name)?.problem,
    state: (name) => connections.get(name)?.state ?? 'idle',
    restart: async (name) => connections.get(name)?.restart(),
    digests: () =>
      Object.fromEntries(
        [...connections.values()]
          .map((connection) => [connection.name, connection.digests()] as const)
          .filter(([, digests]) => Object.keys(digests).length > 0),
      ),
    async close() {
      await Promise.all([...connections.values()].map((connection) => connection.close()))
    },
  }
}
