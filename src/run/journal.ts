// Keeps a reply while it streams, so that a crash in the middle costs at most one batch of it. One commit per batch of
// 250 ms or 4 KiB: a commit per token would be slower than the model.

import type { ReplyEvent } from '../core/event.ts'

const batchMs = 250
const batchSize = 4096

export interface Journal {
  /** Throws once a batch could not be written: a run that may not write any more must not continue listening. */
  push(event: ReplyEvent): void
  /** Waits for what is being written, whatever comes of it, and drops the rest: all of the reply is to be committed. */
  close(): Promise<void>
}

export function journaling(write: (offset: number, events: ReplyEvent[]) => Promise<unknown>): Journal {
  let batch: ReplyEvent[] = []
  let size = 0
  let offset = 0
  let timer: NodeJS.Timeout | undefined
  let writing: Promise<unknown> = Promise.resolve()
  let failed: { error: unknown } | undefined

  return {
    push(event) {
      if (failed) throw failed.error
      batch.push(event)
      size += event.type === 'part-delta' ? event.text.length : 64
      if (size >= batchSize) flush()
      else timer ??= setTimeout(flush, batchMs)
    },
    async close() {
      clearTimeout(timer)
      await writing.catch(() => {})
    },
  }

  function flush(): void {
    clearTimeout(timer)
    timer = undefined
    const [events, from] = [batch, offset]
    batch = []
    size = 0
    offset += events.length
    writing = writing.then(() => write(from, events))
    writing.catch((error: unknown) => (failed = { error }))
  }
}
