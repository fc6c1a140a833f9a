// Runs test/store/worker.ts as a separate process, for tests about crashes and about several writers.

import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import type { TestContext } from 'node:test'

export interface Worker {
  /** The next line that it wrote; undefined when it has ended. */
  next(): Promise<string | undefined>
  /** All lines until it ends. */
  rest(): Promise<string[]>
  send(line: string): void
  signal(name: NodeJS.Signals): void
  ended: Promise<unknown>
  /** What PostgreSQL knows it by. */
  name: string
}

export function startWorker(
  t: TestContext,
  args: string[],
  options: { under?: string[]; uid?: number; env?: Record<string, string> } = {},
): Worker {
  const script = fileURLToPath(new URL('worker.ts', import.meta.url))
  const [command = '', ...rest] = [...(options.under ?? []), process.execPath, script, ...args]
  const name = `worker-${randomUUID()}`
  const child = spawn(command, rest, {
    stdio: ['pipe', 'pipe', 'inherit'],
    // The worker becomes that user once it is loaded: another user may not be able to read this folder.
    env: {
      ...process.env,
      ...options.env,
      PGAPPNAME: name,
      ...(options.uid !== undefined && { WORKER_UID: `${options.uid}` }),
    },
  })
  const ended = once(child, 'close')
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  // A process that was killed may leave its end of the pipe closed.
  child.stdin.on('error', () => {})
  t.after(async () => {
    child.kill('SIGKILL')
    await ended
  })
  const next = async (): Promise<string | undefined> => {
    const line = await lines.next()
    return line.done ? undefined : line.value
  }
  return {
    next,
    async rest() {
      const all: string[] = []
      for (let line = await next(); line !== undefined; line = await next()) all.push(line)
      return all
    },
    send: (line) => void child.stdin.write(`${line}\n`),
    signal: (name) => void child.kill(name),
    ended,
    name,
  }
}
