// A cache for the encoded form of log messages, used as long as all its dependencies are the same: the target, the
// position, and the facts about the rest of the request. Messages of the log never change, and a run keeps them in
// memory; the cache is released with the first of them.
//
// Cached values are shared by later requests: never mutate them, replace them.

import { placeOf, type Context, type Note } from '../../core/context.ts'
import type { Message } from '../../core/message.ts'
import type { Target } from '../wire.ts'

/** What the encoding of one message may look up about the others. */
type Lookups = Record<string, (key: string) => unknown>

export interface EncodeCache<L extends Lookups> {
  /** Use this for lookups, so that the answers are recorded. */
  lookups: L
  cached: Cached
}

/** The result of `write` for the message at `index`, new or cached. Its notes are reported again. */
export type Cached = <M extends Message, W>(
  message: M,
  index: number,
  write: (message: M, at: string, index: number) => W,
) => W

interface CachedEntries {
  signature: string
  /** By the index of the message. */
  entries: (Entry | undefined)[]
}

interface Entry {
  message: Message
  place: number
  dependencies: readonly Dependency[]
  notes: readonly Note[]
  written: unknown
}

interface Dependency {
  lookup: string
  key: string
  answer: unknown
}

const none: never[] = []

/** `how` identifies the encoder, and everything else that its output depends on besides the target. */
export function encodeCache<L extends Lookups>(
  context: Context,
  { provider, model, quirks, capabilities }: Target,
  how: string,
  lookups: L,
  notes: Note[],
): EncodeCache<L> {
  if (!context.fromLog) {
    return { lookups, cached: (message, index, write) => write(message, placeOf(context, index), index) }
  }
  const { entries } = cacheFor(context.messages, JSON.stringify([how, provider, model, quirks, capabilities]))
  let isWriting = false
  let dependencies: Dependency[] = none
  const remembering = Object.entries(lookups).map(([lookup, ask]) => [
    lookup,
    (key: string) => {
      const answer = ask(key)
      if (!isWriting) return answer
      const dependency = { lookup, key, answer }
      if (dependencies === none) dependencies = [dependency]
      else dependencies.push(dependency)
      return answer
    },
  ])

  return {
    lookups: Object.fromEntries(remembering) as L,
    cached(message, index, write) {
      const place = context.places?.[index] ?? index
      const entry = entries[index]
      if (entry?.message === message && entry.place === place && isCurrent(entry.dependencies, lookups)) {
        for (const note of entry.notes) notes.push(note)
        return entry.written as ReturnType<typeof write>
      }
      isWriting = true
      const first = notes.length
      const written = write(message, placeOf(context, index), index)
      const newNotes = notes.length > first ? notes.slice(first) : none
      entries[index] = { message, place, dependencies, notes: newNotes, written }
      isWriting = false
      dependencies = none
      return written
    },
  }
}

const caches = new WeakMap<Message, CachedEntries>()

/** Found by the first message, or by the second: a summary at the beginning is made again for each request. */
function cacheFor(messages: readonly Message[], signature: string): CachedEntries {
  const firsts = messages.slice(0, 2)
  const existing = firsts.map((message) => caches.get(message)).find((memory) => memory?.signature === signature)
  const memory = existing ?? { signature, entries: [] }
  memory.entries.length = Math.max(memory.entries.length, messages.length)
  for (const message of firsts) caches.set(message, memory)
  return memory
}

function isCurrent(dependencies: readonly Dependency[], lookups: Lookups): boolean {
  for (const { lookup, key, answer } of dependencies) if (lookups[lookup]?.(key) !== answer) return false
  return true
}
