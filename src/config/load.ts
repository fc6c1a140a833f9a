// synapse.yaml, read and checked as a whole: rows of providers, the default model and policy, MCP servers, and the
// agents folder. All problems are reported at once, and nothing of an invalid file is used.

import { dirname, relative, resolve } from 'node:path'
import type { Policy } from '../settings/policy.ts'
import type { ProviderRow } from '../providers/provider.ts'
import { rows as builtIn } from '../providers/rows.ts'
import { checkShape } from './check-shape.ts'
import { findConfigFile, type ConfigOrigin, type FoundFile, type Where } from './find-file.ts'
import { guardedKeys } from './guarded-keys.ts'
import type { McpServerEntry } from './mcp-entry.ts'
import { modelNameProblem } from './model-name.ts'
import { mergeRows } from './merge-rows.ts'
import type { ProviderEntry } from './provider-schema.ts'
import { configSchema, type ConfigEntry, type ModelRoute, type ServedToolNames } from './schema.ts'
import { problemsIn, readYamlFile, type Problem, type YamlFile } from './yaml-file.ts'

export interface Config {
  /** Absent: there is no file, and the defaults apply. */
  file?: string
  /** Who chose the file. */
  origin?: ConfigOrigin
  /** Those of the file first, then the built-in ones. */
  rows: readonly ProviderRow[]
  /** The ids that the file adds or changes. */
  ownIds: readonly string[]
  model?: string
  policy?: Policy
  /** The user's own names for models. */
  aliases?: Readonly<Record<string, string>>
  /** The models for clients of other APIs. */
  routes?: readonly ModelRoute[]
  /** Tools in place of those that a provider would run itself. */
  serverTools?: ServedToolNames
  mcpServers: Readonly<Record<string, McpServer>>
  agentsDir: string
}

/** An MCP server with the base folder of its relative paths. */
export type McpServer = McpServerEntry & { home: string }

/** The effective configuration; without a file, the defaults. */
export function loadConfig(where: Where = {}): Config {
  const found = findConfigFile(where)
  return found ? readConfig(found) : builtInConfig(where.cwd)
}

/** The configuration without any file. */
export function builtInConfig(cwd: string = process.cwd()): Config {
  return { rows: builtIn, ownIds: [], mcpServers: {}, agentsDir: resolve(cwd, 'agents') }
}

/** One file; throws all its problems. */
function readConfig(found: FoundFile): Config {
  const shown = shownPath(found.path)
  const file = readYamlFile(found.path, shown)
  const entry = checkShape(file, shown, configSchema)
  const problems: Problem[] = []
  const home = dirname(found.path)
  const rows = mergeRows(
    builtIn,
    (entry.providers ?? []).map((one) => withModulesFrom(home, one)),
    (index) => (path, says) => {
      problems.push(file.problem(['providers', index, ...path], says))
    },
  )
  if (found.origin === 'folder') problems.push(...guardedKeys(file, entry, rows))
  problems.push(...unknownModel(file, entry, rows))
  if (problems.length > 0) throw problemsIn(shown, problems)
  const servers = Object.entries(entry.mcpServers ?? {}).map(([name, server]) => [name, { ...server, home }] as const)
  return {
    file: found.path,
    origin: found.origin,
    rows,
    ownIds: (entry.providers ?? []).map(({ id }) => id),
    ...(entry.model !== undefined && { model: entry.model.trim() }),
    ...(entry.policy !== undefined && { policy: entry.policy }),
    ...(entry.aliases && { aliases: entry.aliases }),
    ...(entry.routes && { routes: entry.routes }),
    ...(entry.serverTools && { serverTools: entry.serverTools }),
    mcpServers: Object.fromEntries(servers),
    agentsDir: resolve(home, entry.agentsDir ?? 'agents'),
  }
}

/** Paths of modules are relative to the folder of the file. */
function withModulesFrom(home: string, entry: ProviderEntry): ProviderEntry {
  const found = <E extends { module?: string }>(one: E): E =>
    one.module === undefined ? one : { ...one, module: resolve(home, one.module) }
  return { ...found(entry), ...(entry.wires && { wires: entry.wires.map(found) }) }
}

/** Paths as a user at this terminal would write them. */
export function shownPath(path: string): string {
  const near = relative(process.cwd(), path)
  return near === '' || near.startsWith('..') ? path : near
}

function unknownModel(file: YamlFile, entry: ConfigEntry, rows: readonly ProviderRow[]): Problem[] {
  const { model, aliases = {}, routes = [] } = entry
  const says = model === undefined ? undefined : modelNameProblem(model, rows, aliases)
  const named = Object.entries(aliases).flatMap(([alias, target]) => {
    const taken = rows.some((row) => row.id === alias) ? 'is the name of a provider' : undefined
    const wrong = taken ?? modelNameProblem(target, rows)
    return wrong === undefined ? [] : [file.problem(['aliases', alias], wrong)]
  })
  const routed = routes.flatMap((route, i) => {
    const wrong = modelNameProblem(route.model, rows, aliases)
    return wrong === undefined ? [] : [file.problem(['routes', i, 'model'], wrong)]
  })
  return [...(says === undefined ? [] : [file.problem(['model'], says)]), ...named, ...routed]
}
