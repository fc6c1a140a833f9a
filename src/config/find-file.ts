// Where the configuration is: named by the caller or by SYNAPSE_CONFIG, else the nearest synapse.yaml in the working
// directory or above it, else the one in the user's own configuration folder. Cheap on purpose: every command asks.

import { existsSync, statSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { badInput } from '../core/error.ts'

type Env = Readonly<Record<string, string | undefined>>

export interface FoundFile {
  path: string
  /** Found by walking up from the working directory: it may have come with somebody else's project. */
  found: boolean
}

export interface Where {
  /** Named by the person; must be there. */
  file?: string | undefined
  cwd?: string | undefined
  env?: Env | undefined
}

const fileName = 'synapse.yaml'

/** Undefined: there is none, which is fine. A file that was named and is not there is an error. */
export function findConfigFile({ file, cwd = process.cwd(), env = process.env }: Where = {}): FoundFile | undefined {
  const named = file ?? (env['SYNAPSE_CONFIG']?.trim() || undefined)
  if (named !== undefined) {
    const path = resolve(cwd, named)
    if (existsSync(path)) return { path, found: false }
    throw badInput(`There is no file ${named}${file === undefined ? ', which SYNAPSE_CONFIG names' : ''}.`)
  }
  for (let folder = resolve(cwd); ;) {
    const path = join(folder, fileName)
    if (existsSync(path)) return { path: checked(path), found: true }
    const above = dirname(folder)
    if (above === folder) break
    folder = above
  }
  const own = join(env['XDG_CONFIG_HOME'] || join(env['HOME'] || homedir(), '.config'), 'synapse', fileName)
  return existsSync(own) ? { path: own, found: false } : undefined
}

/** In a folder that others may write to, such as /tmp, anybody can lay a file in the way of somebody's work. */
function checked(path: string): string {
  const { uid, mode } = statSync(path)
  const user = process.getuid?.()
  if (user !== undefined && uid !== user && uid !== 0) {
    throw badInput(`${path} belongs to another user and is not read; if you trust it, name it with --config ${path}.`)
  }
  if (user !== undefined && (mode & 0o002) !== 0) {
    throw badInput(`${path} can be changed by anybody and is not read; chmod o-w it, or name it with --config ${path}.`)
  }
  return path
}
