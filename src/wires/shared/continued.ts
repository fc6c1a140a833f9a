// What an encoder derives from all messages of a request, continued for the next request of the conversation: nearly
// all of its messages are the same. Only for lists from a log, which never change.

import { sharedLength } from '../../core/lists.ts'
import type { Message } from '../../core/message.ts'

/** Forgets everything that was derived from the message at an index and later ones. */
interface Undoable {
  backTo(index: number): void
}

interface Known<S> {
  key: string
  messages: readonly Message[]
  state: S
}

/**
 * Returns the state for a list of messages. `add` is called for the messages that are new since the last list with the
 * same first message and the same key.
 */
export function continuedState<S extends Undoable>(
  begin: () => S,
): (messages: readonly Message[], key: string, add: (state: S, message: Message, index: number) => void) => S {
  const lists = new WeakMap<Message, Known<S>>()
  return (messages, key, add) => {
    const [first] = messages
    let cached = first && lists.get(first)
    if (cached?.key !== key) cached = { key, messages: [], state: begin() }
    const shared = sharedLength(cached.messages, messages)
    cached.state.backTo(shared)
    for (let index = shared; index < messages.length; index++) add(cached.state, messages[index] as Message, index)
    cached.messages = messages
    if (first) lists.set(first, cached)
    return cached.state
  }
}

/** Something about each call of the messages; the first call of an id counts. */
export class ByCall<V> {
  readonly values = new Map<string, V>()
  readonly #calls: string[] = []
  /** The index of the message of each call. */
  readonly #indexes: number[] = []

  add(callId: string, value: V, index: number): void {
    this.values.set(callId, value)
    this.#calls.push(callId)
    this.#indexes.push(index)
  }

  backTo(index: number): void {
    while ((this.#indexes.at(-1) ?? -1) >= index) {
      this.#indexes.pop()
      this.remove(this.#calls.pop() as string)
    }
  }

  protected remove(callId: string): void {
    this.values.delete(callId)
  }
}
