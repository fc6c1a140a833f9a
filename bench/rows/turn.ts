// What a turn costs before its request leaves, at any length of a conversation, through the library.

import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { median } from '../measure.ts'
import type { Check, Row } from '../row.ts'

interface Measured {
  first: number
  next: number[]
}

/** In milliseconds of the machine that they were set on. */
const bounds: Record<number, { first: number; next: number }> = {
  100: { first: 20, next: 3 },
  2000: { first: 40, next: 5 },
  20_000: { first: 150, next: 10 },
  100_000: { first: 500, next: 30 },
}

export const turn: Row = {
  name: 'turn',
  about:
    'A stored conversation (SQLite, default policy) that a new process opens and continues: processor time from `send` until the request is handed over, for the first turn and the median of the next 15.',

  run({ quick }) {
    const sizes = Object.keys(bounds)
      .map(Number)
      .slice(0, quick ? 2 : undefined)
    const lines: (string | number)[][] = []
    const checks: Check[] = []
    for (const size of sizes) {
      const { first, next } = measured(size)
      const usual = median(next)
      lines.push([size, first.toFixed(0), usual.toFixed(1)])
      const bound = bounds[size] ?? { first: 0, next: 0 }
      checks.push(
        { what: `ms of a turn at ${size} messages`, value: usual, bound: bound.next, excuse: turnExcuse },
        { what: `ms of the first turn at ${size} messages`, value: first, bound: bound.first, excuse: firstExcuse },
      )
    }
    return Promise.resolve({
      tables: [{ head: ['messages', 'first turn, ms', 'next turns, ms'], lines }],
      checks,
      remarks: [
        'The conversation has had a turn before the process that is measured, so that its decisions are recorded.',
      ],
    })
  },
}

const turnExcuse =
  'up to 2,000 messages it is two durable commits, a dozen statements and code that fifteen turns do not warm up (the last of them take two thirds of the first); at 100,000 passes over all messages (sizes, folds, places) are most of it'
const firstExcuse =
  'a new process compiles all that a turn runs, which is nearly all of it at 100 messages; at 2,000 a third makes the texts of folded turns again; beyond, the whole history is read (selecting, checking and parsing 100,000 messages alone takes 1.1 s of processor). Tried: the size of the whole history continues from the last request, and the guard against repeats begins at the last user message, which halved it. Left: to load only what comes after a recorded cut, which needs a history whose beginning is not there'

function measured(size: number): Measured {
  const folder = mkdtempSync(join(tmpdir(), 'synapse-bench-'))
  const child = join(import.meta.dirname, '..', 'api', 'turn.ts')
  const file = join(folder, 'log.db')
  try {
    execFileSync(process.execPath, [child, file, String(size)])
    return JSON.parse(execFileSync(process.execPath, [child, file], { encoding: 'utf8' })) as Measured
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
