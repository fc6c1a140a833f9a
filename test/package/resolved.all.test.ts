// The package as others resolve it: by the rules of package managers, bundlers and TypeScript, and by its cost.

import assert from 'node:assert/strict'
import { execFile, execFileSync } from 'node:child_process'
import { globSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { after } from 'node:test'
import { promisify } from 'node:util'
import { install } from '../installed.ts'

const run = promisify(execFile)
const root = join(import.meta.dirname, '..', '..')
const folder = mkdtempSync(join(tmpdir(), 'synapse-resolved-'))
after(() => rmSync(folder, { recursive: true, force: true }))
const installed = install(folder)
const program = (name: string) => join(root, 'node_modules', '.bin', name)

test('publint finds nothing', async () => {
  const { stdout } = await run(program('publint'), ['run', installed, '--strict', '--pack', 'false'])
  assert.match(stdout, /All good!/)
})

test('the types resolve for every entry point, in Node and in bundlers', async () => {
  const packed = execFileSync('npm', ['pack', '--silent', '--ignore-scripts', '--pack-destination', folder], {
    cwd: installed,
    encoding: 'utf8',
  })
  const file = join(folder, packed.trim())
  const options = ['--profile', 'esm-only', '--exclude-entrypoints', 'schemas/*', '--format', 'ascii']
  const { stdout } = await run(program('attw'), [file, ...options])
  // It fails for any problem; what it says shows that it has looked at them all.
  for (const entry of ['synapse', 'synapse/wires', 'synapse/stores', 'synapse/testing', 'synapse/ai-sdk']) {
    assert.match(stdout, new RegExp(`"${entry}"\\s+node16 \\(from ESM\\): 🟢`))
  }
})

test('it is at most 8 MB', () => {
  const files = globSync('**/*', { cwd: installed }).map((file) => statSync(join(installed, file)))
  const size = files.filter((stat) => stat.isFile()).reduce((sum, stat) => sum + stat.size, 0)
  assert.ok(size <= 8e6, `${size} bytes`)
})

test('an import of the root takes at most 50 ms of a processor beyond bare Node', async () => {
  const cost = async (code: string) => {
    const measured = `${code}; const { user, system } = process.cpuUsage(); console.log(user + system)`
    const { stdout } = await run(process.execPath, ['--input-type=module', '-e', measured], { cwd: folder })
    return Number(stdout) / 1000
  }
  const [bare, loaded]: [number[], number[]] = [[], []]
  for (let i = 0; i < 25; i++) {
    bare.push(await cost(''))
    loaded.push(await cost(`await import('synapse')`))
  }
  // The least of many: what others do on the machine only adds.
  const least = Math.min(...loaded) - Math.min(...bare)
  assert.ok(least <= 50, `${least} ms`)
})
