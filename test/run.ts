// Runs the tests: `node test/run.ts`, with the flags and the files of `node --test`; `--all` adds the full matrices and
// loops. What every file needs is made once, for all of them: a PostgreSQL server, the page, the installed package, and
// what Node compiles. A file that is run alone makes its own.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { globSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, sep } from 'node:path'
import { buildWeb } from '../scripts/build-web.ts'
import { compileCache } from './compile-cache.ts'
import { completeIn, installedVariable } from './installed.ts'
import { makeMemoryFolder } from './memory-folder.ts'
import { setUp } from './set-up.ts'
import { findPostgres, makePostgres, removeLeftServers, sharedPostgres } from './store/postgres-server.ts'

/** The folders that are not in the list below, in one process. */
const others = 'others'

/** Each in a process of its own, those that take longest first, so that no core is idle at the end. */
const longest = [
  'web',
  'store',
  'server',
  'crash',
  others,
  'run',
  'cli',
  'doors',
  'wire',
  'package',
  'trust',
  'mcp',
  'docs',
  'limits',
  'bench',
]

/** They run in the process of another folder, as they load the same modules. */
const joins: Record<string, string> = { emulator: 'wire', properties: 'wire', replay: 'wire', validators: 'wire' }

/** They do not need the package, and begin while it is installed. */
const withoutPackage = new Set(['store', 'crash', 'run', 'wire', 'mcp', 'limits', 'bench'])

/** They test what happens to files when a process or a disk fails: theirs are on the disk. */
const onDisk = new Set(['store', 'crash'])

/** They often wait, for a browser, a database or a limit of time: six keep two cores busy. */
const processes = 6

const root = join(import.meta.dirname, '..')
const given = process.argv.slice(2).filter((argument) => argument !== '--all')
const all = process.argv.includes('--all')
const files = given.some((argument) => !argument.startsWith('-')) ? [] : everyFile()

setUp()
removeLeftServers()
const compiled = files.length > 0 ? compileSources() : undefined
await buildWeb()
const [postgres] = await Promise.all([openPostgres(), compiled])
const memory = files.length > 0 ? makeMemoryFolder() : undefined
const installed = files.length > 0 ? mkdtempSync(join(tmpdir(), 'synapse-installed-')) : undefined
// The limit holds for a folder as for a test: on a machine with ten times the work of its cores one takes ten minutes.
const flags = ['--test-reporter=spec', `--test-concurrency=${processes}`, '--test-timeout=1800000']
const child = spawn(process.execPath, ['--test', ...flags, ...given, ...files], {
  cwd: root,
  stdio: 'inherit',
  env: {
    ...process.env,
    NODE_COMPILE_CACHE: compileCache,
    ...(memory !== undefined && { TMPDIR: memory }),
    ...(all && { SYNAPSE_TEST: 'all' }),
    ...(installed !== undefined && { [installedVariable]: installed }),
    ...(postgres && { [sharedPostgres.url]: postgres.url, [sharedPostgres.files]: postgres.files }),
  },
})
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => child.kill(signal))
const ended = new Promise<number>((resolve) => child.on('close', (status) => resolve(status ?? 1)))
if (installed !== undefined) await install(installed)
const code = await ended
await postgres?.close()
for (const folder of [installed, memory])
  if (folder !== undefined) rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
process.exitCode = code

/**
 * The files of a folder run in one process: to start one takes longer than most of them. Those of the full matrices are
 * long enough for one each. `node --test` sorts what it is given, so the names carry the order.
 */
function everyFile(): string[] {
  const found = globSync(`test/**/!(${all ? '' : '*.all|'}*.clients).test.ts`, { cwd: root }).sort()
  const groups = Map.groupBy(found, (file) => {
    const [, own = ''] = file.split(sep)
    const folder = joins[own] ?? own
    return file.endsWith('.all.test.ts') ? file : longest.includes(folder) ? folder : others
  })
  const place = (group: string) => (longest.includes(group) ? longest.indexOf(group) : longest.length)
  const here = (file: string) => JSON.stringify(join(import.meta.dirname, file))
  const folder = join(root, 'node_modules', '.cache', 'tests-together')
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  return [...groups]
    .toSorted(([a], [b]) => place(a) - place(b))
    .map(([group, files], i) => {
      const name = `${String(i).padStart(3, '0')}-${group.replaceAll(/\W+/g, '-')}`
      const imports = files.map((file) => `import ${JSON.stringify(join(root, file))}\n`)
      writeFileSync(join(folder, `${name}.mjs`), imports.join(''))
      const lines = [
        `await import(${here('without-promise-hooks.ts')})`,
        ...(onDisk.has(group) ? [`process.env['TMPDIR'] = ${JSON.stringify(tmpdir())}`] : []),
        ...(withoutPackage.has(group) ? [] : [`await (await import(${here('installed.ts')})).whenInstalled()`]),
        `await import('./${name}.mjs')`,
      ]
      const first = join(folder, `${name}.test.mjs`)
      writeFileSync(first, lines.join('\n'))
      return first
    })
}

async function compileSources(): Promise<void> {
  await script('test/compile-sources.ts')
}

/** The tests that need it wait for it. */
async function install(folder: string): Promise<void> {
  try {
    await script('scripts/install-packed.ts', folder)
    writeFileSync(completeIn(folder), '')
  } catch (error) {
    console.error(error)
    child.kill()
  }
}

async function script(file: string, ...args: string[]): Promise<void> {
  const env = { ...process.env, NODE_COMPILE_CACHE: compileCache }
  const [code] = await once(spawn(process.execPath, [join(root, file), ...args], { env, stdio: 'inherit' }), 'close')
  if (code !== 0) throw new Error(`${file} failed.`)
}

async function openPostgres(): Promise<{ url: string; files: string; close: () => Promise<void> } | undefined> {
  const programs = findPostgres()
  if (programs === undefined) return undefined
  // One is started, and one only copied from.
  const files = await makePostgres(programs)
  process.env[sharedPostgres.files] = files.data
  const server = await makePostgres(programs)
  await server.start()
  return {
    url: server.url,
    files: files.data,
    close: async () => void (await Promise.all([files.remove(), server.remove()])),
  }
}
