// The long test of crashes and outages, on the source or on the published package:
//
// node scripts/crash-loop.ts [--packed] [--kills=1000] [--outages=200]
//
// Kills processes at random moments on SQLite and on PostgreSQL, then takes PostgreSQL away from live runs in random
// ways. Exits with 1 if anything was lost, doubled or failed. The checks themselves are in test/crash.

import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { installPacked } from './install-packed.ts'

const { values } = parseArgs({
  options: {
    packed: { type: 'boolean', default: false },
    kills: { type: 'string', default: '1000' },
    outages: { type: 'string', default: '200' },
  },
})
const folder = mkdtempSync(join(tmpdir(), 'synapse-crash-loop-'))
try {
  const installed = values.packed ? installPacked(folder, ['pg']) : undefined
  process.stdout.write(`on ${installed === undefined ? 'the source' : 'the packed package'}\n`)
  const kills = run('random-kills.test.ts', { SYNAPSE_KILLS: values.kills }, installed)
  const outages = run('random-outages.all.test.ts', { SYNAPSE_OUTAGES: values.outages }, installed)
  process.exitCode = kills && outages ? 0 : 1
} finally {
  rmSync(folder, { recursive: true, force: true })
}

function run(file: string, env: Record<string, string>, installed: string | undefined): boolean {
  const path = join(import.meta.dirname, '..', 'test', 'crash', file)
  const args = ['--test', '--test-reporter=spec', '--test-timeout=86400000', path]
  const packed = installed === undefined ? {} : { SYNAPSE_PACKED: installed }
  return (
    spawnSync(process.execPath, args, { stdio: 'inherit', env: { ...process.env, ...env, ...packed } }).status === 0
  )
}
