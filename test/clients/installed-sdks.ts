// Libraries of others, unchanged, at pinned versions. They are too large for `npm ci`, so they are installed on demand into the
// folder of the other third-party clients, without running scripts of their packages.

import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'

const cache = process.env['SYNAPSE_CLIENTS'] ?? join(tmpdir(), 'synapse-clients')

/**
 * Loads a package of a set, all of which are installed the first time. `Sdk` is as much of its types as a test uses: the
 * packages are not there when the types are checked.
 */
export async function installedSdk<Sdk>(
  set: string,
  packages: Readonly<Record<string, string>>,
  name: string,
): Promise<Sdk> {
  const folder = await install(set, packages)
  const path = createRequire(join(folder, 'package.json')).resolve(name)
  return (await import(pathToFileURL(path).href)) as Sdk
}

async function install(set: string, packages: Readonly<Record<string, string>>): Promise<string> {
  const folder = join(cache, `${set}-${Object.values(packages).join('-')}`)
  if (existsSync(folder)) return folder
  mkdirSync(cache, { recursive: true })
  // In a separate folder first, so that an interrupted one is not mistaken for a finished one.
  const making = mkdtempSync(`${folder}-`)
  writeFileSync(join(making, 'package.json'), JSON.stringify({ private: true, dependencies: packages }))
  await promisify(execFile)('npm', ['install', '--no-audit', '--no-fund', '--ignore-scripts'], {
    cwd: making,
    timeout: 300_000,
  })
  if (existsSync(folder)) rmSync(making, { recursive: true, force: true })
  else renameSync(making, folder)
  return folder
}
