// Variables that a folder sets: some shells and tools load the .env file of whatever folder one is in. A variable whose
// value stands so in such a file is treated as a file of that folder, not as the user's own choice.

import { readFileSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { badInput } from '../core/error.ts'

type Env = Readonly<Record<string, string | undefined>>

/** A variable that says where the user's own files are; throws where only a file of a folder says so. */
export function userVariable(name: string, env: Env = process.env): string | undefined {
  const value = env[name]?.trim()
  const file = value ? setByFolder(name, value) : undefined
  if (file === undefined) return value || undefined
  throw badInput(
    `${name} comes from ${file}, and a file in a folder may not choose where your own files are; set it in the profile of your shell${name === 'SYNAPSE_DB' ? ', or write --db' : ''}.`,
  )
}

const names = ['.env', '.env.local', '.env.development', '.envrc']
const mostBytes = 1024 * 1024

/** The file, in the folder or above it, that gives the variable the value it has; undefined: none does. */
export function setByFolder(variable: string, value: string, cwd: string = process.cwd()): string | undefined {
  for (let folder = resolve(cwd); ;) {
    const found = names.map((name) => join(folder, name)).find((path) => sets(path, variable, value))
    if (found !== undefined) return found
    const above = dirname(folder)
    if (above === folder) return undefined
    folder = above
  }
}

function sets(path: string, variable: string, value: string): boolean {
  try {
    const about = statSync(path)
    if (!about.isFile() || about.size > mostBytes) return false
    return readFileSync(path, 'utf8')
      .split(/\r?\n/)
      .some((line) => {
        const [, name, text = ''] = /^\s*(?:export\s+)?(\w+)\s*=\s*(.*?)\s*$/.exec(line) ?? []
        return name === variable && unquoted(text) === value.trim()
      })
  } catch {
    return false
  }
}

/** The value as a shell or dotenv reads it, without a comment after it. */
function unquoted(text: string): string {
  const [, quoted] = /^(?:"([^"]*)"|'([^']*)'|`([^`]*)`)/.exec(text)?.filter((one) => one !== undefined) ?? []
  return (quoted ?? text.replace(/\s+#.*$/, '')).trim()
}
