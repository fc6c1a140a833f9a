// The agents of a folder, and one of them by its name or its file.

import { existsSync, readdirSync, statSync } from 'node:fs'
import { basename, dirname, extname, join, resolve } from 'node:path'
import { type Config, shownPath } from '../config/load.ts'
import { badInput } from '../core/error.ts'

/** Files of agents: `*.yaml` in the folder itself, or an `agent.yaml` in a subfolder. */
export function agentFiles(folder: string): string[] {
  if (!existsSync(folder) || !statSync(folder).isDirectory()) return []
  return readdirSync(folder, { withFileTypes: true })
    .flatMap((entry) => {
      const path = join(folder, entry.name)
      if (entry.isFile()) return isAgent(entry.name) ? [path] : []
      const inner = ['agent.yaml', 'agent.yml'].map((name) => join(path, name)).find((file) => existsSync(file))
      return inner === undefined ? [] : [inner]
    })
    .toSorted()
}

/** By its file name without the extension, or its folder; or a path, if it looks like one. */
export function findAgentFile(name: string, config: Config, cwd: string = process.cwd()): string {
  if (isAgentPath(name)) {
    const path = resolve(cwd, name)
    if (existsSync(path)) return path
    throw badInput(`There is no file ${name}.`)
  }
  const files = agentFiles(config.agentsDir)
  const match = files.find((file) => agentName(file) === name)
  if (match) return match
  const names = files.map(agentName)
  const folder = shownPath(config.agentsDir)
  const available =
    names.length > 0 ? `those in ${folder} are ${names.join(', ')}` : `put one into ${folder}/${name}.yaml`
  throw badInput(`There is no agent "${name}"; ${available}.`)
}

export function isAgentPath(name: string): boolean {
  return /[/\\]|\.ya?ml$/.test(name)
}

/** The folder that an agent in a folder `agents` belongs to. */
export function folderOfAgent(file: string): string {
  return dirname(agentsFolder(file))
}

/** The folder with this agent and others. */
export function agentsFolder(file: string): string {
  const folder = dirname(file)
  return /^agent\.ya?ml$/.test(basename(file)) ? dirname(folder) : folder
}

export function agentName(file: string): string {
  const bare = basename(file, extname(file))
  return bare === 'agent' ? basename(dirname(file)) : bare
}

function isAgent(name: string): boolean {
  return /\.ya?ml$/.test(name) && !/^synapse\.ya?ml$/.test(name)
}
