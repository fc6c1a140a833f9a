// The files that an agent is made of: its YAML file, the modules of its tools with what they import by a relative path,
// the same of the agents that it can hand over to, and files of the folder that its MCP servers are started from.
// Nothing is run. Imports from packages, or by a computed path, are not included.

import { readFileSync, statSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import type { Config, McpServer } from '../config/load.ts'
import { wireModules, type Effects } from '../config/effects.ts'
import { agentsWith, type AgentFile, type ToolSource } from './read.ts'

const mostFiles = 1000
const mostBytes = 4 * 1024 * 1024

/** All of them, the agent's own file first, with those of the agents that it can hand over to. */
export function involvedFiles(agent: AgentFile, config: Config): string[] {
  const files = new Set([agent.path])
  for (const { path, tools } of agentsWith(agent, config)) {
    files.add(path)
    for (const source of tools) addSource(source, config, files)
  }
  return [...files]
}

function addSource(source: ToolSource, { mcpServers }: Config, files: Set<string>): void {
  if ('module' in source) return addModule(source.module, files)
  const server = Object.hasOwn(mcpServers, source.mcp) ? mcpServers[source.mcp] : undefined
  for (const file of server ? programFiles(server) : []) addModule(file, files)
}

/** The files of a configuration: its own, and the modules of its wires with their imports. */
export function configFiles(config: Config): string[] {
  const files = new Set(config.file === undefined ? [] : [config.file])
  for (const module of wireModules(config)) addModule(module, files)
  return [...files]
}

/** Files of the folder from which the MCP servers of a configuration are started, with their imports. */
export function serverFiles(config: Config): string[] {
  const files = new Set<string>()
  for (const server of Object.values(config.mcpServers)) {
    for (const file of programFiles(server)) addModule(file, files)
  }
  return [...files]
}

/** What an agent adds to its configuration. */
export function agentEffects({ name, settings, tools }: AgentFile): Effects {
  const modules = tools.flatMap((source) => ('module' in source ? [source.module] : []))
  return {
    lines: [
      `asks ${settings.model} as the agent ${name}`,
      ...modules.map((module) => `imports ${module} into this process (agent ${name})`),
      ...tools.flatMap((source) => ('mcp' in source ? [`uses the MCP server ${source.mcp} (agent ${name})`] : [])),
    ],
    variables: [],
  }
}

/** Files used as a program or its arguments, such as `node ./server.js`. */
function programFiles(server: McpServer): string[] {
  if ('url' in server) return []
  const folder = resolve(server.home, server.cwd ?? '.')
  const inPlace = /[/\\]/.test(server.command) ? [server.command] : []
  const files = [...inPlace, ...(server.args ?? [])].map((word) => resolve(folder, word)).filter(isFile)
  // A system program is not a file of the folder.
  return files.filter((file) => !relative(server.home, file).startsWith('..'))
}

const relativeImport = /(?:\bfrom|\bimport|\brequire)\s*\(?\s*['"`](\.{1,2}\/[^'"`\n]+)['"`]/g

function addModule(path: string, files: Set<string>): void {
  if (files.has(path) || files.size >= mostFiles) return
  files.add(path)
  if (!/\.[cm]?[jt]s$/.test(path) || !isFile(path) || statSync(path).size > mostBytes) return
  for (const [, name = ''] of readFileSync(path, 'utf8').matchAll(relativeImport)) {
    const target = fileOf(join(dirname(path), name))
    if (target !== undefined) addModule(target, files)
  }
}

/** As Node resolves it, for both kinds of modules. */
function fileOf(path: string): string | undefined {
  const endings = ['', '.js', '.cjs', '.mjs', '.ts', '.json', '.node', '/index.js', '/index.cjs']
  return endings.map((ending) => `${path}${ending}`).find(isFile)
}

function isFile(path: string): boolean {
  try {
    return statSync(path).isFile()
  } catch {
    return false
  }
}
