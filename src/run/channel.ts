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
  /** The waiting ones are those from `first` to `last`; the list is used again, so that it need not grow each time. */
  let values: (T | undefined)[] = []
  let first = 0
  let last = 0
  let ended = false
  let waiting: (() => void)[] = []
  let readers = 0

  return {
    push(value) {
      const before = last - first > mostApart ? values[last - 1] : undefined
      const joined = before === undefined ? undefined : join(before, value)
      if (joined === undefined) values[last++] = value
      else values[last - 1] = joined
      wake()
    },
    end() {
      ended = true
      wake()
    },
    async *batches() {
      const reader = begin()
      for (;;) {
        checkIsLast(reader)
        if (first < last) yield takeAll()
        else if (ended) return
        else await newValues()
      }
    },
    [Symbol.asyncIterator]() {
      const reader = begin()
      return { next: () => take(reader) }
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

  function checkIsLast(reader: number): void {
    if (reader !== readers) throw badInput('The events of a run can be read once, and another reader has started.')
  }

  function newValues(): Promise<void> {
    return new Promise((resolve) => waiting.push(resolve))
  }

  function takeAll(): T[] {
    const batch = values.slice(first, last) as T[]
    values = []
    first = last = 0
    return batch
  }

  /** Neither a generator nor an async function: these would take several promises for each value. */
  function take(reader: number): Promise<IteratorResult<T, undefined>> {
    if (first < last && reader === readers) return Promise.resolve({ done: false, value: takeFirst() })
    if (ended && reader === readers) return Promise.resolve({ done: true, value: undefined })
    return takeLater(reader)
  }

  async function takeLater(reader: number): Promise<IteratorResult<T, undefined>> {
    checkIsLast(reader)
    await newValues()
    return take(reader)
  }

  function takeFirst(): T {
    const value = values[first] as T
    values[first++] = undefined
    if (first === last) first = last = 0
    else if (first > mostApart) {
      values = values.slice(first, last)
      last -= first
      first = 0
    }
    return value
  }
}
