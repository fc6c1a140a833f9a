// A queue between a producer and a reader. The producer never waits: a run continues, and is saved, whether or not its
// events are read. Without a reader, values are merged where possible, so that the queue does not outgrow the reply.
// Each value is read once. A reader that stops leaves the rest to the next one; one that starts while another waits
// takes its place, as after a lost connection, and the other gets an error.

import { badInput } from '../core/error.ts'

export interface Channel<T> extends AsyncIterable<T> {
  push(value: T): void
  end(): void
  /** All values that are there, each time the reader asks: for one that can handle several at once. */
  batches(): AsyncIterable<readonly T[]>
}

/** Up to this length, values are not merged. */
const mostApart = 1000

/** `join` merges two consecutive values if possible. */
export function channel<T>(join: (a: T, b: T) => T | undefined = () => undefined): Channel<T> {
  let values: T[] = []
  /** Those before it were read. */
  let first = 0
  let ended = false
  let waiting: (() => void)[] = []
  let readers = 0

  return {
    push(value) {
      const last = values.length - first > mostApart ? values.at(-1) : undefined
      const joined = last === undefined ? undefined : join(last, value)
      if (joined === undefined) values.push(value)
      else values[values.length - 1] = joined
      wake()
    },
    end() {
      ended = true
      wake()
    },
    async *batches() {
      const reader = begin()
      while (await more(reader)) {
        const batch = values.slice(first)
        values = []
        first = 0
        yield batch
      }
    },
    // Not a generator, which would take several promises for each value.
    [Symbol.asyncIterator]() {
      const reader = begin()
      return { next: () => next(reader) }
    },
  }

  function wake(): void {
    if (waiting.length === 0) return
    const woken = waiting
    waiting = []
    for (const one of woken) one()
  }

  function begin(): number {
    wake()
    return ++readers
  }

  /** Waits for values; false: there will be none. */
  async function more(reader: number): Promise<boolean> {
    for (;;) {
      if (reader !== readers) throw badInput('What a run emits can be read once, and another reader has started.')
      if (first < values.length) return true
      if (ended) return false
      await new Promise<void>((resolve) => waiting.push(resolve))
    }
  }

  async function next(reader: number): Promise<IteratorResult<T, undefined>> {
    // What is there already needs no further promise.
    const isThere = first < values.length && reader === readers
    if (!isThere && !(await more(reader))) return { done: true, value: undefined }
    const value = values[first++] as T
    if (first === values.length || first > mostApart) {
      values = values.slice(first)
      first = 0
    }
    return { done: false, value }
  }
}
