// The available agents, and whether they are valid. Listing and checking only read files; with --load the modules of an
// agent are loaded too, as for a run. MCP servers are not started.

import { agentFiles, agentName, findAgentFile, folderOfAgent, isAgentPath } from '../agents/find.ts'
import { readAgent, type AgentFile } from '../agents/read.ts'
import { builtInConfig, loadConfig, shownPath, type Config } from '../config/load.ts'
import { dirname } from 'node:path'
import { asFailure } from '../core/error.ts'
import { exitCode } from './command.ts'
import { providerRows } from './project-config.ts'
import { print, printError, printJson } from './print.ts'
import { neutral } from './terminal.ts'

interface Values {
  config?: string | undefined
  db?: string | undefined
  json?: boolean | undefined
  load?: boolean | undefined
  'no-config'?: boolean | undefined
}

export async function listAgents(values: Values): Promise<number> {
  const config = await withStored(readHere(values), values)
  const found = agentFiles(config.agentsDir).map((file) => ({ file, ...looked(file, config) }))
  if (values.json) {
    const plain = found.map(({ file, read, problem }) => ({
      name: read?.name ?? agentName(file),
      file,
      ...(read && { model: read.settings.model, description: read.description ?? '' }),
      ...(problem !== undefined && { problem }),
    }))
    printJson(plain, 2)
    return exitCode.ok
  }
  if (found.length === 0) printError(`No agents in ${shownPath(config.agentsDir)}.\n`)
  const width = Math.max(0, ...found.map(({ file }) => agentName(file).length))
  for (const { file, read } of found) {
    const name = agentName(file).padEnd(width)
    const about = read
      ? `${read.settings.model}  ${read.description ?? ''}`
      : `is not valid: synapse agent check ${name.trim()}`
    print(`${neutral(`${name}  ${about}`.trimEnd())}\n`)
  }
  return exitCode.ok
}

export async function checkAgents(names: readonly string[], values: Values): Promise<number> {
  const here = readHere(values)
  const files =
    names.length > 0
      ? names.map((name) => ({ file: findAgentFile(name, here), named: isAgentPath(name) }))
      : agentFiles(here.agentsDir).map((file) => ({ file, named: false }))
  if (files.length === 0) printError(`No agents in ${shownPath(here.agentsDir)}.\n`)
  let wrong = 0
  for (const { file, named } of files) {
    try {
      const config = await withStored(values.config === undefined ? readHere(values, dirname(file)) : here, values)
      const { settings, tools } = readAgent(file, config)
      if (values.load) await loadModules(file, config, named)
      const sources = tools.map((source) => ('mcp' in source ? `MCP ${source.mcp}` : shownPath(source.module)))
      const offers = sources.length > 0 ? `, tools from ${sources.join(', ')}` : ''
      print(`${neutral(`${shownPath(file)} is valid: ${settings.model}${offers}`)}\n`)
    } catch (error) {
      const failure = asFailure(error)
      if (failure.kind !== 'bad-input') throw error
      wrong++
      printError(`${neutral(failure.message)}\n`)
    }
  }
  return wrong > 0 ? exitCode.badInput : exitCode.ok
}

async function loadModules(file: string, config: Config, named: boolean): Promise<void> {
  const [{ openAgent }, { requireAgentTrust }] = await Promise.all([
    import('../agents/load.ts'),
    import('./trusted.ts'),
  ])
  const folder = config.file === undefined ? folderOfAgent(file) : dirname(config.file)
  await requireAgentTrust({ file, config, named, folder })
  const opened = await openAgent(file, { config })
  await opened.close()
}

/** Only read, not used: there is no trust question. */
function readHere(values: Values, cwd?: string): Config {
  return values['no-config'] ? builtInConfig(cwd) : loadConfig({ file: values.config, cwd })
}

/** An agent may name a provider of the store. */
async function withStored(config: Config, values: Values): Promise<Config> {
  return { ...config, rows: await providerRows(config, values) }
}

function looked(file: string, config: Config): { read?: AgentFile; problem?: string } {
  try {
    return { read: readAgent(file, config) }
  } catch (error) {
    return { problem: asFailure(error).message }
  }
}
