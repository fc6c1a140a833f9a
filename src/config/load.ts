// synapse.yaml, read and checked as a whole: rows of providers, the default model and policy, MCP servers, and the
// agents folder. All problems are reported at once, and nothing of an invalid file is used.

import { dirname, relative, resolve } from 'node:path'
import { editDistance } from '../core/edit-distance.ts'
import type { ProviderRow } from '../providers/provider.ts'
import { rows as builtIn } from '../providers/rows.ts'
import type { Policy } from '../settings/policy.ts'
import { checkShape } from './check-shape.ts'
import { type ConfigOrigin, findConfigFile, type FoundFile, type Where } from './find-file.ts'
import type { McpServerEntry } from './mcp-entry.ts'
import { mergeRows } from './merge-rows.ts'
import type { ProviderEntry } from './provider-schema.ts'
import { type ConfigEntry, configSchema, type ModelRoute, type ServedToolNames } from './schema.ts'
import { serverVariables } from './variables.ts'
import { type Problem, problemsIn, readYamlFile, type YamlFile } from './yaml-file.ts'

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
function readConfig(location: FoundFile): Config {
  const shown = shownPath(location.path)
  const file = readYamlFile(location.path, shown)
  const entry = checkShape(file, shown, configSchema)
  const problems: Problem[] = []
  const home = dirname(location.path)
  const rows = mergeRows(
    builtIn,
    (entry.providers ?? []).map((one) => withModulesFrom(home, one)),
    (index) => (path, says) => {
      problems.push(file.problem(['providers', index, ...path], says))
    },
  )
  if (location.origin === 'folder') problems.push(...guardedKeys(file, entry, rows))
  problems.push(...unknownModel(file, entry, rows))
  if (problems.length > 0) throw problemsIn(shown, problems)
  const servers = Object.entries(entry.mcpServers ?? {}).map(([name, server]) => [name, { ...server, home }] as const)
  return {
    file: location.path,
    origin: location.origin,
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
  const withModulePath = <E extends { module?: string }>(item: E): E =>
    item.module === undefined ? item : { ...item, module: resolve(home, item.module) }
  return { ...withModulePath(entry), ...(entry.wires && { wires: entry.wires.map(withModulePath) }) }
}

/** Paths as a user at this terminal would write them. */
export function shownPath(path: string): string {
  const near = relative(process.cwd(), path)
  return near === '' || near.startsWith('..') ? path : near
}

function unknownModel(file: YamlFile, entry: ConfigEntry, rows: readonly ProviderRow[]): Problem[] {
  const { model, aliases = {}, routes = [] } = entry
  const modelProblem = model === undefined ? undefined : modelNameProblem(model, rows, aliases)
  const named = Object.entries(aliases).flatMap(([alias, target]) => {
    const nameProblem = rows.some((row) => row.id === alias) ? 'is the name of a provider' : undefined
    const wrong = nameProblem ?? modelNameProblem(target, rows)
    return wrong === undefined ? [] : [file.problem(['aliases', alias], wrong)]
  })
  const routed = routes.flatMap((route, i) => {
    const wrong = modelNameProblem(route.model, rows, aliases)
    return wrong === undefined ? [] : [file.problem(['routes', i, 'model'], wrong)]
  })
  return [...(modelProblem === undefined ? [] : [file.problem(['model'], modelProblem)]), ...named, ...routed]
}

// Whether a model name in a file is plausible. A bare name, such as gpt-5.6, is looked up when it is used; what looks
// like a mistyped provider is refused at once.

/** What is wrong with the name of a model; undefined if nothing can be said without asking the provider. */
export function modelNameProblem(
  name: string,
  rows: readonly ProviderRow[],
  aliases: Readonly<Record<string, string>> = {},
): string | undefined {
  const [provider = '', model] = name.trim().split('/', 2)
  if (rows.some((row) => row.id === provider) || Object.hasOwn(aliases, name.trim())) return undefined
  const near = rows.some((row) => editDistance(provider.toLowerCase(), row.id) <= 2)
  if (model === undefined && !near && /\d|-/.test(provider)) return undefined
  return `there is no provider "${provider}"; known are ${rows.map((row) => row.id).join(', ')}`
}

// A file in a folder, trusted or not, never chooses where the key of a built-in provider is sent. Only the user's own
// environment (OPENAI_BASE_URL and the like), the user's own configuration, or a file that was named can do that.

/** One problem for each key that would be sent to a host other than its provider's. */
function guardedKeys(file: YamlFile, entry: ConfigEntry, rows: readonly ProviderRow[]): Problem[] {
  const providers = (entry.providers ?? []).flatMap((provider, index) => {
    const row = rows.find((candidate) => candidate.id === provider.id)
    if (!row) return []
    return row.keyVariables.flatMap((name) => {
      const homes = homesOf(name)
      if (!homes) return []
      const stray = row.wires.find((wire) => !homes.hosts.has(hostOf(wire.baseUrl)))
      const variable = row.baseUrlVariables?.find((candidate) => !homes.variables.has(candidate.toUpperCase()))
      if (stray) {
        const path = ['providers', index, provider.wires ? 'wires' : 'baseUrl']
        return [file.problem(path, sentence(name, hostOf(stray.baseUrl) ?? stray.baseUrl))]
      }
      return variable === undefined
        ? []
        : [file.problem(['providers', index, 'baseUrlVariable'], sentence(name, `whatever host ${variable} names`))]
    })
  })
  const servers = Object.entries(entry.mcpServers ?? {}).flatMap(([name, server]) => serverProblems(file, name, server))
  return [...providers, ...servers]
}

/** A program gets a key only if it is confirmed by its name; a host never does. */
function serverProblems(file: YamlFile, name: string, server: McpServerEntry): Problem[] {
  if (!('url' in server)) return []
  return serverVariables({ ...server, home: '' })
    .filter((variable) => homesOf(variable))
    .map((variable) => file.problem(['mcpServers', name], sentence(variable, hostOf(server.url) ?? server.url)))
}

function sentence(variable: string, where: string): string {
  return `a file in a folder may not send ${variable} to ${where}; use a separate variable, or move these lines to your own configuration or to a file that you name with --config`
}

/** The host that a built-in provider's key belongs to; undefined: it is not such a key. */
function homesOf(name: string): { hosts: Set<string | undefined>; variables: Set<string> } | undefined {
  const owners = builtIn.filter((row) =>
    row.keyVariables.some((variable) => variable.toUpperCase() === name.toUpperCase()),
  )
  if (owners.length === 0) return undefined
  return {
    hosts: new Set(owners.flatMap((row) => row.wires.map((wire) => hostOf(wire.baseUrl)))),
    variables: new Set(owners.flatMap((row) => row.baseUrlVariables ?? [])),
  }
}

/** Undefined for a bare path, whose host the user's environment must name. */
function hostOf(baseUrl: string): string | undefined {
  return URL.parse(baseUrl)?.host
}
