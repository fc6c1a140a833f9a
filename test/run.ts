// Runs the tests: `node test/run.ts`, with the flags and the files of `node --test`; `--all` adds the full matrices and
// loops. What every file needs is made once, for all of them: a PostgreSQL server, a browser, the page, and what Node
// compiles. A file that is run alone makes its own.

import { spawn } from 'node:child_process'
import { globSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { buildWeb } from '../scripts/build-web.ts'
import { compileCache } from './compile-cache.ts'
import { setUp } from './set-up.ts'
import { findPostgres, makePostgres, removeLeftServers, sharedPostgres } from './store/postgres-server.ts'
import { serveBrowser, sharedBrowser } from './web/browser.ts'

/** The files of such a folder run in one process: to start one takes longer than most of them. The longest come first. */
const oneProcess = [
  'run',
  'server',
  'doors',
  'store',
  'wire',
  'properties',
  'emulator',
  'context',
  'transport',
  'transfer',
  'config',
  'agents',
  'providers',
  'transcripts',
]

const root = join(import.meta.dirname, '..')
const given = process.argv.slice(2).filter((argument) => argument !== '--all')
const all = process.argv.includes('--all')
const files = given.some((argument) => !argument.startsWith('-')) ? [] : everyFile()

setUp()
removeLeftServers()
await buildWeb()
const [postgres, browser] = await Promise.all([openPostgres(), serveBrowser()])
const flags = ['--test-reporter=spec', '--test-concurrency=2', `--test-timeout=${all ? 1_800_000 : 180_000}`]
const child = spawn(process.execPath, ['--test', ...flags, ...given, ...files], {
  cwd: root,
  stdio: 'inherit',
  env: {
    ...process.env,
    NODE_COMPILE_CACHE: compileCache,
    ...(all && { SYNAPSE_TEST: 'all' }),
    ...(postgres && { [sharedPostgres.url]: postgres.url, [sharedPostgres.files]: postgres.files }),
    ...(browser && { [sharedBrowser]: browser.url }),
  },
})
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => child.kill(signal))
const code = await new Promise<number>((resolve) => child.on('close', (status) => resolve(status ?? 1)))
await Promise.all([postgres?.close(), browser?.close()])
process.exitCode = code

/** What takes longest first, so that no core is idle at the end; files of some folders together. */
function everyFile(): string[] {
  const found = globSync(`test/**/!(${all ? '' : '*.all|'}*.clients).test.ts`, { cwd: root }).sort()
  const inFolder = (folder: string) => found.filter((file) => file.startsWith(join('test', folder, '/')))
  const folder = join(root, 'node_modules', '.cache', 'tests-together')
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  const joined = oneProcess.map((name) => {
    const file = join(folder, `${name}.test.mjs`)
    writeFileSync(
      file,
      inFolder(name)
        .map((path) => `import ${JSON.stringify(join(root, path))}\n`)
        .join(''),
    )
    return file
  })
  const alone = found.filter((file) => !oneProcess.some((name) => inFolder(name).includes(file)))
  const isLong = (file: string) => /^test.(crash|package|docs)\b/.test(file)
  return [...alone.filter(isLong), ...joined, ...alone.filter((file) => !isLong(file))]
}

async function openPostgres(): Promise<{ url: string; files: string; close: () => Promise<void> } | undefined> {
  const programs = findPostgres()
  if (programs === undefined) return undefined
  // One is started and one only copied from.
  const [files, server] = [await makePostgres(programs), await makePostgres(programs)]
  await server.start()
  return {
    url: server.url,
    files: files.data,
    close: async () => void (await Promise.all([files.remove(), server.remove()])),
  }
}
