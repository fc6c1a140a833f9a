// All MCP servers of one user, as sources of tools. Each has its own client and process: nothing is shared between two
// of them, or between two users.

import type { McpServer } from '../config/load.ts'
import type { Note } from '../core/context.ts'
import type { Tool } from '../core/tool.ts'
import { connectionTo, type Connection } from './connection.ts'
import type { ChangedTool, KnownDefinition } from './known-definition.ts'

export interface McpServers {
  /** Connects those that are away and whose time has come, all at the same time. Never throws. */
  refresh(names?: readonly string[]): Promise<void>
  /** What a server offers, under the names that the model sees. */
  tools(name: string): Tool[]
  /** Why a server is away; undefined: it is there. */
  problem(name: string): string | undefined
  /** By server, then by tool: the definitions that count as allowed. */
  digests(): Digests
  /** The tools of a server that are left out because their definition has changed since it was allowed. */
  changed(name: string): ChangedTool[]
  /** Offers such a tool as it is now. */
  allow(tool: ChangedTool): void
  close(): Promise<void>
}

export type Digests = Readonly<Record<string, Readonly<Record<string, KnownDefinition>>>>

export interface McpOptions {
  /** Where `${NAME}` is looked up. */
  env?: Readonly<Record<string, string | undefined>>
  /** Definitions that were allowed before: what has changed since is noted, and left out until it is allowed. */
  known?: Digests
  /** Tools that were added, left out, or are defined differently than before. */
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
      const wanted = names.flatMap((name) => connections.get(name) ?? [])
      await Promise.all(wanted.map((one) => one.refresh()))
    },
    tools: (name) => connections.get(name)?.tools() ?? [],
    changed: (name) => connections.get(name)?.changed() ?? [],
    allow: ({ server, name }) => connections.get(server)?.allow(name),
    problem: (name) => connections.get(name)?.problem,
    digests: () =>
      Object.fromEntries(
        [...connections.values()]
          .map((one) => [one.name, one.digests()] as const)
          .filter(([, own]) => Object.keys(own).length > 0),
      ),
    async close() {
      await Promise.all([...connections.values()].map((one) => one.close()))
    },
  }
}
