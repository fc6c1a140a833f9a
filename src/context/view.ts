// What is to be sent so far: the messages, where each of them stands in the history, and what was said about the rest.
// Policies turn one view into another; none of them touches a message of the log.

import type { Note } from '../core/context.ts'
import type { Message } from '../core/message.ts'
import { pair } from './pair.ts'

export interface View {
  messages: Message[]
  /** The place of each message in the history; -1 = added. */
  places: number[]
  notes: Note[]
}

/** The whole history, put in pairs first: then every cut between two tool turns leaves a valid history. */
export function wholeView(history: readonly Message[], first = 0): View {
  return pair(history, first)
}

/** How a note names the messages from one index of a view to another. */
export function placesFrom(view: View, first: number, last: number): string {
  const places = view.places.slice(first, last + 1).filter((place) => place >= 0)
  const [from, to] = [places[0] ?? first, places.at(-1) ?? last]
  return from === to ? `messages[${from}]` : `messages[${from}..${to}]`
}
