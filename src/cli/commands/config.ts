// `synapse config check`: whether the configuration is valid, and the result of all its sources.

import { badInput } from '../../core/error.ts'
import type { Config, McpServer } from '../../config/load.ts'
import { missingIn } from '../../mcp/expand.ts'
import { type Command, exitCode, parse } from '../command.ts'
import { print, printJson } from '../print.ts'
import { neutral } from '../terminal.ts'

export const config: Command = {
  usage: `synapse config check [FILE] [--json]

Validates synapse.yaml and shows the resulting configuration: which file applies (the nearest one in this folder or above
it, else the one in your configuration folder; --config FILE or SYNAPSE_CONFIG names another), providers and their keys,
MCP servers, and the agents folder. Every problem is reported with file, line, column and key; the exit code is then 2.`,

  async run(argv) {
    const { values, positionals } = parse(argv, 2, { config: { type: 'string' }, json: { type: 'boolean' } })
    const [what, file] = positionals
    if (what !== 'check') throw badInput('Name a subcommand: synapse config check [FILE].')
    const { loadConfig } = await import('../../config/load.ts')
    const read = loadConfig({ file: file ?? values.config })
    const summary = await summaryOf(read)
    if (values.json) printJson(summary, 2)
    else print(`${neutral(linesOf(summary).join('\n'))}\n`)
    return exitCode.ok
  },
}

interface Summary {
  file: string | null
  model: string | null
  providers: { id: string; wires: string[]; address: string; key: string }[]
  mcpServers: { name: string; how: string; missing: string[] }[]
  agentsDir: string
  agents: string[]
}

async function summaryOf(read: Config): Promise<Summary> {
  const { agentFiles, agentName } = await import('../../agents/find.ts')
  return {
    file: read.file ?? null,
    model: read.model ?? null,
    providers: read.ownIds.flatMap((id) => {
      const row = read.rows.find((candidate) => candidate.id === id)
      if (!row) return []
      const wires = row.wires.map((wire) => wire.protocol)
      return [{ id, wires, address: row.wires[0].baseUrl, key: keyOf(row.keyVariables, row.keyOptional === true) }]
    }),
    mcpServers: Object.entries(read.mcpServers).map(([name, server]) => ({
      name,
      how: 'url' in server ? server.url : [server.command, ...(server.args ?? [])].join(' '),
      missing: missingVariables(server),
    })),
    agentsDir: read.agentsDir,
    agents: agentFiles(read.agentsDir).map(agentName),
  }
}

function linesOf(summary: Summary): string[] {
  if (summary.file === null)
    return ['There is no synapse.yaml here or above, and none in your configuration folder: the defaults apply.']
  return [
    `${summary.file} is valid.`,
    ...(summary.model === null ? [] : [`model      ${summary.model}`]),
    ...summary.providers.map(
      ({ id, wires, address, key }) => `provider   ${id}: ${wires.join(', ')} at ${address}, key ${key}`,
    ),
    ...summary.mcpServers.map(({ name, how, missing }) => {
      const unset = missing.length > 0 ? ` (not set: ${missing.join(', ')})` : ''
      return `mcp server ${name}: ${how}${unset}`
    }),
    `agents     ${summary.agents.join(', ') || 'none'} in ${summary.agentsDir}`,
  ]
}

function keyOf(variables: readonly string[], optional: boolean): string {
  const variable = variables.find((name) => process.env[name]?.trim())
  if (variable) return `found in ${variable}`
  return optional ? 'not needed' : `missing: set ${variables.join(' or ')}`
}

function missingVariables(server: McpServer): string[] {
  const texts =
    'url' in server
      ? [server.url, ...Object.values(server.headers ?? {})]
      : [...(server.args ?? []), ...Object.values(server.env ?? {})]
  return [...new Set(texts.flatMap((text) => missingIn(text, process.env)))]
}
