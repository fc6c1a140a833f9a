// When the requests of a trajectory were made. Recorded times count; where there are none, a recorded cache miss says
// that the pause was longer than the cache lives, and a hit that it was shorter; the rest is drawn, the same in each run.

import { seeded } from './random.ts'

export interface Clues {
  /** The request answers a person, not a tool. */
  byUser: boolean
  time?: number
  /** Tokens of the whole prompt, and of what was read from the cache. */
  prompt?: number
  read?: number
  /** The cache was to live for an hour, not for five minutes. */
  long?: boolean
}

const second = 1000
const minute = 60 * second
const hour = 60 * minute
/** A tool answers within seconds (99 % within 35). */
const toolGap = 5 * second

/** Milliseconds since the first request. */
export function gapsFor(clues: readonly Clues[], seed: number): number[] {
  const random = seeded(seed)
  const times: number[] = []
  let now = 0
  for (const [i, clue] of clues.entries()) {
    const before = clues[i - 1]
    if (before) now += gap(clue, before, random)
    times.push(now)
  }
  return times
}

function gap(clue: Clues, before: Clues, random: () => number): number {
  if (clue.time !== undefined && before.time !== undefined) return Math.max(0, clue.time - before.time)
  const drawn = random()
  const within = random()
  const missed = isMiss(clue, before)
  if (missed === undefined) return clue.byUser ? pause(drawn, within) : toolGap
  if (missed) return clue.long ? pause(0.95, within) : pause(0.71 + 0.29 * drawn, within)
  if (!clue.byUser) return toolGap
  return clue.long ? pause(0.89 * drawn, within) : pause(0.71 * drawn, within)
}

/** Unknown where nothing was recorded, or the prompt before was longer and is no beginning of this one. */
function isMiss({ prompt, read }: Clues, before: Clues): boolean | undefined {
  if (prompt === undefined || read === undefined || before.prompt === undefined) return undefined
  return prompt < before.prompt ? undefined : read < before.prompt / 2
}

/** Of the pauses of people 71 % are under five minutes (median 41 s), 18 % under an hour, the rest longer. */
function pause(drawn: number, within: number): number {
  if (drawn < 0.71) return Math.min(290 * second, 41 * second * Math.exp(2.6 * (within - 0.5)))
  if (drawn < 0.89) return 5 * minute + within * 55 * minute
  return hour + within * 9 * hour
}
