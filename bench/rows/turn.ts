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
  'one durable commit and three dozen short statements take about 0.8 ms; most of the rest is code that fifteen turns do not warm up (the fastest of them take three quarters of the median). At 2,000 messages, where everything is sent, lists of all messages are made again (views, sizes, elements), and a fifth of the time is the garbage collector'
const firstExcuse =
  'a new process compiles all that a turn runs: at 100 messages a second conversation of the same process takes 15 ms. At 2,000 messages, where everything is sent, half of the rest makes the texts of folded turns again, for which every result is read. At 20,000 messages a quarter is reading the ids and authors of what a summary replaces. Tried: one file of the package for each wire instead of one for all, which took 10 ms away. Left: to record the texts of folds with the decision, so that the results need not be read'

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
