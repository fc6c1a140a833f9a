// Named prompts: Markdown files in a folder `prompts` next to the agents, or in the user's own configuration folder,
// with variables `{{name}}` or `{{name:-default}}`. `{{input}}` is the typed or piped text; a prompt without it gets
// that at its end. A first line `# …` describes it, and is not sent.

import { readdirSync, readFileSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { userConfigFolder } from '../config/find-file.ts'
import type { Config } from '../config/load.ts'
import { badInput } from '../core/error.ts'
import { placeholder, type Prompt } from './fill-prompt.ts'

const mostBytes = 256 * 1024

/** Where prompts are searched. `isTrusted`: whether a file of the project may be used; without a project, none is. */
export interface PromptPlaces {
  config: Pick<Config, 'agentsDir'> | undefined
  env?: Readonly<Record<string, string | undefined>>
  isTrusted?: (file: string) => boolean
}

/** Those of the project first; they hide the user's own prompts of the same name. */
export function listPrompts({ config, env = process.env, isTrusted = () => true }: PromptPlaces): Prompt[] {
  const files = [...(config ? projectPrompts(config).filter(isTrusted) : []), ...promptsIn(userPrompts(env))]
  const byName = new Map<string, Prompt>()
  for (const file of files) {
    const name = promptName(file)
    if (!byName.has(name)) byName.set(name, readPrompt(name, readFileSync(file, 'utf8')))
  }
  return [...byName.values()].toSorted((a, b) => (a.name < b.name ? -1 : 1))
}

/** The prompt files of a project. */
export function projectPrompts({ agentsDir }: Pick<Config, 'agentsDir'>): string[] {
  return promptsIn(join(dirname(agentsDir), 'prompts'))
}

export function promptName(file: string): string {
  return basename(file).slice(0, -'.md'.length)
}

export function findPrompt(name: string, places: PromptPlaces): Prompt {
  const all = listPrompts(places)
  const match = all.find((prompt) => prompt.name === name)
  if (match) return match
  const names = all.map((prompt) => prompt.name).join(', ')
  throw badInput(
    `There is no prompt "${name}"; ${names === '' ? `write one as prompts/${name}.md` : `there are ${names}`}.`,
  )
}

function userPrompts(env: Readonly<Record<string, string | undefined>>): string {
  return join(userConfigFolder(env), 'prompts')
}

/** Regular files of a reasonable size; links are excluded. */
function promptsIn(folder: string): string[] {
  const about = statSync(folder, { throwIfNoEntry: false })
  if (!about?.isDirectory()) return []
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isFile() && /^[a-z0-9][\w-]{0,63}\.md$/i.test(entry.name))
    .map((entry) => join(folder, entry.name))
    .filter((path) => statSync(path).size <= mostBytes)
}

function readPrompt(name: string, content: string): Prompt {
  const [, description, rest] = /^\uFEFF?# +(.+)\r?\n([\s\S]*)$/.exec(content) ?? []
  const text = (rest ?? content).trim()
  const variables = new Map<string, { name: string; otherwise?: string }>()
  for (const [, variable = '', otherwise] of text.matchAll(placeholder)) {
    if (variable === 'input' || variables.has(variable)) continue
    variables.set(variable, { name: variable, ...(otherwise !== undefined && { otherwise }) })
  }
  return {
    name,
    ...(description !== undefined && { description: description.trim() }),
    variables: [...variables.values()],
    text,
  }
}
