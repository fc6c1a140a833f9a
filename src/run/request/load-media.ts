// Large media are stored separately from their messages; before a request is written they are put back.

import type { Entry } from '../../core/log.ts'
import { alongPath } from '../../context/along-path.ts'
import { attachMedia, carriesMedia } from '../../store/media.ts'
import type { Store } from '../../store/store.ts'

/** Entries of the log never change, so restored media are reused. */
const wholes = new WeakMap<Entry, Entry>()

/** The indexes of entries with media. */
export const mediaOn = alongPath<Entry, number[]>(
  () => [],
  (places, { message }, place) => void (carriesMedia(message) && places.push(place)),
)

/** The same list if there are no media. */
export async function loadMedia(store: Store, owner: string, history: readonly Entry[]): Promise<readonly Entry[]> {
  const places = mediaOn(history)
  if (places.length === 0) return history
  const loaded = [...history]
  await Promise.all(
    places.map(async (place) => {
      const entry = history[place] as Entry
      let whole = wholes.get(entry)
      if (!whole) {
        const [message = entry.message] = await attachMedia([entry.message], (sha256) => store.blob(owner, sha256))
        wholes.set(entry, (whole = { ...entry, message }))
      }
      loaded[place] = whole
    }),
  )
  return loaded
}
