// Variables that a folder sets: some shells and tools load the .env file of whatever folder one is in. A variable whose
// value is in such a file is treated like a file of that folder, not as the user's own choice.

import { readFileSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { badInput } from '../core/error.ts'

type Env = Readonly<Record<string, string | undefined>>

/** A variable that only the user may set; throws if only a file of a folder does. `chooses`: what it would choose. */
export function userVariable(
  name: string,
  env: Env = process.env,
  chooses: string = 'where your own files are',
): string | undefined {
  const value = env[name]?.trim()
  const file = value ? setByFolder(name, value) : undefined
  if (file === undefined) return value || undefined
  const flag = flags[name] === undefined ? '' : `, or use ${flags[name]}`
  throw badInput(
    `${name} comes from ${file}, and a file in a folder may not choose ${chooses}; set it in your shell profile${flag}.`,
  )
}

/** The flag to use instead. */
const flags: Readonly<Record<string, string>> = { SYNAPSE_DB: '--db', SYNAPSE_MODEL: '-m' }

const names = ['.env', '.env.local', '.env.development', '.envrc']
const mostBytes = 1024 * 1024

/** The file, in the folder or above it, that sets the variable to its value; undefined: none does. */
export function setByFolder(variable: string, value: string, cwd: string = process.cwd()): string | undefined {
  for (let folder = resolve(cwd); ;) {
    const file = names.map((name) => join(folder, name)).find((path) => setsVariable(path, variable, value))
    if (file !== undefined) return file
    const above = dirname(folder)
    if (above === folder) return undefined
    folder = above
  }
}

function setsVariable(path: string, variable: string, value: string): boolean {
  try {
    const about = statSync(path)
    if (!about.isFile() || about.size > mostBytes) return false
    return readFileSync(path, 'utf8')
      .split(/\r?\n/)
      .some((line) => {
        const [, name, text = ''] = /^\s*(?:export\s+)?(\w+)\s*=\s*(.*?)\s*$/.exec(line) ?? []
        return name === variable && unquote(text) === value.trim()
      })
  } catch {
    return false
  }
}

/** The value as a shell or dotenv parses it, without a trailing comment. */
function unquote(text: string): string {
  const [, quoted] = /^(?:"([^"]*)"|'([^']*)'|`([^`]*)`)/.exec(text)?.filter((one) => one !== undefined) ?? []
  return (quoted ?? text.replace(/\s+#.*$/, '')).trim()
}
