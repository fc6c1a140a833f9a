// `synapse agent`: agents from YAML files, listed, checked and run.

import { dirname } from 'node:path'
import { agentFiles, agentName, findAgentFile, folderOfAgent, isAgentPath } from '../../agents/find.ts'
import { type AgentFile, readAgent } from '../../agents/read.ts'
import { builtInConfig, type Config, loadConfig, shownPath } from '../../config/load.ts'
import { asFailure, badInput } from '../../core/error.ts'
import { type Command, exitCode, parse } from '../command.ts'
import { storeOptions } from '../local-store.ts'
import { print, printError, printJson } from '../print.ts'
import { configOptions, providerRows } from '../project-config.ts'
import { neutral } from '../terminal.ts'

export const agent: Command = {
  usage: `synapse agent list [--json]
synapse agent check [NAME|FILE ...] [--load]
synapse agent run NAME|FILE [options] "…"

Agents are YAML files in the "agents" folder next to synapse.yaml (or in its agentsDir): model, system prompt, tools and
budget. "check" reports every problem with file, line, column and key and exits with 2; it only reads files, and with
--load it also loads the tools' modules. "run" asks an agent; piped input becomes part of the question. "synapse chat
--agent NAME" chats with it. Tool calls that need approval are prompted for; when not interactive they are denied, and
with --json they wait.

  -m, --model MODEL            use another model than the agent's own
  -c, --continue               continue the last conversation with this agent; if there is none, the last one of all
      --conversation ID        continue this conversation, with any agent
  -y, --yes                    approve every tool call
      --offline                use the built-in emulator
      --json                   print every event as a line of JSON
      --config FILE            use this synapse.yaml
      --no-config              ignore every synapse.yaml
      --db FILE                database file or postgres:// URL`,

  async run(argv) {
    const { values, positionals } = parse(argv, Infinity, {
      ...configOptions,
      ...storeOptions,
      model: { type: 'string', short: 'm' },
      continue: { type: 'boolean', short: 'c' },
      conversation: { type: 'string' },
      yes: { type: 'boolean', short: 'y' },
      offline: { type: 'boolean' },
      json: { type: 'boolean' },
      load: { type: 'boolean' },
    })
    const [what, ...rest] = positionals
    if (what === 'list' || what === 'check') {
      if (what === 'list' && rest.length > 0) throw badInput(`Unexpected argument "${rest[0]}": all agents are listed.`)
      return what === 'list' ? listAgents(values) : checkAgents(rest, values)
    }
    if (what !== 'run')
      throw badInput('Name a subcommand: synapse agent list, synapse agent check or synapse agent run NAME "…".')
    const [name, ...words] = rest
    if (name === undefined) throw badInput('Name the agent: synapse agent run NAME "…".')
    const [{ answerOnce }, { questionOf }] = await Promise.all([import('../answer-once.ts'), import('../text-file.ts')])
    const question = await questionOf(words)
    if (question === '') throw badInput(`Give a task: synapse agent run ${name} "…".`)
    return answerOnce({ ...values, agent: name }, [{ type: 'text', text: question }])
  },
}

// The available agents, and whether they are valid. Listing and checking only read files; with --load the modules of an
// agent are loaded too, as for a run. MCP servers are not started.

interface Values {
  config?: string | undefined
  db?: string | undefined
  json?: boolean | undefined
  load?: boolean | undefined
  'no-config'?: boolean | undefined
}

async function listAgents(values: Values): Promise<number> {
  const config = await withStored(readHere(values), values)
  const agents = agentFiles(config.agentsDir).map((file) => ({ file, ...tryRead(file, config) }))
  if (values.json) {
    const plain = agents.map(({ file, read, problem }) => ({
      name: read?.name ?? agentName(file),
      file,
      ...(read && { model: read.settings.model, description: read.description ?? '' }),
      ...(problem !== undefined && { problem }),
    }))
    printJson(plain, 2)
    return exitCode.ok
  }
  if (agents.length === 0) printError(`No agents in ${shownPath(config.agentsDir)}.\n`)
  const width = Math.max(0, ...agents.map(({ file }) => agentName(file).length))
  for (const { file, read } of agents) {
    const name = agentName(file).padEnd(width)
    const about = read
      ? `${read.settings.model}  ${read.description ?? ''}`
      : `is not valid: synapse agent check ${name.trim()}`
    print(`${neutral(`${name}  ${about}`.trimEnd())}\n`)
  }
  return exitCode.ok
}

async function checkAgents(names: readonly string[], values: Values): Promise<number> {
  const folderConfig = readHere(values)
  const files =
    names.length > 0
      ? names.map((name) => ({ file: findAgentFile(name, folderConfig), named: isAgentPath(name) }))
      : agentFiles(folderConfig.agentsDir).map((file) => ({ file, named: false }))
  if (files.length === 0) printError(`No agents in ${shownPath(folderConfig.agentsDir)}.\n`)
  let wrong = 0
  for (const { file, named } of files) {
    try {
      const config = await withStored(
        values.config === undefined ? readHere(values, dirname(file)) : folderConfig,
        values,
      )
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
    import('../../agents/load.ts'),
    import('../trusted.ts'),
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

function tryRead(file: string, config: Config): { read?: AgentFile; problem?: string } {
  try {
    return { read: readAgent(file, config) }
  } catch (error) {
    return { problem: asFailure(error).message }
  }
}
