// API keys stored with `synapse auth`: one file in the user's own configuration folder, readable for that user only. A
// key in the environment takes precedence, and a stored one is sent to its provider's own host only
// (providers/stored-key.ts).

import { mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { badInput, errorMessage } from '../core/error.ts'
import { isObject } from '../core/json.ts'
import { userConfigFolder } from './find-file.ts'

type Env = Readonly<Record<string, string | undefined>>

/** By provider. */
export type StoredKeys = Readonly<Record<string, string>>

export function storedKeysFile(env: Env = process.env): string {
  return join(userConfigFolder(env), 'keys.json')
}

/** Throws if others could read or change the file: its keys may be known to them, or be theirs. */
export function readStoredKeys(env: Env = process.env): StoredKeys {
  const path = storedKeysFile(env)
  const about = statSync(path, { throwIfNoEntry: false })
  if (!about) return {}
  const user = process.getuid?.()
  if (user !== undefined && about.uid !== user) throw badInput(`${path} belongs to another user and is not read.`)
  if (user !== undefined && (about.mode & 0o077) !== 0) {
    throw badInput(`${path} can be read by others: "chmod 600 ${path}" makes it private.`)
  }
  const keys = keysIn(path)
  return Object.fromEntries(Object.entries(keys).filter((entry): entry is [string, string] => isKey(entry[1])))
}

export function storeKey(provider: string, key: string, env: Env = process.env): void {
  if (!isKey(key)) {
    throw badInput(
      'This is not an API key: a key has at least 8 characters, and no spaces or line breaks. Copy it again.',
    )
  }
  write({ ...readStoredKeys(env), [provider]: key }, env)
}

/** False: there was none. */
export function removeStoredKey(provider: string, env: Env = process.env): boolean {
  const { [provider]: gone, ...rest } = readStoredKeys(env)
  if (gone === undefined) return false
  write(rest, env)
  return true
}

function keysIn(path: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(readFileSync(path, 'utf8'))
    return isObject(value) && isObject(value['keys']) ? value['keys'] : {}
  } catch (error) {
    const why = error instanceof SyntaxError ? 'it is not JSON' : errorMessage(error)
    throw badInput(`${path} cannot be read: ${why}. Without it, "synapse auth PROVIDER" stores keys again.`)
  }
}

function write(keys: StoredKeys, env: Env): void {
  const path = storedKeysFile(env)
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
    const draft = `${path}.${process.pid}`
    writeFileSync(draft, `${JSON.stringify({ version: 1, keys }, null, 1)}\n`, { mode: 0o600, flag: 'wx' })
    renameSync(draft, path)
  } catch (error) {
    throw badInput(`The key cannot be stored in ${path}: ${errorMessage(error)}.`)
  }
}

function isKey(value: unknown): value is string {
  return typeof value === 'string' && /^[\x21-\x7e]{8,4096}$/.test(value)
}
