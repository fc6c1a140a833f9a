// Stores a reply while it streams, so that a crash in the middle loses at most one batch of it. One commit per batch of
// 250 ms or 4 KiB: a commit per token would be slower than the model. A run whose caller stores its events (the server)
// has none.

import type { ReplyEvent } from '../../core/event.ts'

const batchMs = 250
const batchSize = 4096
/** While a batch is being written the next one grows larger: one commit for more of the reply. */
const lateBatchSize = 16 * batchSize
/** Batches that wait to be written. A reply that arrives faster than it can be stored is read more slowly. */
const mostWaiting = 8

export interface Journal {
  /**
   * Throws once a batch could not be written: a run that may no longer write must stop reading. Returns a promise while
   * writing is slower than reading: the caller waits for it before it reads more.
   */
  push(event: ReplyEvent): Promise<unknown> | undefined
  /**
   * Drops what was not passed to the store yet: the whole reply will be committed. Waits for the current write, whatever
   * its outcome, unless the store writes in order: then the reply can be in the same commit.
   */
  close(): Promise<void>
}

export function journaling(
  write: (offset: number, events: ReplyEvent[]) => Promise<unknown>,
  isOrdered: boolean = false,
): Journal {
  let batch: ReplyEvent[] = []
  /** The last event of the batch, if it is a delta: one object for all deltas that follow each other. */
  let growing: Extract<ReplyEvent, { type: 'part-delta' }> | undefined
  let size = 0
  let offset = 0
  let timer: NodeJS.Timeout | undefined
  let writing: Promise<unknown> = Promise.resolve()
  let failed: { error: unknown } | undefined
  let waiting = 0
  let closed = false

  return {
    push(event) {
      if (failed) throw failed.error
      if (event.type === 'part-delta') {
        if (growing?.index === event.index) growing.text += event.text
        else batch.push((growing = { ...event }))
        size += event.text.length
      } else {
        growing = undefined
        batch.push(event)
        size += 64
      }
      if (size >= (waiting === 0 ? batchSize : lateBatchSize)) flush()
      else timer ??= setTimeout(flush, batchMs)
      return waiting > mostWaiting ? writing.catch(() => {}) : undefined
    },
    async close() {
      closed = true
      clearTimeout(timer)
      if (!isOrdered) await writing.catch(() => {})
    },
  }

  function flush(): void {
    clearTimeout(timer)
    timer = undefined
    const [events, from] = [batch, offset]
    batch = []
    growing = undefined
    size = 0
    offset += events.length
    // The first one at once: the reply must not be committed before it.
    const written = waiting === 0 ? write(from, events) : writing.then(() => (closed ? undefined : write(from, events)))
    waiting++
    writing = written.finally(() => waiting--)
    writing.catch((error: unknown) => (failed = { error }))
  }
}
