// Runs test/crash/worker.ts in a separate process. It is started a hundred times, and most of a start is reading
// TypeScript from many files: so it is put into one file first. With SYNAPSE_PACKED, the folder of an installed
// package, it runs on that package instead of the source.

import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { build, type Plugin } from 'esbuild'
import { lastWords } from '../store/postgres-server.ts'
import type { WorkerTask } from './worker.ts'

export interface Ran {
  /** Entries that were acknowledged, by their conversation. */
  entries: Map<string, string[]>
  /** It came to its end. */
  done: boolean
  killed: boolean
  errors: string
}

export async function runWorker(
  task: WorkerTask,
  how: { failpoint?: string; killAfterMs?: number; onEntry?: () => void } = {},
): Promise<Ran> {
  const name = `crash-${randomUUID()}`
  bundle ??= bundled()
  const child = spawn(process.execPath, [await bundle, JSON.stringify(task)], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      ...process.env,
      PGAPPNAME: name,
      NODE_COMPILE_CACHE: join(dirname(await bundle), 'compiled'),
      ...(how.failpoint !== undefined && { SYNAPSE_FAILPOINT: how.failpoint }),
    },
  })
  const ran: Ran = { entries: new Map(), done: false, killed: false, errors: '' }
  child.stderr.setEncoding('utf8').on('data', (text: string) => (ran.errors += text))
  createInterface({ input: child.stdout }).on('line', (line) => {
    const said = JSON.parse(line) as { conversation?: string; entry?: string; done?: true }
    if (said.conversation !== undefined && said.entry !== undefined) {
      how.onEntry?.()
      ran.entries.set(said.conversation, [...(ran.entries.get(said.conversation) ?? []), said.entry])
    }
    if (said.done) ran.done = true
  })
  const timer = how.killAfterMs === undefined ? undefined : setTimeout(() => child.kill('SIGKILL'), how.killAfterMs)
  await new Promise<void>((resolve) => {
    child.on('close', (_, signal) => {
      clearTimeout(timer)
      ran.killed = signal === 'SIGKILL'
      resolve()
    })
  })
  // One that came to its end has had every answer.
  if (task.url.startsWith('postgres:') && !ran.done) await lastWords(task.url, name)
  return ran
}

let bundle: Promise<string> | undefined

async function bundled(): Promise<string> {
  // Inside of node_modules, so that packages are found from there.
  const cache = join(import.meta.dirname, '..', '..', 'node_modules', '.cache')
  mkdirSync(cache, { recursive: true })
  const outdir = mkdtempSync(join(cache, 'crash-'))
  process.on('exit', () => rmSync(outdir, { recursive: true, force: true }))
  await build({
    entryPoints: [join(import.meta.dirname, 'worker.ts')],
    outdir,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    packages: 'external',
    plugins: packed === undefined ? [] : [onPackage(packed)],
    logLevel: 'error',
  })
  return join(outdir, 'worker.mjs')
}

const packed = process.env['SYNAPSE_PACKED']

/** What the worker imports of the source comes from the package, as its users import it. */
function onPackage(folder: string): Plugin {
  const files: Record<string, string> = { open: 'index.js', testing: 'testing.js' }
  return {
    name: 'on-package',
    setup({ onResolve }) {
      onResolve({ filter: /\/src\/(open|testing)\.ts$/ }, ({ path }) => {
        const file = files[/(\w+)\.ts$/.exec(path)?.[1] ?? ''] ?? ''
        return { path: join(folder, 'dist', 'js', file), external: true }
      })
    },
  }
}
