// What was written for the messages of a log is kept beside them, and taken again as long as all that its writing depends
// on is the same: whom it is for, its place, and what it was told about the rest of the request. Messages of the log never
// change, and a run holds on to them; with the first of them goes what was written for all.
//
// What is kept stands in one request after another: it must never be changed, only replaced.

import { placeOf, type Context, type Note } from '../core/context.ts'
import type { Message } from '../core/message.ts'
import type { Target } from './protocol.ts'

/** What the writing of one message may ask about the others. */
type Looks = Record<string, (key: string) => unknown>

export interface Keeping<L extends Looks> {
  /** To be asked through this, so that the answers are remembered. */
  looks: L
  kept: Kept
}

/** What `write` gives for the message at `index`, now or before. Its notes are told again. */
export type Kept = <M extends Message, W>(
  message: M,
  index: number,
  write: (message: M, at: string, index: number) => W,
) => W

interface Memory {
  signature: string
  /** By the index of the message. */
  entries: (Entry | undefined)[]
}

interface Entry {
  message: Message
  place: number
  told: readonly Told[]
  notes: readonly Note[]
  written: unknown
}

interface Told {
  look: string
  key: string
  answer: unknown
}

const none: readonly never[] = []

/** `how` names the way of writing, and everything beside the target that it depends on. */
export function keeping<L extends Looks>(
  context: Context,
  { provider, model, quirks, capabilities }: Target,
  how: string,
  looks: L,
  notes: Note[],
): Keeping<L> {
  if (!context.fromLog) {
    return { looks, kept: (message, index, write) => write(message, placeOf(context, index), index) }
  }
  const { entries } = memoryOf(context.messages, JSON.stringify([how, provider, model, quirks, capabilities]))
  let told: Told[] | undefined
  const remembering = Object.entries(looks).map(([look, ask]) => [
    look,
    (key: string) => {
      const answer = ask(key)
      told?.push({ look, key, answer })
      return answer
    },
  ])

  return {
    looks: Object.fromEntries(remembering) as L,
    kept(message, index, write) {
      const place = context.places?.[index] ?? index
      const before = entries[index]
      if (before?.message === message && before.place === place && holds(before.told, looks)) {
        for (const note of before.notes) notes.push(note)
        return before.written as ReturnType<typeof write>
      }
      told = []
      const first = notes.length
      const written = write(message, placeOf(context, index), index)
      const own = notes.length > first ? notes.slice(first) : none
      entries[index] = { message, place, told: told.length > 0 ? told : none, notes: own, written }
      told = undefined
      return written
    },
  }
}

const memories = new WeakMap<Message, Memory>()

/** Found by the first message, or by the second: a summary that stands first is made anew for each request. */
function memoryOf(messages: readonly Message[], signature: string): Memory {
  const firsts = messages.slice(0, 2)
  const known = firsts.map((message) => memories.get(message)).find((memory) => memory?.signature === signature)
  const memory = known ?? { signature, entries: [] }
  memory.entries.length = Math.max(memory.entries.length, messages.length)
  for (const message of firsts) memories.set(message, memory)
  return memory
}

function holds(told: readonly Told[], looks: Looks): boolean {
  for (const { look, key, answer } of told) if (looks[look]?.(key) !== answer) return false
  return true
}
