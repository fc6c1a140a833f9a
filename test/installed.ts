// The package as a user has it: packed, and installed in a folder far from here. The whole suite installs it once, and
// starts its command; a file that is run alone starts the command of the clone, and installs the package if it has to.

import { cpSync, existsSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { installPacked } from '../scripts/install-packed.ts'

export const installedVariable = 'SYNAPSE_TEST_INSTALLED'

const root = join(import.meta.dirname, '..')
const shared = process.env[installedVariable]

/** A file that is there once the package is complete. */
export const completeIn = (folder: string): string => join(folder, 'complete')

export async function whenInstalled(): Promise<void> {
  const complete = shared === undefined ? root : completeIn(shared)
  while (!existsSync(complete)) await setTimeout(50)
}

export const bin = join(shared === undefined ? root : join(shared, 'node_modules', 'synapse'), 'bin', 'synapse.js')

/** Its types, where it is installed. */
export const declarations: string | undefined = shared && join(shared, 'node_modules', 'synapse', 'dist', 'types')

/** Installs the package in a folder where more can be installed beside it, and returns its path. */
export function install(folder: string): string {
  if (shared === undefined) return installPacked(folder)
  cpSync(shared, folder, { recursive: true })
  return join(folder, 'node_modules', 'synapse')
}

/** The command in a folder where the driver of PostgreSQL is installed beside it, as its users have it. */
export function binWithPostgres(folder: string): string {
  if (shared === undefined) return bin
  const command = join(install(folder), 'bin', 'synapse.js')
  symlinkSync(join(root, 'node_modules', 'pg'), join(folder, 'node_modules', 'pg'))
  return command
}
