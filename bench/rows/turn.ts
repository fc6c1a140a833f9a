// What a turn costs before its request leaves, at any length of a conversation, through the library.

import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { median } from '../measure.ts'
import type { Check, Row } from '../row.ts'

interface Measured {
  cold: number
  warm: number
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
    'A stored conversation (SQLite, default policy) that a process opens and continues: processor time from `send` until the request is handed over. First turn, new process: nothing was compiled before. First turn, running process: it opens another conversation of this length, after sixteen turns in the first one. Next turns: the median of 15 in a new process.',

  run({ quick }) {
    const sizes = Object.keys(bounds)
      .map(Number)
      .slice(0, quick ? 2 : undefined)
    const lines: (string | number)[][] = []
    const checks: Check[] = []
    for (const size of sizes) {
      const { cold, warm, next } = measured(size)
      const usual = median(next)
      lines.push([size, cold.toFixed(0), warm.toFixed(0), usual.toFixed(1)])
      const bound = bounds[size] ?? { first: 0, next: 0 }
      checks.push(
        { what: `ms of a turn at ${size} messages`, value: usual, bound: bound.next, excuse: turnExcuse },
        {
          what: `ms of the first turn at ${size} messages, new process`,
          value: cold,
          bound: bound.first,
          excuse: coldExcuse,
        },
        {
          what: `ms of the first turn at ${size} messages, running process`,
          value: warm,
          bound: bound.first,
          excuse: warmExcuse,
        },
      )
    }
    return Promise.resolve({
      tables: [
        {
          head: ['messages', 'first turn, new process, ms', 'first turn, running process, ms', 'next turns, ms'],
          lines,
        },
      ],
      checks,
      remarks: [
        'The conversation has had a turn before the process that is measured, so that its decisions are recorded.',
      ],
    })
  },
}

const turnExcuse =
  'one durable commit and three dozen short statements take about 0.8 ms; planning, encoding and storing the body about 1.4 ms at 100 messages and 3 ms at 2,000, where everything is sent; the rest is code of a run that fifteen turns do not warm up, and the garbage collector. Folds, their sizes, pairs, media, ids and names of calls are continued from the turn before, which took a third of the planning away. What is left at 2,000 messages looks up the encoded form of each message and joins turns (two fifths of planning), applies the known folds (a fifth), and copies and compares lists of all messages'
const coldExcuse =
  'a new process compiles all that a turn runs, and runs it unoptimised at first: the column for a running process shows how much that is. The compile cache of Node would help, but it is a setting of the whole process, which a library leaves alone. Tried: one file of the package for each wire instead of one for all, which took 10 ms away; texts searched with regular expressions and tables, which are fast from the first call'
const warmExcuse =
  'at 2,000 messages, where everything is sent, the texts of folded turns take three tenths (half of it finds their specific words), reading and parsing 3 MB of JSON a sixth, counting tokens a sixth, encoding, writing and storing the body an eighth, and the garbage collector a tenth; all of it runs for the first or second time. Token counts are not stored with entries: that would save a sixth at most, which does not reach the bound, and every stored count would be wrong once the weights of the estimate change. The texts are not recorded with the decision to fold: decisions are read with every turn, and the results would be read and counted all the same, for the size of the whole history, other policies and branches'

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
