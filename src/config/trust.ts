// Which folders the user has trusted, and with which content. Stored in the user's state folder, never in the trusted
// folder itself. Trust is bound to a hash of every used file: a changed file is no longer trusted, and the trusted text
// is stored so that the change can be shown.

import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, realpathSync, renameSync, statSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { badInput, errorMessage } from '../core/error.ts'
import { isObject } from '../core/json.ts'
import { userVariable } from './folder-variables.ts'

type Env = Readonly<Record<string, string | undefined>>

interface TrustedFile {
  sha256: string
  /** As it was trusted; absent for a large or binary file. */
  text?: string
}

export interface TrustedFolder {
  trustedAt: string
  files: Record<string, TrustedFile>
  /** Variables that were confirmed one by one. */
  variables: string[]
}

interface TrustState {
  folders: Record<string, TrustedFolder>
  /** Files that were named by the user: a hash of the effects that were shown. */
  shown: Record<string, string>
}

/** A file that differs from its trusted version. `before`: its text then, if it was stored. */
export interface FileChange {
  path: string
  kind: 'new' | 'changed'
  before?: string
}

const mostBytes = 256 * 1024 * 1024
const mostText = 64 * 1024

/** The files of a folder that differ from what was trusted; undefined: the folder was never trusted. */
export function changesSinceTrust(
  folder: string,
  files: readonly string[],
  env: Env = process.env,
): FileChange[] | undefined {
  const record = ownValue(readState(env).folders, keyOf(folder))
  if (!record) return undefined
  return files.flatMap((path): FileChange[] => {
    const trusted = ownValue(record.files, path)
    if (!trusted) return [{ path, kind: 'new' }]
    if (trusted.sha256 === hashOfFile(path)) return []
    return [{ path, kind: 'changed', ...(trusted.text !== undefined && { before: trusted.text }) }]
  })
}

/** Adds files to the trusted ones of a folder. */
export function trustFiles(
  folder: string,
  files: readonly string[],
  variables: readonly string[],
  env: Env = process.env,
): void {
  const state = readState(env)
  const before = ownValue(state.folders, keyOf(folder))
  const now = Object.fromEntries(files.map((path) => [path, snapshotOf(path)]))
  state.folders[keyOf(folder)] = {
    trustedAt: new Date().toISOString(),
    files: { ...before?.files, ...now },
    variables: [...new Set([...(before?.variables ?? []), ...variables])].toSorted(),
  }
  writeState(state, env)
}

/** Whether a file has its trusted content, in any folder. */
export function isTrustedFile(path: string, env: Env = process.env): boolean {
  const records = Object.values(readState(env).folders)
  const digests = records.flatMap(({ files }) => ownValue(files, path)?.sha256 ?? [])
  return digests.length > 0 && digests.includes(hashOfFile(path))
}

/** The variables that were confirmed for a folder. */
export function confirmedVariables(folder: string, env: Env = process.env): readonly string[] {
  return ownValue(readState(env).folders, keyOf(folder))?.variables ?? []
}

export function trustedFolders(env: Env = process.env): Readonly<Record<string, TrustedFolder>> {
  return readState(env).folders
}

/** False: it was not trusted. */
export function removeTrust(folder: string, env: Env = process.env): boolean {
  const state = readState(env)
  const key = [keyOf(folder), folder].find((candidate) => Object.hasOwn(state.folders, candidate))
  if (key === undefined) return false
  delete state.folders[key]
  writeState(state, env)
  return true
}

/** True the first time that these effects of a named file must be shown; from then on they count as shown. */
export function isFirstUse(path: string, effects: readonly string[], env: Env = process.env): boolean {
  const state = readState(env)
  const digest = sha256(JSON.stringify(effects))
  if (ownValue(state.shown, path) === digest) return false
  state.shown[path] = digest
  try {
    writeState(state, env)
  } catch {
    // If nothing can be stored it is shown each time.
  }
  return true
}

/** The hash of a regular file of reasonable size; anything else cannot be trusted. */
function hashOfFile(path: string): string {
  return sha256(contentOf(path))
}

/** One hash over several files, whatever their order. */
export function hashOfFiles(paths: readonly string[]): string {
  const lines = [...new Set(paths)].toSorted().map((path) => `${path}\n${hashOfFile(path)}`)
  return sha256(lines.join('\n'))
}

function snapshotOf(path: string): TrustedFile {
  const content = contentOf(path)
  // A file of variables may contain keys, which are not copied.
  const isText = content.length <= mostText && !content.includes(0) && !basename(path).startsWith('.env')
  return { sha256: sha256(content), ...(isText && { text: content.toString('utf8') }) }
}

function contentOf(path: string): Buffer {
  const about = statSync(path, { throwIfNoEntry: false })
  if (!about) throw badInput(`There is no file ${path}.`)
  if (!about.isFile()) throw badInput(`${path} is not a regular file.`)
  if (about.size > mostBytes)
    throw badInput(`${path} has ${about.size} bytes; a file of more than ${mostBytes} cannot be trusted.`)
  return readFileSync(path)
}

function sha256(content: Buffer | string): string {
  return createHash('sha256').update(content).digest('hex')
}

/** The folder itself, with links resolved. */
function keyOf(folder: string): string {
  try {
    return realpathSync(folder)
  } catch {
    return folder
  }
}

function statePath(env: Env): string {
  const home = userVariable('XDG_STATE_HOME', env) || join(env['HOME'] || homedir(), '.local', 'state')
  return join(home, 'synapse', 'trust.json')
}

/** A file that is missing, damaged or owned by another user trusts nothing. */
function readState(env: Env): TrustState {
  const path = statePath(env)
  const empty: TrustState = { folders: {}, shown: {} }
  try {
    const { uid, mode } = statSync(path)
    const user = process.getuid?.()
    if (user !== undefined && (uid !== user || (mode & 0o022) !== 0)) return empty
    const value: unknown = JSON.parse(readFileSync(path, 'utf8'))
    if (!isObject(value) || !isObject(value['folders']) || !isObject(value['shown'])) return empty
    const folders = Object.entries(value['folders']).filter(([, record]) => isRecord(record))
    return { folders: Object.fromEntries(folders), shown: value['shown'] } as unknown as TrustState
  } catch {
    return empty
  }
}

function isRecord(record: unknown): boolean {
  return isObject(record) && isObject(record['files']) && Array.isArray(record['variables'])
}

function writeState(state: TrustState, env: Env): void {
  const path = statePath(env)
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
    const draft = `${path}.${process.pid}`
    writeFileSync(draft, `${JSON.stringify({ version: 1, ...state }, null, 1)}\n`, { mode: 0o600 })
    renameSync(draft, path)
  } catch (error) {
    throw badInput(`The list of trusted folders cannot be written to ${path}: ${errorMessage(error)}.`)
  }
}

function ownValue<T>(record: Readonly<Record<string, T>>, key: string): T | undefined {
  return Object.hasOwn(record, key) ? record[key] : undefined
}
