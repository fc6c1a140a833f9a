// Long conversations are read on a thread of their own: while one is prepared, drawn as a tree or exported, which takes
// seconds at 50,000 messages, all other requests and streams of the server continue. The thread opens the same store,
// starts with the first such request, and ends when there was none for a while. It runs this same file.

import { isMainThread, parentPort, workerData, Worker } from 'node:worker_threads'
import { asFailure, SynapseError, type Failure } from '../core/error.ts'
import { openStore } from '../store/open.ts'
import type { Store } from '../store/store.ts'
import { readLong, type LongAnswer, type LongRead } from './long-read-tasks.ts'

export interface LongReads {
  /** `entries`: how many the conversation has. */
  read(store: Store, task: LongRead, entries: number): Promise<LongAnswer>
  close(): Promise<void>
}

/** About what takes the time of a network round trip; the thread takes longer to be asked. */
const fewEntries = 500
const idleMs = 60_000
/** How long to wait for a database that cannot be reached, as for any request. */
const awayMs = 2000
const mark = 'synapse: long reads'

interface Asked {
  number: number
  task: LongRead
}

interface WorkerReply {
  number: number
  answer?: LongAnswer
  failure?: Failure
}

/** `address`: of the store; absent: it is in memory, and no other thread can read it. */
export function longReads(address: string | undefined): LongReads {
  const isShared = address !== undefined && address !== ':memory:'
  const waiting = new Map<number, { resolve(answer: LongAnswer): void; reject(error: unknown): void }>()
  let worker: Worker | undefined
  let idle: NodeJS.Timeout | undefined
  let number = 0

  function started(): Worker {
    if (worker) return worker
    const made = new Worker(new URL(import.meta.url), { workerData: { mark, address }, env: process.env })
    made.unref()
    made.on('message', ({ number: of, answer, failure }: WorkerReply) => {
      const one = waiting.get(of)
      waiting.delete(of)
      if (answer) one?.resolve(answer)
      else one?.reject(new SynapseError(failure ?? { kind: 'internal', message: 'The thread gave no answer.' }))
      if (waiting.size === 0) idle = setTimeout(() => void stop(), idleMs).unref()
    })
    made.on('error', (error) => end(made, error))
    made.on('exit', () => end(made, new Error('The thread that reads long conversations has ended.')))
    return (worker = made)
  }

  function end(made: Worker, error: Error): void {
    if (worker !== made) return
    worker = undefined
    for (const { reject } of waiting.values()) reject(error)
    waiting.clear()
  }

  async function stop(): Promise<void> {
    clearTimeout(idle)
    const ending = worker
    worker = undefined
    await ending?.terminate()
  }

  return {
    async read(store, task, entries) {
      if (!isShared || entries < fewEntries) return readLong(store, task)
      clearTimeout(idle)
      return new Promise((resolve, reject) => {
        const asked: Asked = { number: ++number, task }
        waiting.set(asked.number, { resolve, reject })
        try {
          started().postMessage(asked, [])
        } catch (error) {
          waiting.delete(asked.number)
          reject(error)
        }
      })
    },
    close: stop,
  }
}

/** The other side: one after the other, in the order in which they come. */
function answerTasks(port: NonNullable<typeof parentPort>, address: string): void {
  let store: Promise<Store> | undefined
  let last: Promise<void> = Promise.resolve()
  port.on('message', (asked: Asked) => {
    last = last.then(() => answerOne(asked))
  })

  async function answerOne({ number, task }: Asked): Promise<void> {
    try {
      const opened = await (store ??= openStore(address))
      const answer = await readLong(opened.within?.(awayMs) ?? opened, task)
      port.postMessage({ number, answer } satisfies WorkerReply, [answer.bytes.buffer as ArrayBuffer])
    } catch (error) {
      port.postMessage({ number, failure: asFailure(error) } satisfies WorkerReply, [])
    }
  }
}

if (!isMainThread && parentPort) {
  const { mark: given, address } = (workerData ?? {}) as { mark?: string; address?: string }
  if (given === mark && address !== undefined) answerTasks(parentPort, address)
}
