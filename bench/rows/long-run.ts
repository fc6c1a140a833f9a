// A run of many steps with large results: what a step costs later, and what the conversation takes in memory.

import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Check, Row } from '../row.ts'

interface Measured {
  times: number[]
  sent: number[]
  held: number
  log: number
}

const width = 40

export const longRun: Row = {
  name: 'long-run',
  about:
    'One run with 400 tool calls whose results have 30 KB, through the library, default policy: processor time per step around step 100 and at the end, what was sent then, and what the process holds after it (heap and buffers, after collection), against the size of the log.',

  run({ quick }) {
    const steps = quick ? 200 : 400
    const lines: (string | number)[][] = []
    const checks: Check[] = []
    for (const store of ['memory', 'SQLite'] as const) {
      const { times, sent, held, log } = measured(steps, store === 'SQLite')
      const early = perStep(times, 80)
      const late = perStep(times, steps - width)
      lines.push([
        store,
        early.toFixed(2),
        late.toFixed(2),
        Math.round(average(sent, 80) / 1000),
        Math.round(average(sent, steps - width) / 1000),
        (log / 1e6).toFixed(1),
        (held / 1e6).toFixed(1),
      ])
      checks.push(
        { what: `${store}: the last steps / steps around 100`, value: late / early, bound: 1.5, excuse: growing },
        { what: `${store}: memory held / size of the log`, value: held / log, bound: 3, excuse: holding },
      )
    }
    const head = [
      'store',
      'step 100, ms',
      'last steps, ms',
      'sent then, kB',
      'sent at the end, kB',
      'log, MB',
      'held, MB',
    ]
    return Promise.resolve({ tables: [{ head, lines }], checks })
  },
}

const growing = 'what is sent grows with the folded turns that stay in it, and each of them is compared again'
const holding =
  'a result is in the store and in the message of the run, which share its text in memory, and in the pieces of the bodies that carried it; about 10 MB are the code that a first run loads. Tried: pieces that end where a message does, so that a turn that moves is not stored again (70 to 58 MB after 200 steps)'

/** Over some steps, as the clock of the processor ticks only every few milliseconds. */
function perStep(times: readonly number[], from: number): number {
  return ((times[from + width] ?? 0) - (times[from] ?? 0)) / width
}

function average(numbers: readonly number[], from: number): number {
  return numbers.slice(from, from + width).reduce((sum, one) => sum + one, 0) / width
}

function measured(steps: number, durable: boolean): Measured {
  const folder = mkdtempSync(join(tmpdir(), 'synapse-bench-'))
  const child = join(import.meta.dirname, '..', 'api', 'long-run.ts')
  const args = ['--no-warnings', '--expose-gc', child, String(steps), ...(durable ? [join(folder, 'log.db')] : [])]
  try {
    return JSON.parse(execFileSync(process.execPath, args, { encoding: 'utf8' })) as Measured
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
