// A file in a folder, trusted or not, never chooses where the key of a built-in provider is sent. Only the user's own
// environment (OPENAI_BASE_URL and the like), the user's own configuration, or a file that was named can do that.

import type { ProviderRow } from '../providers/provider.ts'
import { rows as builtIn } from '../providers/rows.ts'
import type { McpServerEntry } from './mcp-entry.ts'
import type { ConfigEntry } from './schema.ts'
import { serverVariables } from './variables.ts'
import type { Problem, YamlFile } from './yaml-file.ts'

/** One problem for each key that would be sent to a host other than its provider's. */
export function guardedKeys(file: YamlFile, entry: ConfigEntry, rows: readonly ProviderRow[]): Problem[] {
  const providers = (entry.providers ?? []).flatMap((provider, index) => {
    const row = rows.find((one) => one.id === provider.id)
    if (!row) return []
    return row.keyVariables.flatMap((name) => {
      const homes = homesOf(name)
      if (!homes) return []
      const stray = row.wires.find((wire) => !homes.hosts.has(hostOf(wire.baseUrl)))
      const variable = row.baseUrlVariables?.find((one) => !homes.variables.has(one.toUpperCase()))
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
  const owners = builtIn.filter((row) => row.keyVariables.some((one) => one.toUpperCase() === name.toUpperCase()))
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
