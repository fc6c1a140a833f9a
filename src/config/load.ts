// synapse.yaml, read and checked as a whole: rows of providers, the default model and policy, MCP servers, and where the
// agents are. Everything that is wrong is said at once, and nothing of a wrong file is used.

import { dirname, relative, resolve } from 'node:path'
import type { Policy } from '../settings/policy.ts'
import type { ProviderRow } from '../providers/provider.ts'
import { rows as builtIn } from '../providers/rows.ts'
import { checkShape } from './check-shape.ts'
import { findConfigFile, type FoundFile, type Where } from './find-file.ts'
import type { McpServerEntry } from './mcp-entry.ts'
import { mergeRows } from './merge-rows.ts'
import { configSchema, type ConfigEntry } from './schema.ts'
import { problemsIn, readYamlFile, type Problem, type YamlFile } from './yaml-file.ts'

export interface Config {
  /** Absent: there is no file, and everything is as built in. */
  file?: string
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
  if (found) return readConfig(found)
  const cwd = where.cwd ?? process.cwd()
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
  if (found.found) problems.push(...strayKeys(file, entry, rows))
  problems.push(...unknownModel(file, entry, rows))
  if (problems.length > 0) throw problemsIn(shown, problems)
  const home = dirname(found.path)
  const servers = Object.entries(entry.mcpServers ?? {}).map(([name, server]) => [name, { ...server, home }] as const)
  return {
    file: found.path,
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

/**
 * A file that was merely found may have come with somebody else's project: it cannot send the key of a built-in provider
 * to an address of its own choice. The machine itself is no other address.
 */
function strayKeys(file: YamlFile, entry: ConfigEntry, rows: readonly ProviderRow[]): Problem[] {
  const known = new Set(builtIn.flatMap((row) => row.keyVariables))
  return (entry.providers ?? []).flatMap((provider, index) => {
    const row = rows.find((one) => one.id === provider.id)
    const variable = row?.keyVariables.find((name) => known.has(name))
    const homes = new Set(
      builtIn.flatMap((one) =>
        one.keyVariables.includes(variable ?? '') ? one.wires.map((wire) => hostOf(wire.baseUrl)) : [],
      ),
    )
    const stray = row?.wires.find((wire) => !homes.has(hostOf(wire.baseUrl)) && !isThisMachine(wire.baseUrl))
    if (!stray || variable === undefined) return []
    const path = ['providers', index, provider.wires ? 'wires' : 'baseUrl']
    const says = `a file that was found and not named may not send ${variable} to ${hostOf(stray.baseUrl) ?? stray.baseUrl}; give a keyVariable of its own, or name the file with --config or SYNAPSE_CONFIG`
    return [file.problem(path, says)]
  })
}

function unknownModel(file: YamlFile, { model }: ConfigEntry, rows: readonly ProviderRow[]): Problem[] {
  const provider = model?.trim().split('/', 1)[0]
  if (provider === undefined || rows.some((row) => row.id === provider)) return []
  return [
    file.problem(['model'], `there is no provider "${provider}"; known are ${rows.map((row) => row.id).join(', ')}`),
  ]
}

function isThisMachine(baseUrl: string): boolean {
  const host = URL.parse(baseUrl)?.hostname
  return host === undefined || host === 'localhost' || host === '[::1]' || /^127(\.\d+){3}$/.test(host)
}

function hostOf(baseUrl: string): string | undefined {
  return URL.parse(baseUrl)?.host
}
