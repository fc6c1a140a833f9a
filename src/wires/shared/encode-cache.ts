// A cache for the encoded form of log messages, used as long as all its dependencies are the same: the target, the
// position, and the facts about the rest of the request. Messages of the log never change, and a run keeps them in
// memory; the cache is released with the first of them.
//
// Cached values are shared by later requests: never mutate them, replace them.

import { placeOf, type Context, type Note } from '../../core/context.ts'
import { sharedLength } from '../../core/lists.ts'
import type { Message } from '../../core/message.ts'
import type { Target } from '../wire.ts'

/** What the encoding of one message may look up about the others. */
type Lookups = Record<string, (key: string) => unknown>

export interface EncodeCache<L extends Lookups> {
  /** Use this for lookups, so that the answers are recorded. */
  lookups: L
  cached: Cached
  /** The same for all messages, without a look at those at the beginning that are as they were. */
  cachedAll<W>(write: (message: Message, at: string, index: number) => W): W[]
  /** The same for the system prompt, which is there before the first message. */
  cachedSystem<W>(texts: readonly string[], write: () => W): W
}

/** The result of `write` for the message at `index`, new or cached. Its notes are reported again. */
export type Cached = <M extends Message, W>(
  message: M,
  index: number,
  write: (message: M, at: string, index: number) => W,
) => W

/** By the index of the message. Lists of one thing each, because a request with many messages looks at all of them. */
interface CachedEntries {
  signature: string
  messages: Message[]
  places: number[]
  written: unknown[]
  /** Only for those that have some. */
  conditions: ({ dependencies: readonly Dependency[]; notes: readonly Note[] } | undefined)[]
  system: { texts: readonly string[]; notes: readonly Note[]; written: unknown } | undefined
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
    return {
      lookups,
      cached: (message, index, write) => write(message, placeOf(context, index), index),
      cachedAll: (write) => context.messages.map((message, index) => write(message, placeOf(context, index), index)),
      cachedSystem: (_texts, write) => write(),
    }
  }
  const memory = cacheFor(context.messages, JSON.stringify([how, provider, model, quirks, capabilities]))
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

  const cached: Cached = (message, index, write) => {
    const place = context.places?.[index] ?? index
    if (memory.messages[index] === message && memory.places[index] === place) {
      const conditions = memory.conditions[index]
      if (!conditions || isCurrent(conditions.dependencies, lookups)) {
        if (conditions) for (const note of conditions.notes) notes.push(note)
        return memory.written[index] as ReturnType<typeof write>
      }
    }
    isWriting = true
    const first = notes.length
    const written = write(message, placeOf(context, index), index)
    const newNotes = notes.length > first ? notes.slice(first) : none
    memory.messages[index] = message
    memory.places[index] = place
    memory.written[index] = written
    const isPlain = dependencies === none && newNotes === none
    memory.conditions[index] = isPlain ? undefined : { dependencies, notes: newNotes }
    isWriting = false
    dependencies = none
    return written
  }

  return {
    lookups: Object.fromEntries(remembering) as L,
    cached,
    cachedAll<W>(write: (message: Message, at: string, index: number) => W) {
      const { messages } = context
      const shared = sharedPlaces(memory, context)
      const all = memory.written.slice(0, shared) as W[]
      for (let index = 0; index < shared; index++) {
        if (memory.conditions[index]) all[index] = cached(messages[index] as Message, index, write)
      }
      for (let index = shared; index < messages.length; index++) {
        all.push(cached(messages[index] as Message, index, write))
      }
      return all
    },
    cachedSystem(texts, write) {
      const { system } = memory
      if (system?.texts.length === texts.length && system.texts.every((text, i) => text === texts[i])) {
        notes.push(...system.notes)
        return system.written as ReturnType<typeof write>
      }
      const first = notes.length
      const written = write()
      memory.system = { texts, notes: notes.slice(first), written }
      return written
    },
  }
}

const caches = new WeakMap<Message, CachedEntries>()

/** Found by the first message, or by the second: a summary at the beginning is made again for each request. */
function cacheFor(messages: readonly Message[], signature: string): CachedEntries {
  const firsts = messages.slice(0, 2)
  const existing = firsts.map((message) => caches.get(message)).find((memory) => memory?.signature === signature)
  const memory = existing ?? {
    signature,
    messages: [],
    places: [],
    written: [],
    conditions: [],
    system: undefined,
  }
  for (const message of firsts) caches.set(message, memory)
  return memory
}

/** How many messages at the beginning are the same as before, and at the same positions. */
function sharedPlaces({ messages, places }: CachedEntries, context: Context): number {
  const shared = sharedLength(messages, context.messages)
  let index = 0
  while (index < shared && places[index] === (context.places?.[index] ?? index)) index++
  return index
}

function isCurrent(dependencies: readonly Dependency[], lookups: Lookups): boolean {
  for (const { lookup, key, answer } of dependencies) if (lookups[lookup]?.(key) !== answer) return false
  return true
}
