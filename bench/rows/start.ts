// How long until something happens: whole processes, and what an import costs.

import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { installPacked } from '../../scripts/install-packed.ts'
import { timeInTurn } from '../measure.ts'
import { ratio, type Row } from '../row.ts'

export const start: Row = {
  name: 'start',
  about: 'Whole processes of the installed package against a bare `node -e 0`; the size of the installation.',

  async run() {
    const home = mkdtempSync(join(tmpdir(), 'synapse-bench-'))
    const env = { PATH: process.env['PATH'] ?? '', HOME: home, XDG_DATA_HOME: home }
    const node = (...args: string[]) => {
      const { status, stderr } = spawnSync(process.execPath, args, { env, input: '', cwd: home })
      if (status !== 0) throw new Error(stderr.toString())
    }
    try {
      const installed = installPacked(home)
      const bin = join(installed, 'bin', 'synapse.js')
      const timed = await timeInTurn(
        [
          { name: 'node -e 0', run: () => node('-e', '0') },
          { name: 'synapse --version', run: () => node(bin, '--version') },
          { name: 'synapse --offline "What time is it?"', run: () => node(bin, '--offline', 'What time is it?') },
          { name: "import 'synapse'", run: () => node('-e', "import('synapse')") },
        ],
        'wall',
      )
      const bare = timed[0]?.ms
      const importMs = (timed[3]?.ms ?? Number.NaN) - (bare ?? Number.NaN)
      const { dependencies } = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8')) as {
        dependencies?: Record<string, string>
      }
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
          {
            what: 'offline answer / bare node',
            value: (timed[2]?.ms ?? Number.NaN) / (bare ?? 1),
            bound: 4,
            excuse:
              'of what is beyond bare node, a tenth each is reading the compiled code, compiling the functions that are ' +
              'not in it (methods of classes, those of Node), and loading modules of Node (streams, crypto, zlib); an ' +
              'eighth is SQLite; the rest is two requests and a tool, all done once and so in the interpreter. A cache of ' +
              '`vm.Script` made at the end of a run was at most a tenth faster; compiling everything was not (`--no-lazy`)',
          },
          { what: 'import of the library, ms beyond bare node', value: importMs, bound: 50 },
          { what: 'installation, MB', value: sizeOf(join(home, 'node_modules')) / 1_000_000, bound: 15 },
          { what: 'direct dependencies', value: Object.keys(dependencies ?? {}).length, bound: 25 },
        ],
      }
    } finally {
      rmSync(home, { recursive: true, force: true })
    }
  },
}

function sizeOf(path: string): number {
  const stat = statSync(path)
  if (!stat.isDirectory()) return stat.size
  return readdirSync(path).reduce((sum, name) => sum + sizeOf(join(path, name)), 0)
}
