// What some tests need beside Node: the programs of a PostgreSQL server, and Chromium. They are looked for, and where
// the machine has Debian's packages and we may install them, they are installed. Without them those tests are skipped,
// and say so.

import { spawnSync } from 'node:child_process'
import { findChromium } from './chromium.ts'
import { findPostgres } from './store/postgres-server.ts'

const missing = [...(findPostgres() ? [] : ['postgresql']), ...(findChromium() ? [] : ['chromium'])]
const mayInstall = process.getuid?.() === 0 && spawnSync('apt-get', ['--version']).status === 0

if (missing.length > 0 && mayInstall) {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  spawnSync('apt-get', ['update', '-q'], { env, stdio: 'ignore' })
  const { status } = spawnSync('apt-get', ['install', '-y', '-q', '--no-install-recommends', ...missing], {
    env,
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  if (status !== 0) console.error(`Could not install ${missing.join(' and ')}: the tests that need them are skipped.`)
} else if (missing.length > 0) {
  console.error(`Not on this machine: ${missing.join(' and ')}. The tests that need them are skipped.`)
}
