// A queue between one who does and one who watches. The doer never waits: a run continues, and is saved, whether or not
// anybody reads its events. Where no one does, what can be joined is joined: the queue must not outgrow the reply.

export interface Channel<T> extends AsyncIterable<T> {
  push(value: T): void
  end(): void
}

/** Up to here each value waits by itself. */
const mostApart = 1000

/** `join` makes one of two values that follow each other, where that is possible. */
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
    async *[Symbol.asyncIterator]() {
      for (;;) {
        while (values.length > 0) yield* values.splice(0)
        if (ended) return
        await new Promise<void>((resolve) => (wake = resolve))
        wake = undefined
      }
    },
  }
}
