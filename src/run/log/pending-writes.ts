// Writes of a run that are not durable yet. A store that writes in order commits those of one turn of the event loop
// together: what is written before a request is planned goes into the commit that records the request, and a reply with
// calls into the one that records the start of the first. No write is reported, no request is sent and no tool is run
// before it is durable.

import type { Entry } from '../../core/log.ts'
import type { Message } from '../../core/message.ts'
import { uuidv7 } from '../../store/ids.ts'
import { ownMessage } from '../../store/new-entry.ts'
import type { NewEntry, Store } from '../../store/store.ts'

export class PendingWrites {
  #last: Promise<unknown> | undefined
  readonly #clock: NonNullable<Store['ordered']>

  constructor(clock: NonNullable<Store['ordered']>) {
    this.#clock = clock
  }

  /** `onDurable` is called once the write is durable, after the callbacks of earlier writes. */
  add<T>(write: Promise<T>, onDurable: (result: T) => void = () => {}): void {
    const before = this.#last
    this.#last = Promise.all([write, before]).then(([result]) => onDurable(result))
    // Reported when it is awaited.
    this.#last.catch(() => {})
  }

  /** Waits until all are durable and reported. Throws the error of the first that failed. */
  async settled(): Promise<void> {
    const last = this.#last
    await last
    if (this.#last === last) this.#last = undefined
  }

  /** The entry that a message will become after these; it can be continued from before it is written. */
  entryAfter<M extends Message>(
    history: readonly Entry[],
    conversationId: string,
    given: M,
    id: string = uuidv7(this.#clock.now()),
  ): { entry: Entry; fresh: NewEntry<M> } {
    const at = new Date(this.#clock.now()).toISOString()
    const parentId = history.at(-1)?.id ?? null
    // Nothing is shared with the caller.
    const message = ownMessage(given)
    const entry = { id, conversationId, parentId, depth: history.length, message, at }
    return { entry, fresh: { id, message, parentId, at } }
  }
}
