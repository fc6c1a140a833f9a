// Installs the package as a user would, from the output of `npm pack`, but without a registry: its dependencies are
// copied from here: `node scripts/install-packed.ts FOLDER`. For the tests and the benchmarks.

import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = join(import.meta.dirname, '..')

if (process.argv[1] === fileURLToPath(import.meta.url)) installPacked(process.argv[2] ?? '.')

/** Returns the folder of the package, in the node_modules of the given one. `others` are installed too. */
export function installPacked(folder: string, others: readonly string[] = []): string {
  const modules = join(folder, 'node_modules')
  const installed = join(modules, 'synapse')
  mkdirSync(installed, { recursive: true })
  writeFileSync(join(folder, 'package.json'), '{ "name": "user", "private": true, "type": "module" }\n')
  const packed = execFileSync('npm', ['pack', '--silent', '--pack-destination', folder], {
    cwd: root,
    encoding: 'utf8',
  })
  const file = join(folder, packed.trim().split('\n').at(-1) ?? '')
  execFileSync('tar', ['-xzf', file, '-C', installed, '--strip-components', '1'])
  rmSync(file)
  const seen = new Set<string>()
  const queue = [...dependenciesOf(installed), ...others]
  for (let name = queue.pop(); name !== undefined; name = queue.pop()) {
    if (seen.has(name)) continue
    seen.add(name)
    cpSync(join(root, 'node_modules', name), join(modules, name), { recursive: true })
    queue.push(...dependenciesOf(join(modules, name)))
  }
  return installed
}

function dependenciesOf(folder: string): string[] {
  const { dependencies = {} } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as {
    dependencies?: Record<string, string>
  }
  return Object.keys(dependencies)
}
