// Long conversations are read, imported and deleted on a separate thread: while one is prepared, exported or sent as a
// tree, which takes seconds at 50,000 messages, all other requests and streams of the server continue. The thread opens
// the same store, starts with the first such request, and ends when there was none for a while. It runs this same file.

import { isMainThread, parentPort, workerData, Worker } from 'node:worker_threads'
import { asFailure, SynapseError, type Failure } from '../core/error.ts'
import { openStore } from '../store/open.ts'
import type { Store } from '../store/store.ts'
import type { ImportTask } from './import-task.ts'
import { jsonAnswer, readLong, type LongAnswer, type LongRead } from './long-read-tasks.ts'

type LongTask = LongRead | ImportTask | DeleteTask

interface DeleteTask {
  do: 'delete'
  place: { owner: string; conversationId: string }
}

export interface LongTasks {
  /** `isLong`: it takes longer than asking the thread. */
  run(store: Store, task: LongTask, isLong: boolean): Promise<LongAnswer>
  close(): Promise<void>
}

/** A conversation with this many entries is read in about the time of a network round trip. */
const fewEntries = 500
const idleMs = 60_000
/** How long to wait for a database that cannot be reached, as for any request. */
const awayMs = 2000
const mark = 'synapse: long tasks'

interface Asked {
  number: number
  task: LongTask
}

interface WorkerReply {
  number: number
  answer?: LongAnswer
  failure?: Failure
}

export function isLong({ entries }: { entries: number }): boolean {
  return entries >= fewEntries
}

/** `address`: of the store; absent: it is in memory, and no other thread can read it. */
export function longTasks(address: string | undefined): LongTasks {
  const isShared = address !== undefined && address !== ':memory:'
  const waiting = new Map<number, { resolve(answer: LongAnswer): void; reject(error: unknown): void }>()
  let worker: Worker | undefined
  let idle: NodeJS.Timeout | undefined
  let number = 0

  function startedWorker(): Worker {
    if (worker) return worker
    const newWorker = new Worker(new URL(import.meta.url), { workerData: { mark, address }, env: process.env })
    newWorker.unref()
    newWorker.on('message', ({ number: taskNumber, answer, failure }: WorkerReply) => {
      const waiter = waiting.get(taskNumber)
      waiting.delete(taskNumber)
      if (answer) waiter?.resolve(answer)
      else
        waiter?.reject(
          new SynapseError(
            failure ?? {
              kind: 'internal',
              message: 'The thread for long tasks has stopped without an answer; try again.',
            },
          ),
        )
      if (waiting.size === 0) idle = setTimeout(() => void stop(), idleMs).unref()
    })
    newWorker.on('error', (error: unknown) => end(newWorker, error))
    newWorker.on('exit', () => end(newWorker, new Error('The thread for long conversations has ended.')))
    return (worker = newWorker)
  }

  function end(ended: Worker, error: unknown): void {
    if (worker !== ended) return
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
    async run(store, task, isLong) {
      if (!isShared || !isLong) return carryOut(store, task)
      clearTimeout(idle)
      return new Promise((resolve, reject) => {
        const request: Asked = { number: ++number, task }
        waiting.set(request.number, { resolve, reject })
        try {
          startedWorker().postMessage(request, 'bytes' in task && task.bytes ? [task.bytes.buffer as ArrayBuffer] : [])
        } catch (error) {
          waiting.delete(request.number)
          reject(error)
        }
      })
    },
    close: stop,
  }
}

async function carryOut(store: Store, task: LongTask): Promise<LongAnswer> {
  if (task.do === 'delete') {
    const { owner, conversationId } = task.place
    return jsonAnswer({ isDeleted: await store.deleteConversation(owner, conversationId) })
  }
  if (task.do !== 'import') return readLong(store, task)
  const { importTask } = await import('./import-task.ts')
  return importTask(store, task)
}

/** The other side: one after the other, in the order in which they come. */
function answerTasks(port: NonNullable<typeof parentPort>, address: string): void {
  let store: Promise<Store> | undefined
  let last: Promise<void> = Promise.resolve()
  port.on('message', (request: Asked) => {
    last = last.then(() => answerOne(request))
  })

  async function answerOne({ number, task }: Asked): Promise<void> {
    try {
      const opened = await (store ??= openStore(address))
      const answer = await carryOut(opened.within?.(awayMs) ?? opened, task)
      port.postMessage({ number, answer } satisfies WorkerReply, [answer.bytes.buffer as ArrayBuffer])
    } catch (error) {
      port.postMessage({ number, failure: asFailure(error) } satisfies WorkerReply, [])
    }
  }
}

if (!isMainThread && parentPort) {
  const { mark: workerMark, address } = (workerData ?? {}) as { mark?: string; address?: string }
  if (workerMark === mark && address !== undefined) answerTasks(parentPort, address)
}
