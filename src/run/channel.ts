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
  const values: T[] = []
  let ended = false
  let wake: (() => void) | undefined

  return {
    push(value) {
      const last = values.length > mostApart ? values.at(-1) : undefined
      const joined = last === undefined ? undefined : join(last, value)
      if (joined === undefined) values.push(value)
      else values[values.length - 1] = joined
      wake?.()
    },
    end() {
      ended = true
      wake?.()
    },
    batches,
    async *[Symbol.asyncIterator]() {
      for await (const batch of batches()) yield* batch
    },
  }

  async function* batches(): AsyncGenerator<readonly T[]> {
    for (;;) {
      while (values.length > 0) yield values.splice(0)
      if (ended) return
      await new Promise<void>((resolve) => (wake = resolve))
      wake = undefined
    }
  }
}
