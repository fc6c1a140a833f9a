// What a configuration would do, for the user who decides whether to trust it: hosts that it connects to, variables
// that it reads and where their values go, programs that it starts, modules that it imports.

import { dirname, relative, resolve } from 'node:path'
import { rows as builtIn } from '../providers/rows.ts'
import type { ProviderRow } from '../providers/provider.ts'
import type { Config } from './load.ts'
import { isOwnVariable, serverVariables, type VariableUse } from './variables.ts'

export interface Effects {
  /** One line of text for each effect. */
  lines: string[]
  variables: VariableUse[]
}

export function configEffects(config: Config): Effects {
  const ownRows = config.ownIds.flatMap((id) => config.rows.find((row) => row.id === id) ?? [])
  const providers = ownRows.map(providerEffects)
  const servers = Object.entries(config.mcpServers).map(([name, server]): Effects => {
    const reader = `MCP server ${name}`
    const goesTo = 'url' in server ? server.url : [server.command, ...(server.args ?? [])].join(' ')
    const line = 'url' in server ? `connects to ${goesTo} (${reader})` : `starts ${goesTo} (${reader})`
    const variables = serverVariables(server).map((variable) => ({
      name: variable,
      reader,
      goesTo,
      own: isOwnVariable(name, variable),
    }))
    const constants = 'url' in server ? server.headers : server.env
    const names = Object.keys(constants ?? {})
    const sets = names.length > 0 ? [`sets ${names.join(', ')} for ${reader}`] : []
    return { lines: [line, ...sets, ...variables.map(variableLine)], variables }
  })
  const settings = [
    ...(config.model === undefined ? [] : [`makes ${config.model} the default model`]),
    ...Object.entries(config.aliases ?? {}).map(([alias, model]) => `calls ${model} ${alias}`),
    ...(config.routes ?? []).map(({ match, model }) => `answers clients that ask for ${match} with ${model}`),
    ...Object.entries(config.serverTools ?? {}).map(([kind, tool]) => `lets clients run ${tool} as ${kind}`),
    ...(config.policy === undefined ? [] : [`sets the policy to ${JSON.stringify(config.policy)}`]),
    ...(config.file !== undefined && config.agentsDir !== resolve(dirname(config.file), 'agents')
      ? [`takes agents from ${relative(dirname(config.file), config.agentsDir) || '.'}`]
      : []),
  ]
  return joinEffects([{ lines: settings, variables: [] }, ...providers, ...servers])
}

export function joinEffects(all: readonly Effects[]): Effects {
  return {
    lines: [...new Set(all.flatMap(({ lines }) => lines))],
    variables: all.flatMap(({ variables }) => variables),
  }
}

function providerEffects(row: ProviderRow): Effects {
  const hosts = [...new Set(row.wires.map((wire) => wire.baseUrl))].join(', ')
  const reader = `provider ${row.id}`
  const keys = row.keyVariables.map((name) => ({
    name,
    reader,
    goesTo: hosts,
    own: isOwnVariable(row.id, name) || sendsToOwner(row, name),
  }))
  const addresses = (row.baseUrlVariables ?? []).map((name) => ({
    name,
    reader,
    goesTo: `the address of ${row.id}`,
    own: isOwnVariable(row.id, name) || builtIn.some((candidate) => candidate.baseUrlVariables?.includes(name)),
  }))
  const variables = [...keys, ...addresses]
  const modules = modulesOfRow(row).map((path) => `imports ${path} into this process (${reader})`)
  return { lines: [`asks ${hosts} (${reader})`, ...modules, ...variables.map(variableLine)], variables }
}

/** The modules of its wires. */
function modulesOfRow({ wires }: ProviderRow): string[] {
  return [...new Set(wires.flatMap(({ module }) => module ?? []))]
}

/** The modules of all wires of a configuration. */
export function wireModules({ rows, ownIds }: Config): string[] {
  return rows.filter(({ id }) => ownIds.includes(id)).flatMap(modulesOfRow)
}

function variableLine({ name, reader, goesTo }: VariableUse): string {
  return `reads ${name} for ${reader}, and gives it to ${goesTo}`
}

/** A built-in provider's key that stays with that provider. */
function sendsToOwner(row: ProviderRow, name: string): boolean {
  const owner = builtIn.find((candidate) => candidate.keyVariables.includes(name))
  const homes = new Set(owner?.wires.map((wire) => wire.baseUrl))
  return owner !== undefined && row.wires.every((wire) => homes.has(wire.baseUrl))
}
