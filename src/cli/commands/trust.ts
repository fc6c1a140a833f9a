// `synapse trust`: which folders may provide a synapse.yaml, agents, tools, prompts and MCP servers.

import { existsSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { agentFiles } from '../../agents/find.ts'
import { configFiles, serverFiles } from '../../agents/involved-files.ts'
import { projectPrompts } from '../../agents/prompts.ts'
import { configEffects, joinEffects } from '../../config/effects.ts'
import { findConfigFile } from '../../config/find-file.ts'
import { setByFolder } from '../../config/folder-variables.ts'
import { builtInConfig, type Config, loadConfig } from '../../config/load.ts'
import { changesSinceTrust, removeTrust, trustedFolders, trustFiles } from '../../config/trust.ts'
import { asFailure, badInput } from '../../core/error.ts'
import type { ProviderRow } from '../../providers/provider.ts'
import { type Command, exitCode, parse } from '../command.ts'
import { providerRows } from '../project-config.ts'
import { storeOptions } from '../local-store.ts'
import { print, printError, printJson } from '../print.ts'
import { neutral } from '../terminal.ts'
import {
  askForTrust,
  type TrustRequest,
  agentTrustRequest,
  promptTrustRequest,
  isInteractive,
  printNotice,
  trustLines,
  unconfirmedVariables,
  variableFor,
} from '../trusted.ts'

export const trust: Command = {
  usage: `synapse trust [DIR] [--allow VARIABLE]... [--yes] [--db FILE]
synapse trust --list [--json]
synapse trust --remove [DIR]

A synapse.yaml, agent, tools module, prompt or MCP server in a folder, or above it, has no effect until that folder is
trusted. This command shows what its files would do (hosts, variables, programs, modules) and trusts their current
content; when a file changes later, you are asked again and shown the change. On a terminal it asks for confirmation;
otherwise running the command is the confirmation.

  --allow VARIABLE   let the folder read this variable, which is not named after the provider or server that reads it
  -y, --yes          skip the confirmation
      --list         list trusted folders and whether their files have changed
      --remove       stop trusting the folder`,

  async run(argv) {
    const { values, positionals } = parse(argv, 1, {
      ...storeOptions,
      allow: { type: 'string', multiple: true },
      yes: { type: 'boolean', short: 'y' },
      list: { type: 'boolean' },
      remove: { type: 'boolean' },
      json: { type: 'boolean' },
    })
    const folder = resolve(positionals[0] ?? '.')
    if (values.list) return list(values.json === true)
    if (values.remove) return remove(folder)
    const request = await folderTrustRequest(folder, values)
    const changes = changesSinceTrust(request.folder, request.files)
    const allowed = new Set(values.allow)
    const open = unconfirmedVariables(request.folder, request.effects).filter(({ name }) => !allowed.has(name))
    if (changes?.length === 0 && open.length === 0) {
      print(`${neutral(request.folder)} is already trusted.\n`)
      return exitCode.ok
    }
    if (isInteractive() && !values.yes) {
      await askForTrust(request, changes)
    } else {
      printNotice(trustLines(request, changes))
      const [first] = open
      if (first) throw badInput(notAllowed([...new Set(open.map(({ name }) => name))]))
      trustFiles(request.folder, request.files, request.effects.variables.filter(({ own }) => !own).map(variableFor))
    }
    print(`${neutral(request.folder)} is trusted.\n`)
    return exitCode.ok
  },
}

/** Everything that a folder brings: its configuration, every agent in its agents folder, and every prompt. */
async function folderTrustRequest(path: string, values: { db?: string | undefined }): Promise<TrustRequest> {
  if (!existsSync(path)) throw badInput(`Folder ${path} does not exist.`)
  const cwd = statSync(path).isDirectory() ? path : dirname(path)
  const configFile = findConfigFile({ cwd, env: { ...process.env, SYNAPSE_CONFIG: undefined } })
  const isOfFolder = configFile?.origin === 'folder'
  const read = isOfFolder ? loadConfig({ cwd, env: { ...process.env, SYNAPSE_CONFIG: undefined } }) : builtInConfig(cwd)
  const config: Config = { ...read, rows: await providerRows(read, values) }
  const folder = read.file === undefined ? cwd : dirname(read.file)
  const agents = agentFiles(config.agentsDir).flatMap((file): TrustRequest[] => {
    try {
      return [agentTrustRequest({ file, config, folder, named: false })]
    } catch (error) {
      printNotice([`Left out, because it is not valid: ${asFailure(error).message}`])
      return []
    }
  })
  const prompts = projectPrompts(config).map((file) => promptTrustRequest(file, config))
  const others = [...agents, ...prompts, ...variableFiles(folder, cwd, config.rows)]
  const files = [...configFiles(read), ...serverFiles(read), ...others.flatMap((request) => request.files)]
  if (files.length === 0)
    throw badInput(
      `There is no synapse.yaml in or above ${cwd}, and no agent, prompt or key in this folder, so there is nothing to trust.`,
    )
  return {
    folder,
    files: [...new Set(files)],
    effects: joinEffects([configEffects(read), ...others.map((request) => request.effects)]),
  }
}

/** Files such as .env that set keys of the environment. */
function variableFiles(folder: string, cwd: string, rows: readonly ProviderRow[]): TrustRequest[] {
  return [...new Set(rows.flatMap(({ keyVariables }) => keyVariables))].flatMap((name) => {
    const value = process.env[name]?.trim()
    const file = value ? setByFolder(name, value, cwd) : undefined
    if (file === undefined) return []
    return [{ folder, files: [file], effects: { lines: [`takes ${name} from ${file}`], variables: [] } }]
  })
}

function notAllowed(names: readonly string[]): string {
  const flags = names.map((name) => `--allow ${name}`).join(' ')
  return `Nothing is trusted yet: ${names.join(', ')} must be allowed by name, with ${flags}.`
}

function list(json: boolean): number {
  const folders = Object.entries(trustedFolders()).map(([folder, { trustedAt, files, variables }]) => ({
    folder,
    trustedAt,
    files: Object.keys(files),
    variables,
    changed: changedFiles(folder, Object.keys(files)),
  }))
  if (json) printJson(folders, 2)
  else if (folders.length === 0) printError('No folder is trusted.\n')
  for (const { folder, trustedAt, files, variables, changed } of json ? [] : folders) {
    const about = [
      `trusted ${trustedAt.slice(0, 10)}`,
      `${files.length} files${changed.length > 0 ? `, ${changed.length} of them changed since` : ''}`,
      ...(variables.length > 0 ? [`may read ${variables.join(', ')}`] : []),
    ]
    print(neutral(`${folder}  ${about.join('; ')}\n`))
  }
  return exitCode.ok
}

/** A deleted file counts as changed. */
function changedFiles(folder: string, files: readonly string[]): string[] {
  return files.filter((path) => {
    try {
      return changesSinceTrust(folder, [path])?.length !== 0
    } catch {
      return true
    }
  })
}

function remove(folder: string): number {
  if (!removeTrust(folder)) throw badInput(`${folder} is not trusted; "synapse trust --list" lists trusted folders.`)
  print(`${neutral(folder)} is no longer trusted.\n`)
  return exitCode.ok
}
