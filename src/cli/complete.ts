// Completion for the command line: commands and their arguments, options, models, conversations, agents, prompts,
// formats. The scripts of all shells use it, so that they offer the same.

import { existsSync } from 'node:fs'
import type { Prompt } from '../agents/fill-prompt.ts'
import type { Config } from '../config/load.ts'
import { commands } from './main.ts'
import { askFlags } from './session-flags.ts'

/** The last word is the one being typed. Undefined: the shell offers files. */
export async function candidates(words: readonly string[]): Promise<string[]> {
  const word = words.at(-1) ?? ''
  const before = words.at(-2) ?? ''
  const [first = ''] = words
  const command = words.length > 1 && Object.hasOwn(commands, first) ? first : ''
  const suggestions = (await ofOption(before, command, word)) ?? (await ofCommand(word, words, command))
  // Shells expand what they are given, and names of files and conversations are untrusted.
  return [...new Set(suggestions)].filter(
    (candidate) => candidate.startsWith(word) && /^[\w.,:@=+/-]+$/.test(candidate),
  )
}

/** Undefined if the previous word takes none. */
async function ofOption(before: string, command: string, word: string): Promise<string[] | undefined> {
  switch (before) {
    case '-m':
    case '--model':
    case '--for':
    case '--favourite':
    case '--unfavourite':
      return modelNames(word)
    case '--to': {
      const { agentIds } = await import('../sessions/agents.ts')
      return command === 'carry' ? [...agentIds] : [...(await formats()), ...agentIds, ...(await modelNames(word))]
    }
    case '--tool':
    case '-T':
      return command === 'sessions' ? [...(await import('../sessions/agents.ts')).agentIds] : builtInNames
    case '-o':
    case '--option':
      if (command !== '' && command !== 'chat') return []
      return (await import('./run-options.ts')).optionNames().map((name) => `${name}=`)
    case '--policy':
      return [...(await import('../settings/policy.ts')).presetNames]
    case '--protocol':
      return [...(await import('../wires/list.ts')).wireIds]
    case '--agent':
      return agentNames()
    case '-p':
    case '--prompt':
    case '-t':
    case '--template':
      return command === '' ? promptNames() : undefined
    case '-c':
    case '--continue':
    case '--conversation':
      return conversationIds()
    case '--format':
      return [...(await import('./export-lines.ts')).exportFormats]
    case '--from':
      return ['archive', ...(await formats())]
    case '--remove':
      return command === 'auth' ? providerIds() : undefined
    default:
      return takesFile.has(before) ? [] : undefined
  }
}

const takesFile = new Set(['-f', '--fragment', '-a', '--attach', '--db', '--config', '--folder', '--cwd', '--project'])
const builtInNames = ['read_file', 'list_files', 'search_files', 'fetch_url', 'run_command']

/** The second words of commands. */
export const subCommands: Record<string, readonly string[]> = {
  agent: ['list', 'check', 'run'],
  config: ['check'],
  keys: ['create', 'list', 'revoke'],
  providers: ['configure', 'remove'],
  completion: ['bash', 'zsh', 'fish'],
}

async function ofCommand(word: string, words: readonly string[], command: string): Promise<string[]> {
  if (word.startsWith('-')) return command === '' ? questionFlags() : flagsOf(command)
  if (command === '' && words.some(isPromptFlag)) return promptVariables(words)
  if (words.length === 1) return Object.keys(commands)
  if (words.length === 2 && subCommands[command]) return [...subCommands[command]]
  switch (command) {
    case 'log':
    case 'inspect':
    case 'export':
    case 'delete':
      return conversationIds()
    case 'agent':
      return ['check', 'run'].includes(words[1] ?? '') ? agentNames() : []
    case 'auth':
    case 'models':
    case 'probe':
      return providerIds()
    case 'providers':
      return ['configure', 'remove'].includes(words[1] ?? '') ? providerIds() : []
    default:
      return []
  }
}

function questionFlags(): string[] {
  const flags = Object.entries(askFlags).flatMap(([long, option]) => [
    `--${long}`,
    ...('short' in option ? [`-${option.short}`] : []),
  ])
  return [...flags, '--help', '-h', '--version', '-V']
}

/** As named in its help. */
async function flagsOf(name: string): Promise<string[]> {
  const { usage = '' } = (await commands[name]?.load()) ?? {}
  const flags = [...usage.matchAll(/(?<![\w-])--?[a-z][a-z-]*/gi)].map(([flag]) => flag)
  return [...flags, ...(name === 'chat' ? questionFlags() : []), '--help']
}

/** Names without a provider only once something is typed: all of them would be each model twice. */
async function modelNames(word: string): Promise<string[]> {
  const [{ listModels }, { providerRows }, { catalogue }] = await Promise.all([
    import('../providers/find-model.ts'),
    import('./project-config.ts'),
    import('../providers/catalogue.ts'),
  ])
  const config = await trustedConfig()
  const listed = listModels(await providerRows(config, {}), catalogue).map(
    ({ provider, model }) => `${provider}/${model}`,
  )
  const bare = word === '' || word.includes('/') ? [] : listed.map((name) => name.slice(name.indexOf('/') + 1))
  return [...Object.keys(config?.aliases ?? {}), ...listed, ...bare]
}

async function providerIds(): Promise<string[]> {
  const { providerRows } = await import('./project-config.ts')
  return (await providerRows(await trustedConfig(), {})).map(({ id }) => id)
}

async function conversationIds(): Promise<string[]> {
  const [{ everyConversation, withLocalStore, storeAddress }, { isPostgres }] = await Promise.all([
    import('./local-store.ts'),
    import('../store/open.ts'),
  ])
  const place = storeAddress({})
  // Completion does not create a store.
  if (!isPostgres(place) && !existsSync(place)) return []
  return withLocalStore({}, async (local) => {
    const ids: string[] = []
    for await (const { id } of everyConversation(local)) if (ids.push(id) === mostIds) break
    return ids
  })
}

/** The most recent ones are enough. */
const mostIds = 100

async function agentNames(): Promise<string[]> {
  const [{ agentFiles, agentName }, { builtInConfig }] = await Promise.all([
    import('../agents/find.ts'),
    import('../config/load.ts'),
  ])
  return agentFiles(((await trustedConfig()) ?? builtInConfig()).agentsDir).map(agentName)
}

async function promptNames(): Promise<string[]> {
  return (await prompts()).map(({ name }) => name)
}

function isPromptFlag(word: string): boolean {
  return ['-p', '--prompt', '-t', '--template'].includes(word)
}

/** `name=` of each variable that has no value yet. Bash gives `name=value` as three words. */
async function promptVariables(words: readonly string[]): Promise<string[]> {
  const named = words[words.findIndex(isPromptFlag) + 1]
  const { variables = [] } = (await prompts()).find(({ name }) => name === named) ?? {}
  const typed = words.slice(0, -1).map((word, i) => (words[i + 1] === '=' ? `${word}=` : word))
  return variables.flatMap(({ name }) => (typed.some((word) => word.startsWith(`${name}=`)) ? [] : [`${name}=`]))
}

async function prompts(): Promise<Prompt[]> {
  const [{ listPrompts }, { builtInConfig }, { isTrustedPrompt }] = await Promise.all([
    import('../agents/prompts.ts'),
    import('../config/load.ts'),
    import('./trusted.ts'),
  ])
  const config = (await trustedConfig()) ?? builtInConfig()
  return listPrompts({ config, isTrusted: (file) => isTrustedPrompt(file, config) })
}

async function formats(): Promise<string[]> {
  return [...(await import('../transcripts/index.ts')).formatIds]
}

async function trustedConfig(): Promise<Config | undefined> {
  return (await import('./trusted.ts')).configIfTrusted()
}
