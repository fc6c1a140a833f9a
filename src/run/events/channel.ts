// A queue between a producer and a reader. The producer never waits: a run continues, and is saved, whether or not its
// events are read. Without a reader, values are merged where possible, so that the queue does not outgrow the reply.
// Each value is read once. A reader that stops leaves the rest to the next one; one that starts while another waits
// takes its place, as after a lost connection, and the other gets an error.

import { badInput, type SynapseError } from '../../core/error.ts'

export interface Channel<T> extends AsyncIterable<T> {
  push(value: T): void
  end(): void
}

/** Up to this length, values are not merged. */
const mostApart = 1000

interface Waiting<T> {
  resolve(result: IteratorResult<T, undefined>): void
  reject(error: unknown): void
}

/** `join` merges two consecutive values if possible. */
export function channel<T>(join: (a: T, b: T) => T | undefined = () => undefined): Channel<T> {
  /** The waiting ones are those from `first` to `last`; the list is used again, so that it need not grow each time. */
  let values: (T | undefined)[] = []
  let first = 0
  let last = 0
  let ended = false
  /** The calls of the reader that wait for a value, while there is none. */
  let waiting: Waiting<T>[] = []
  let readers = 0

  return {
    push(value) {
      const reader = waiting.length > 0 ? waiting.shift() : undefined
      if (reader) return reader.resolve({ done: false, value })
      const before = last - first > mostApart ? values[last - 1] : undefined
      const joined = before === undefined ? undefined : join(before, value)
      if (joined === undefined) values[last++] = value
      else values[last - 1] = joined
    },
    end() {
      ended = true
      for (const { resolve } of takeWaiting()) resolve({ done: true, value: undefined })
    },
    [Symbol.asyncIterator]() {
      for (const { reject } of takeWaiting()) reject(anotherReader())
      const reader = ++readers
      return { next: () => take(reader) }
    },
  }

  function takeWaiting(): Waiting<T>[] {
    const taken = waiting
    waiting = []
    return taken
  }

  /** One promise for each value: neither a generator nor an async function, which would take several. */
  function take(reader: number): Promise<IteratorResult<T, undefined>> {
    if (reader !== readers) return Promise.reject(anotherReader())
    if (first < last) return Promise.resolve({ done: false, value: takeFirst() })
    if (ended) return Promise.resolve({ done: true, value: undefined })
    return new Promise((resolve, reject) => waiting.push({ resolve, reject }))
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

function anotherReader(): SynapseError {
  return badInput('The events of a run can be read once, and another reader has started.')
}
