// Passes values to one listener. Those that arrive before there is a listener wait for it.

export interface Relay<T> {
  push(value: T): void
  listen(take: (value: T) => void): void
  /** There will be no listener. */
  close(): void
}

export function relay<T>(): Relay<T> {
  let held: T[] = []
  let take = (value: T): void => void held.push(value)
  return {
    push: (value) => take(value),
    listen(listener) {
      take = listener
      for (const value of held) listener(value)
      held = []
    },
    close() {
      take = () => {}
      held = []
    },
  }
}
