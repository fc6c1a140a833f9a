// The configuration and the agents of a folder at the terminal: nothing of them is used before the user has trusted the
// folder with their content. Files that the user names are used, and what they do is shown the first time.

import { readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Prompt } from '../agents/fill-prompt.ts'
import { agentEffects, configFiles, involvedFiles, serverFiles } from '../agents/involved-files.ts'
import { findPrompt, listPrompts, projectPrompts, promptName } from '../agents/prompts.ts'
import { agentsWith, readAgent } from '../agents/read.ts'
import { configEffects, type Effects, joinEffects } from '../config/effects.ts'
import { findConfigFile } from '../config/find-file.ts'
import { builtInConfig, type Config, loadConfig, shownPath } from '../config/load.ts'
import {
  changesSinceTrust,
  confirmedVariables,
  type FileChange,
  hashOfFiles,
  isFirstUse,
  trustFiles,
} from '../config/trust.ts'
import type { VariableUse } from '../config/variables.ts'
import { badInput } from '../core/error.ts'
import { lineDiff } from '../core/line-diff.ts'
import { printError } from './print.ts'
import { neutral, styleFor } from './terminal.ts'

export interface ConfigValues {
  config?: string | undefined
  'no-config'?: boolean | undefined
}

/** What the user is asked to trust: the files of a folder, and what they would do. */
export interface TrustRequest {
  folder: string
  files: readonly string[]
  effects: Effects
}

/** The effective configuration, once it is trusted; `folder`: where it is searched, unless it is named. */
export async function trustedConfig(values: ConfigValues, folder: string = process.cwd()): Promise<Config> {
  if (values['no-config']) return builtInConfig(folder)
  const isNamed = values.config !== undefined || process.env['SYNAPSE_CONFIG']?.trim()
  const config = loadConfig(isNamed ? { file: values.config } : { cwd: folder })
  if (config.file === undefined || config.origin === 'user') return config
  const effects = configEffects(config)
  if (config.origin === 'named') showFirstUse(config.file, effects)
  else await requireTrust({ folder: dirname(config.file), files: configFiles(config), effects })
  return config
}

/** The configuration for completion, which cannot ask: a folder's configuration is used only if it is already trusted. */
export function configIfTrusted(): Config | undefined {
  const file = findConfigFile()
  if (!file) return undefined
  if (file.origin !== 'folder') return loadConfig()
  if (changesSinceTrust(dirname(file.path), [file.path])?.length !== 0) return undefined
  const config = loadConfig()
  return changesSinceTrust(dirname(file.path), configFiles(config))?.length === 0 ? config : undefined
}

/** An agent, before any of its code is loaded. */
export interface AgentPlace {
  file: string
  config: Config
  /** The folder in question, for an agent that was found by its name. */
  folder: string
  /** Its file was named by the user. */
  named: boolean
}

/** Throws unless this agent's code may be loaded. Returns a hash of all its files. */
export async function requireAgentTrust(place: AgentPlace): Promise<string> {
  const { files, effects } = agentTrustRequest(place)
  const sha256 = hashOfFiles(files)
  if (place.named || place.config.origin === 'named') showFirstUse(place.file, effects)
  else if (place.config.origin !== 'user') await requireTrust({ folder: place.folder, files, effects })
  return sha256
}

/** Why the code of an agent that was found by its name may not be loaded now; undefined: it may. Never asks. */
export function agentTrustProblem(place: AgentPlace): string | undefined {
  if (place.config.origin === 'named' || place.config.origin === 'user') return undefined
  const request = agentTrustRequest(place)
  const changes = changesSinceTrust(request.folder, request.files)
  const isTrusted = changes?.length === 0 && unconfirmedVariables(request.folder, request.effects).length === 0
  return isTrusted ? undefined : notTrusted(request, changes)
}

/**
 * The prompt of this name: from the folder if it is trusted, otherwise the user's own. Asks if only the folder has it.
 */
export async function trustedPrompt(name: string, config: Config | undefined): Promise<Prompt> {
  const places = { config, isTrusted: (file: string) => config !== undefined && isTrustedPrompt(file, config) }
  const isKnown = listPrompts(places).some((prompt) => prompt.name === name)
  const file = config && projectPrompts(config).find((path) => promptName(path) === name)
  if (config && file !== undefined && !isKnown) await requireTrust(promptTrustRequest(file, config))
  return findPrompt(name, places)
}

export function isTrustedPrompt(file: string, config: Config): boolean {
  if (config.origin === 'named' || config.origin === 'user') return true
  return changesSinceTrust(folderOf(config), [file])?.length === 0
}

export function promptTrustRequest(file: string, config: Config): TrustRequest {
  const effects = { lines: [`offers ${shownPath(file)} as the prompt ${promptName(file)}`], variables: [] }
  return { folder: folderOf(config), files: [file], effects }
}

function folderOf({ file, agentsDir }: Config): string {
  return dirname(file ?? agentsDir)
}

/** Throws unless the programs of the configured MCP servers may be started. */
export async function requireServerTrust(config: Config): Promise<void> {
  if (config.file === undefined || config.origin !== 'folder') return
  const programs = serverFiles(config)
  const files = [...configFiles(config), ...programs]
  if (programs.length > 0) await requireTrust({ folder: dirname(config.file), files, effects: configEffects(config) })
}

/** The files of an agent and what they would do. */
export function agentTrustRequest({ file, config, folder }: AgentPlace): TrustRequest {
  const agent = readAgent(file, config)
  const agents = agentsWith(agent, config)
  const servers = agents.flatMap(({ tools }) => tools.flatMap((source) => ('mcp' in source ? [source.mcp] : [])))
  return {
    folder,
    files: involvedFiles(agent, config),
    effects: joinEffects([...agents.map(agentEffects), serverEffects([...new Set(servers)], config)]),
  }
}

/** Throws one sentence if it is not trusted and the terminal is not interactive, or the answer was no. */
async function requireTrust(request: TrustRequest): Promise<void> {
  const { folder, files, effects } = request
  const changes = changesSinceTrust(folder, files)
  const open = unconfirmedVariables(folder, effects)
  if (changes?.length === 0 && open.length === 0) return
  if (!isInteractive()) throw badInput(notTrusted(request, changes))
  await askForTrust(request, changes)
}

/** Shows what would happen and asks; records the answer if it is yes, throws if it is no. */
export async function askForTrust(request: TrustRequest, changes: FileChange[] | undefined): Promise<void> {
  const { folder, files, effects } = request
  const { yesOrNo } = await import('./yes-or-no.ts')
  printNotice(trustLines(request, changes))
  const open = unconfirmedVariables(folder, effects)
  if (!(await yesOrNo(`Trust ${neutral(folder)}? [y/N] `))) throw declinedError(folder)
  for (const { name, reader, goesTo } of open) {
    const question = `${name} is not named after ${reader}. Let ${goesTo} read it? [y/N] `
    if (!(await yesOrNo(neutral(question)))) throw declinedError(folder)
  }
  trustFiles(folder, files, open.map(variableFor))
}

/** What the files would do, and what has changed since they were trusted. */
export function trustLines({ folder, files, effects }: TrustRequest, changes: FileChange[] | undefined): string[] {
  const { lines } = effects
  const changed = changes?.filter(({ kind }) => kind === 'changed') ?? []
  return [
    changes === undefined
      ? `${folder} is not trusted yet. Its files:`
      : `${folder} has changed since it was trusted. New or changed files:`,
    ...(changes === undefined ? files : changes.map(({ path }) => path)).map((path) => `  ${shownPath(path)}`),
    ...changed.flatMap(({ path, before }) => changedLines(path, before)),
    lines.length > 0 ? 'With it, Synapse' : 'Trusting it changes nothing that Synapse does.',
    ...lines.map((line) => `  ${line}`),
  ]
}

/** Variables named after another service that were not confirmed for this folder. */
export function unconfirmedVariables(folder: string, { variables }: Effects): Effects['variables'] {
  const confirmed = new Set(confirmedVariables(folder))
  const open = variables.filter((use) => !use.own && !confirmed.has(variableFor(use)))
  return [...new Map(open.map((use) => [variableFor(use), use])).values()]
}

/** A variable is confirmed for one destination: with another one it is asked about again. */
export function variableFor({ name, goesTo }: VariableUse): string {
  return `${name} for ${goesTo}`
}

export function isInteractive(): boolean {
  return process.stdin.isTTY && process.stderr.isTTY
}

export function printNotice(lines: readonly string[]): void {
  const { dim } = styleFor(process.stderr, process.env)
  for (const line of lines) printError(`${dim(neutral(line))}\n`)
}

function notTrusted({ folder, files }: TrustRequest, changes: FileChange[] | undefined): string {
  const [first = folder] = changes && changes.length > 0 ? changes.map(({ path }) => path) : files
  const what = changes === undefined ? 'is not trusted yet' : 'has changed since it was trusted'
  return `${shownPath(first)} ${what}; review and trust it with "synapse trust ${shownPath(folder)}", or ignore it with --no-config.`
}

function declinedError(folder: string): Error {
  return badInput(
    `${shownPath(folder)} is not trusted, so none of its files are used; --no-config ignores them without asking.`,
  )
}

function showFirstUse(path: string, effects: Effects): void {
  const { lines } = effects
  if (lines.length === 0 || !isFirstUse(path, lines)) return
  printNotice([`First use of ${shownPath(path)}. Synapse`, ...lines.map((line) => `  ${line}`)])
}

function serverEffects(names: readonly string[], config: Config): Effects {
  const servers = Object.entries(config.mcpServers).filter(([name]) => names.includes(name))
  const { model: _, policy: __, ...rest } = config
  return configEffects({ ...rest, ownIds: [], mcpServers: Object.fromEntries(servers) })
}

// A text diff, for a person who has to decide about the change.

/** The lines of a file that were added and removed; a sentence if its old text was not stored. */
function changedLines(path: string, before: string | undefined): string[] {
  if (before === undefined) return [`${shownPath(path)} has changed; its previous text was not saved.`]
  const now = readFileSync(path, 'utf8')
  return [`${shownPath(path)}:`, ...textDiff(before, now)]
}

export function textDiff(before: string, now: string): string[] {
  return lineDiff(before.split('\n'), now.split('\n')).map(({ sign, text }) => `  ${sign} ${text}`)
}
