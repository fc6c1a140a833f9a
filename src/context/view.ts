// What is to be sent so far: the messages, where each of them stands in the history, and what was said about the rest.
// Policies turn one view into another; none of them touches a message of the log.

import type { Note } from '../core/context.ts'
import type { Message } from '../core/message.ts'
import { withoutDeepInputs } from './deep-inputs.ts'
import { pair } from './pair.ts'

export interface View {
  messages: Message[]
  /** The place of each message in the history; -1 = added. */
  places: number[]
  notes: Note[]
}

/** The whole history, put in pairs first: then every cut between two tool turns leaves a valid history. */
export function wholeView(history: readonly Message[], first = 0): View {
  const notes: Note[] = []
  const paired = pair(withoutDeepInputs(history, first, notes), first)
  return notes.length === 0 ? paired : { ...paired, notes: [...notes, ...paired.notes] }
}

/** How a note names the messages from one index of a view to another. */
export function placesFrom(view: View, first: number, last: number): string {
  let [start, end] = [first, last]
  while (start < last && (view.places[start] ?? -1) < 0) start++
  while (end > first && (view.places[end] ?? -1) < 0) end--
  const [from, to] = [placed(view, start) ?? first, placed(view, end) ?? last]
  return from === to ? `messages[${from}]` : `messages[${from}..${to}]`
}

function placed({ places }: View, index: number): number | undefined {
  const place = places[index] ?? -1
  return place >= 0 ? place : undefined
}
