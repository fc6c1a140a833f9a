// Runs test/crash/worker.ts in a process of its own.

import { spawn } from 'node:child_process'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
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
  how: { failpoint?: string; killAfterMs?: number } = {},
): Promise<Ran> {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'worker.ts'), JSON.stringify(task)], {
    stdio: ['ignore', 'pipe', 'pipe'],
    // Reading TypeScript is most of such a start.
    env: {
      ...process.env,
      NODE_COMPILE_CACHE: join(tmpdir(), 'synapse-test-compile-cache'),
      ...(how.failpoint !== undefined && { SYNAPSE_FAILPOINT: how.failpoint }),
    },
  })
  const ran: Ran = { entries: new Map(), done: false, killed: false, errors: '' }
  child.stderr.setEncoding('utf8').on('data', (text: string) => (ran.errors += text))
  createInterface({ input: child.stdout }).on('line', (line) => {
    const said = JSON.parse(line) as { conversation?: string; entry?: string; done?: true }
    if (said.conversation !== undefined && said.entry !== undefined) {
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
  return ran
}
