// An agent's file, read and checked against the configuration around it, without running anything: no module is loaded,
// no server is started. All problems are reported at once.

import { existsSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { checkShape } from '../config/check-shape.ts'
import { type Config, modelNameProblem, shownPath } from '../config/load.ts'
import { problemsIn, readYamlFile, type Path, type Problem, type YamlFile } from '../config/yaml-file.ts'
import type { RunSettings } from '../run/conversation.ts'
import type { Composing } from '../settings/run.ts'
import { agentFiles, agentName, agentsFolder } from './find.ts'
import { agentSchema, type AgentEntry, type ToolEntry } from './schema.ts'

export interface AgentFile {
  path: string
  name: string
  description?: string
  /** Everything except the tools, which are not loaded yet. */
  settings: Omit<RunSettings, 'tools' | 'signal' | 'handoffs'>
  tools: readonly ToolSource[]
  /** The files of the agents that it can hand the conversation to. */
  handoffs: readonly string[]
  /** An error that points to a position in the file. */
  problem(at: Path, says: string): Error
}

export type ToolSource = { at: Path; only?: readonly string[]; ask?: boolean } & ({ module: string } | { mcp: string })

export function readAgent(path: string, config: Config): AgentFile {
  const shown = shownPath(path)
  const file = readYamlFile(path, shown)
  const entry = checkShape(file, shown, agentSchema)
  const tools = (entry.tools ?? []).map((source, index) => sourceOf(source, ['tools', index], dirname(path)))
  const model = modelOf(entry, config)
  const handoffs = (entry.handoffs ?? []).map((name) => otherAgent(name, path, config))
  const problems = [
    ...(entry.name === agentName(path)
      ? []
      : [file.problem(['name'], `must be the name of the file, ${agentName(path)}, not ${entry.name}`)]),
    ...(model === undefined ? [file.problem(['model'], 'is missing, and synapse.yaml names none either')] : []),
    ...modelProblems(file, entry, model, config),
    ...toolProblems(file, tools, config),
    ...handoffs.flatMap((handoff, index) =>
      'problem' in handoff ? [file.problem(['handoffs', index], handoff.problem)] : [],
    ),
  ]
  if (model === undefined || problems.length > 0) throw problemsIn(shown, problems)
  const { name, description, provider: _, model: __, tools: ___, $schema: ____, handoffs: _____, ...rest } = entry
  return {
    path,
    name,
    ...(description !== undefined && { description }),
    settings: { ...(config.policy !== undefined && { policy: config.policy }), ...rest, model },
    tools,
    handoffs: handoffs.flatMap((handoff) => ('file' in handoff ? [handoff.file] : [])),
    problem: (at, says) => problemsIn(shown, [file.problem(at, says)]),
  }
}

/** The agent and all that it can hand over to, directly or through others, each once. */
export function agentsWith(agent: AgentFile, config: Config): AgentFile[] {
  const agents = new Map([[agent.path, agent]])
  for (const { handoffs } of agents.values()) {
    for (const path of handoffs) if (!agents.has(path)) agents.set(path, readAgent(path, config))
  }
  return [...agents.values()]
}

/** An agent by its name: next to this one, or in the folder of the configuration. */
function otherAgent(name: string, path: string, config: Config): { file: string } | { problem: string } {
  const folder = agentsFolder(path)
  const file = [...agentFiles(folder), ...agentFiles(config.agentsDir)].find(
    (candidate) => agentName(candidate) === name,
  )
  if (file === path) return { problem: 'is this agent itself' }
  return file === undefined ? { problem: `there is no agent "${name}" in ${shownPath(folder)}` } : { file }
}

function sourceOf(source: ToolEntry, at: Path, folder: string): ToolSource {
  if (typeof source === 'string') return { at, module: resolve(folder, source) }
  return 'module' in source ? { ...source, at, module: resolve(folder, source.module) } : { ...source, at }
}

/** If a provider is set, the model is that provider's own name for it, slashes included. */
function modelOf({ provider, model }: AgentEntry, config: Config): string | undefined {
  if (provider === undefined) return model?.trim() ?? config.model
  return model === undefined ? provider : `${provider}/${model}`
}

function modelProblems(file: YamlFile, entry: AgentEntry, model: string | undefined, config: Config): Problem[] {
  const named: [Path, string | undefined][] = [
    [[entry.provider === undefined ? 'model' : 'provider'], model],
    [['route', 'tools'], entry.route?.tools],
    [['route', 'answer'], modelIn(entry.route?.answer)],
    ...(entry.fallback ?? []).map((choice, index): [Path, string] =>
      typeof choice === 'string' ? [['fallback', index], choice] : [['fallback', index, 'model'], choice.model],
    ),
  ]
  return named.flatMap(([path, ref]) => {
    const provider = ref?.trim().split('/', 1)[0]
    if (provider === undefined) return []
    const row = config.rows.find(({ id }) => id === provider)
    if (!row) {
      const problem = modelNameProblem(ref ?? '', config.rows, config.aliases)
      return problem === undefined ? [] : [file.problem(path, problem)]
    }
    const hasModel = ref?.includes('/') || row.defaultModel !== undefined
    if (!hasModel) return [file.problem(path, `${provider} has no default model; write ${provider}/MODEL`)]
    const isMain = path[0] === 'model' || path[0] === 'provider'
    if (isMain && entry.protocol !== undefined && !row.wires.some(({ protocol }) => protocol === entry.protocol)) {
      const supported = row.wires.map(({ protocol }) => protocol).join(' and ')
      return [
        file.problem(
          ['protocol'],
          `${provider} does not support ${JSON.stringify(entry.protocol)}; it supports ${supported}`,
        ),
      ]
    }
    return []
  })
}

function modelIn(answer: string | Composing | undefined): string | undefined {
  return typeof answer === 'object' ? answer.model : answer
}

function toolProblems(file: YamlFile, tools: readonly ToolSource[], config: Config): Problem[] {
  return tools.flatMap((source) => {
    if ('mcp' in source) {
      if (Object.hasOwn(config.mcpServers, source.mcp)) return []
      const names = Object.keys(config.mcpServers)
      const available =
        names.length > 0 ? `synapse.yaml has ${names.join(', ')}` : 'mcpServers in synapse.yaml names none'
      return [file.problem([...source.at, 'mcp'], `there is no MCP server "${source.mcp}"; ${available}`)]
    }
    if (existsSync(source.module) && statSync(source.module).isFile()) return []
    return [file.problem(source.at, `there is no file ${shownPath(source.module)}`)]
  })
}
