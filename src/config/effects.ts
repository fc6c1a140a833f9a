// What a configuration would do, for the person who decides whether to trust it: hosts that are asked, variables that
// are read and where their values go, programs that are started, modules that are imported.

import { dirname, relative, resolve } from 'node:path'
import { rows as builtIn } from '../providers/rows.ts'
import type { ProviderRow } from '../providers/provider.ts'
import type { Config } from './load.ts'
import { isOwnVariable, serverVariables, type VariableUse } from './variables.ts'

export interface Effects {
  /** One line for each effect, in words. */
  lines: string[]
  variables: VariableUse[]
}

export function configEffects(config: Config): Effects {
  const own = config.ownIds.flatMap((id) => config.rows.find((row) => row.id === id) ?? [])
  const providers = own.map(providerEffects)
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
    ...(config.policy === undefined ? [] : [`sets the policy to ${JSON.stringify(config.policy)}`]),
    ...(config.file !== undefined && config.agentsDir !== resolve(dirname(config.file), 'agents')
      ? [`takes agents from ${relative(dirname(config.file), config.agentsDir) || '.'}`]
      : []),
  ]
  return joined([{ lines: settings, variables: [] }, ...providers, ...servers])
}

export function joined(all: readonly Effects[]): Effects {
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
    own: isOwnVariable(row.id, name) || isAtHome(row, name),
  }))
  const addresses = (row.baseUrlVariables ?? []).map((name) => ({
    name,
    reader,
    goesTo: `the address of ${row.id}`,
    own: isOwnVariable(row.id, name) || builtIn.some((one) => one.baseUrlVariables?.includes(name)),
  }))
  const variables = [...keys, ...addresses]
  return { lines: [`asks ${hosts} (${reader})`, ...variables.map(variableLine)], variables }
}

function variableLine({ name, reader, goesTo }: VariableUse): string {
  return `reads ${name} for ${reader}, and gives it to ${goesTo}`
}

/** A built-in provider's key that stays with that provider. */
function isAtHome(row: ProviderRow, name: string): boolean {
  const owner = builtIn.find((one) => one.keyVariables.includes(name))
  const homes = new Set(owner?.wires.map((wire) => wire.baseUrl))
  return owner !== undefined && row.wires.every((wire) => homes.has(wire.baseUrl))
}
