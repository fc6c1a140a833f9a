// Large media are kept apart from their messages; before a request is written they are put back.

import type { Entry } from '../core/log.ts'
import type { Message } from '../core/message.ts'
import { attachMedia } from '../store/media.ts'
import type { Store } from '../store/store.ts'

/** Messages of the log never change, so what was put back once stays so. */
const wholes = new WeakMap<Message, Message>()

export async function loadMedia(store: Store, owner: string, history: readonly Entry[]): Promise<Entry[]> {
  return Promise.all(
    history.map(async (entry) => {
      let whole = wholes.get(entry.message)
      if (!whole) {
        ;[whole = entry.message] = await attachMedia([entry.message], (sha256) => store.blob(owner, sha256))
        wholes.set(entry.message, whole)
      }
      return whole === entry.message ? entry : { ...entry, message: whole }
    }),
  )
}
