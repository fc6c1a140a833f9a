// A queue between one who does and one who watches. The doer never waits: a run continues, and is saved, whether or not
// anybody reads its events.

export interface Channel<T> extends AsyncIterable<T> {
  push(value: T): void
  end(): void
}

export function channel<T>(): Channel<T> {
  const values: T[] = []
  let ended = false
  let wake: (() => void) | undefined

  return {
    push(value) {
      values.push(value)
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
