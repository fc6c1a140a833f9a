// Installs the peers that are measured here, unless they are there already. They belong to this folder alone.

import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const lock = createHash('sha256')
  .update(readFileSync(join(import.meta.dirname, 'package-lock.json')))
  .digest('hex')
const seal = join(import.meta.dirname, 'node_modules', '.installed-from')

if (!existsSync(seal) || readFileSync(seal, 'utf8') !== lock) {
  execFileSync('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], {
    cwd: import.meta.dirname,
    stdio: 'inherit',
  })
  writeFileSync(seal, lock)
}
