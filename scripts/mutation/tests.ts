// The tests as scripts/mutate.ts sees them: in a process that stays, until a test takes too long or leaves something behind.

import { fork, type ChildProcess } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

export interface Request {
  file: string
  /** The test of that file; without it the file is only loaded. */
  index?: number
  mutant: number
}

export interface Answer {
  passed: boolean
  error?: string
  names?: string[]
  ms?: number
  /** Processor time, which does not depend on how busy the machine is. */
  cpuMs?: number
  reached?: number[]
}

export interface Tests {
  ask: (request: Request, timeoutMs: number) => Promise<Answer>
  /** The next question is answered by a new process. */
  restart: () => Promise<void>
  close: () => Promise<void>
}

const hook = pathToFileURL(join(import.meta.dirname, 'hook.ts')).href
const folder = join(import.meta.dirname, '..', '..')

/** A process with the changed sources. `mutant`: active from the start, while modules are loaded. */
export function startTests({
  sources,
  scratch,
  mutant = -1,
}: {
  sources: string
  scratch: string
  mutant?: number
}): Tests {
  const reachedFile = join(scratch, 'reached')
  let child: ChildProcess | undefined

  const start = () =>
    fork(join(import.meta.dirname, 'worker.ts'), {
      cwd: folder,
      // A separate process group, so that children end with it.
      detached: true,
      execArgv: ['--max-old-space-size=3000'],
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
      env: {
        ...process.env,
        NODE_OPTIONS: `--import=${hook}`,
        NODE_COMPILE_CACHE: join(folder, 'node_modules', '.cache', 'compiled-mutants'),
        MUTANT: String(mutant),
        MUTATION_SOURCES: sources,
        MUTATION_REACHED: reachedFile,
      },
    })

  const kill = async () => {
    const ending = child
    child = undefined
    if (ending?.pid === undefined) return
    const isOver = ending.exitCode !== null || ending.signalCode !== null
    const closed = isOver || new Promise((resolve) => ending.once('close', resolve))
    try {
      process.kill(-ending.pid, 'SIGKILL')
    } catch {
      // Its children are gone as well.
    }
    await closed
  }

  process.on('exit', () => {
    if (child?.pid !== undefined) process.kill(-child.pid, 'SIGKILL')
  })

  return {
    async ask(request, timeoutMs) {
      writeFileSync(reachedFile, '')
      const asked = (child ??= start())
      const answer = await new Promise<Answer>((resolve) => {
        const timer = setTimeout(() => resolve({ passed: false, error: 'timeout' }), timeoutMs)
        const done = (given: Answer) => {
          clearTimeout(timer)
          asked.removeAllListeners()
          resolve(given)
        }
        asked.on('message', (given) => done(given as Answer))
        asked.on('close', () => done({ passed: false, error: 'exit' }))
        asked.send(request)
      })
      if (answer.error === 'timeout' || answer.error === 'exit') await kill()
      const inChildren = readFileSync(reachedFile, 'utf8').split('\n').filter(Boolean).map(Number)
      return { ...answer, reached: [...new Set([...(answer.reached ?? []), ...inChildren])] }
    },
    restart: kill,
    async close() {
      if (child?.connected !== true) return
      const timer = setTimeout(() => void kill(), 10_000)
      const closed = new Promise((resolve) => child?.once('close', resolve))
      child.send('close')
      await closed
      clearTimeout(timer)
      await kill()
    },
  }
}
