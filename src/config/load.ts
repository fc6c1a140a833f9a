// synapse.yaml, read and checked as a whole: rows of providers, the default model and policy, MCP servers, and where the
// agents are. Everything that is wrong is said at once, and nothing of a wrong file is used.

import { dirname, relative, resolve } from 'node:path'
import type { Policy } from '../settings/policy.ts'
import type { ProviderRow } from '../providers/provider.ts'
import { rows as builtIn } from '../providers/rows.ts'
import { checkShape } from './check-shape.ts'
import { findConfigFile, type ConfigOrigin, type FoundFile, type Where } from './find-file.ts'
import { guardedKeys } from './guarded-keys.ts'
import type { McpServerEntry } from './mcp-entry.ts'
import { mergeRows } from './merge-rows.ts'
import { configSchema, type ConfigEntry } from './schema.ts'
import { problemsIn, readYamlFile, type Problem, type YamlFile } from './yaml-file.ts'

export interface Config {
  /** Absent: there is no file, and everything is as built in. */
  file?: string
  /** Who chose the file. */
  origin?: ConfigOrigin
  /** Those of the file first, then the built-in ones. */
  rows: readonly ProviderRow[]
  /** The ids that the file adds or changes. */
  ownIds: readonly string[]
  model?: string
  policy?: Policy
  mcpServers: Readonly<Record<string, McpServer>>
  agentsDir: string
}

/** An MCP server with the folder that its relative paths count from. */
export type McpServer = McpServerEntry & { home: string }

/** The configuration that counts here; without a file, what is built in. */
export function loadConfig(where: Where = {}): Config {
  const found = findConfigFile(where)
  return found ? readConfig(found) : builtInConfig(where.cwd)
}

/** What counts without any file. */
export function builtInConfig(cwd: string = process.cwd()): Config {
  return { rows: builtIn, ownIds: [], mcpServers: {}, agentsDir: resolve(cwd, 'agents') }
}

/** One file; throws all that is wrong with it. */
function readConfig(found: FoundFile): Config {
  const shown = shownPath(found.path)
  const file = readYamlFile(found.path, shown)
  const entry = checkShape(file, shown, configSchema)
  const problems: Problem[] = []
  const rows = mergeRows(builtIn, entry.providers ?? [], (index) => (path, says) => {
    problems.push(file.problem(['providers', index, ...path], says))
  })
  if (found.origin === 'folder') problems.push(...guardedKeys(file, entry, rows))
  problems.push(...unknownModel(file, entry, rows))
  if (problems.length > 0) throw problemsIn(shown, problems)
  const home = dirname(found.path)
  const servers = Object.entries(entry.mcpServers ?? {}).map(([name, server]) => [name, { ...server, home }] as const)
  return {
    file: found.path,
    origin: found.origin,
    rows,
    ownIds: (entry.providers ?? []).map(({ id }) => id),
    ...(entry.model !== undefined && { model: entry.model.trim() }),
    ...(entry.policy !== undefined && { policy: entry.policy }),
    mcpServers: Object.fromEntries(servers),
    agentsDir: resolve(home, entry.agentsDir ?? 'agents'),
  }
}

/** Paths as a person at this terminal would write them. */
export function shownPath(path: string): string {
  const near = relative(process.cwd(), path)
  return near === '' || near.startsWith('..') ? path : near
}

function unknownModel(file: YamlFile, { model }: ConfigEntry, rows: readonly ProviderRow[]): Problem[] {
  const provider = model?.trim().split('/', 1)[0]
  if (provider === undefined || rows.some((row) => row.id === provider)) return []
  return [
    file.problem(['model'], `there is no provider "${provider}"; known are ${rows.map((row) => row.id).join(', ')}`),
  ]
}
