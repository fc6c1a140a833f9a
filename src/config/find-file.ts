// Where the configuration is: named by the caller or by SYNAPSE_CONFIG, else the nearest synapse.yaml in the working
// directory or above it, else the one in the user's own configuration folder. Cheap on purpose: every command uses it.

import { existsSync, realpathSync, statSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { badInput } from '../core/error.ts'
import { setByFolder, userVariable } from './folder-variables.ts'

type Env = Readonly<Record<string, string | undefined>>

/**
 * Who chose a file: `named` on the command line or in the environment, `user`: it is the one in the user's own
 * configuration folder, `folder`: it was found by walking up from the working directory, so it may have come with
 * someone else's project.
 */
export type ConfigOrigin = 'named' | 'user' | 'folder'

export interface FoundFile {
  path: string
  origin: ConfigOrigin
}

export interface Where {
  /** Named by the user; must exist. */
  file?: string | undefined
  cwd?: string | undefined
  env?: Env | undefined
}

const fileName = 'synapse.yaml'

/** Undefined: there is none, which is fine. A named file that does not exist is an error. */
export function findConfigFile({ file, cwd = process.cwd(), env = process.env }: Where = {}): FoundFile | undefined {
  const named = file ?? (env['SYNAPSE_CONFIG']?.trim() || undefined)
  if (named !== undefined) {
    const path = resolve(cwd, named)
    const byFolder = file === undefined && setByFolder('SYNAPSE_CONFIG', named, cwd) !== undefined
    if (existsSync(path)) return byFolder ? { path: checkOwner(path), origin: 'folder' } : { path, origin: 'named' }
    throw badInput(`There is no file ${named}${file === undefined ? ', which SYNAPSE_CONFIG names' : ''}.`)
  }
  const userFile = join(userConfigFolder(env), fileName)
  for (let folder = resolve(cwd); ;) {
    const path = join(folder, fileName)
    if (existsSync(path))
      return isSame(path, userFile) ? { path, origin: 'user' } : { path: checkOwner(path), origin: 'folder' }
    const above = dirname(folder)
    if (above === folder) break
    folder = above
  }
  return existsSync(userFile) ? { path: userFile, origin: 'user' } : undefined
}

export function userConfigFolder(env: Env): string {
  return join(userVariable('XDG_CONFIG_HOME', env) || join(env['HOME'] || homedir(), '.config'), 'synapse')
}

function isSame(path: string, own: string): boolean {
  return (
    existsSync(own) &&
    realpathSync(path) === realpathSync(own) &&
    realpathSync(dirname(path)) === realpathSync(dirname(own))
  )
}

/** In a folder that others may write to, such as /tmp, anyone can plant a file. */
function checkOwner(path: string): string {
  const { uid, mode } = statSync(path)
  const user = process.getuid?.()
  if (user !== undefined && uid !== user && uid !== 0) {
    throw badInput(`${path} belongs to another user and is not read; if you trust it, name it with --config ${path}.`)
  }
  if (user !== undefined && (mode & 0o002) !== 0) {
    throw badInput(`${path} can be changed by anyone and is not read; chmod o-w it, or name it with --config ${path}.`)
  }
  return path
}
