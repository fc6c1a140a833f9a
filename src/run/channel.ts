// A queue between a producer and a reader. The producer never waits: a run continues, and is saved, whether or not its
// events are read. Without a reader, values are merged where possible, so that the queue does not outgrow the reply.

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
    batches,
    // Not a generator, which would take several promises for each value.
    [Symbol.asyncIterator]: () => ({ next }),
  }

  function wake(): void {
    if (waiting.length === 0) return
    const readers = waiting
    waiting = []
    for (const reader of readers) reader()
  }

  async function next(): Promise<IteratorResult<T, undefined>> {
    while (first === values.length) {
      if (ended) return { done: true, value: undefined }
      await new Promise<void>((resolve) => waiting.push(resolve))
    }
    const value = values[first++] as T
    if (first === values.length || first > mostApart) {
      values = values.slice(first)
      first = 0
    }
    return { done: false, value }
  }

  async function* batches(): AsyncGenerator<readonly T[]> {
    for (;;) {
      while (first < values.length) {
        const batch = values.slice(first)
        values = []
        first = 0
        yield batch
      }
      if (ended) return
      await new Promise<void>((resolve) => waiting.push(resolve))
    }
  }
}
