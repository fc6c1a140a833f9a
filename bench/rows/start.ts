// How long until something happens: whole processes, and what an import costs.

import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { timeInTurn } from '../measure.ts'
import { ratio, type Row } from '../row.ts'

const root = join(import.meta.dirname, '..', '..')

export const start: Row = {
  name: 'start',
  about: 'Whole processes of the built package against a bare `node -e 0`; the size of an installation.',

  async run() {
    execFileSync('npm', ['run', '--silent', 'build'], { cwd: root, stdio: 'inherit' })
    const home = mkdtempSync(join(tmpdir(), 'synapse-bench-'))
    const bin = join(root, 'bin', 'synapse.js')
    const env = { PATH: process.env['PATH'] ?? '', HOME: home, XDG_DATA_HOME: home }
    const node = (...args: string[]) => {
      const { status, stderr } = spawnSync(process.execPath, args, { env, input: '', cwd: home })
      if (status !== 0) throw new Error(stderr.toString())
    }
    try {
      const timed = await timeInTurn(
        [
          { name: 'node -e 0', run: () => node('-e', '0') },
          { name: 'synapse --version', run: () => node(bin, '--version') },
          { name: 'synapse --offline "What time is it?"', run: () => node(bin, '--offline', 'What time is it?') },
          {
            name: "import 'synapse'",
            run: () => node('-e', `import(${JSON.stringify(join(root, 'dist', 'index.js'))})`),
          },
        ],
        'wall',
      )
      const bare = timed[0]?.ms
      const importMs = (timed[3]?.ms ?? Number.NaN) - (bare ?? Number.NaN)
      const { megabytes, direct } = installation()
      return {
        tables: [
          {
            head: ['what', 'ms', '× bare node'],
            lines: timed.map(({ name, ms, why }) => [
              name,
              ms === undefined ? (why ?? '–') : Math.round(ms),
              ratio(ms, bare),
            ]),
          },
        ],
        checks: [
          { what: '`synapse --version` / bare node', value: (timed[1]?.ms ?? Number.NaN) / (bare ?? 1), bound: 1.5 },
          { what: 'offline answer / bare node', value: (timed[2]?.ms ?? Number.NaN) / (bare ?? 1), bound: 4 },
          { what: 'import of the library, ms beyond bare node', value: importMs, bound: 50 },
          { what: 'installation, MB', value: megabytes, bound: 15 },
          { what: 'direct dependencies', value: direct, bound: 25 },
        ],
      }
    } finally {
      rmSync(home, { recursive: true, force: true })
    }
  },
}

/** The package with everything that npm would install beside it. */
function installation(): { megabytes: number; direct: number } {
  const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    dependencies: Record<string, string>
  }
  const seen = new Set<string>()
  let bytes = sizeOf(join(root, 'dist'))
  const queue = Object.keys(manifest.dependencies)
  for (let name = queue.pop(); name !== undefined; name = queue.pop()) {
    const folder = join(root, 'node_modules', name)
    if (seen.has(name) || !existsSync(folder)) continue
    seen.add(name)
    bytes += sizeOf(folder)
    const { dependencies = {} } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as {
      dependencies?: Record<string, string>
    }
    queue.push(...Object.keys(dependencies))
  }
  return { megabytes: bytes / 1_000_000, direct: Object.keys(manifest.dependencies).length }
}

function sizeOf(path: string): number {
  const stat = statSync(path)
  if (!stat.isDirectory()) return stat.size
  return readdirSync(path).reduce((sum, name) => sum + sizeOf(join(path, name)), 0)
}
