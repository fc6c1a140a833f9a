// How much memory a long conversation holds while it continues.

import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { longHistory } from '../history.ts'
import type { Row } from '../row.ts'

interface Measured {
  before: number
  after: number
  rss: number
}

export const memory: Row = {
  name: 'memory',
  about:
    'A stored conversation that is opened and continued by a new process: its heap after ten turns, and after twenty more.',

  run({ quick }) {
    const sizes = quick ? [200, 2000] : [200, 2000, 20_000]
    const results = sizes.map((size) => ({ size, ...measured(size) }))
    const bytes = JSON.stringify(longHistory(sizes.at(-1) ?? 0)).length
    const growth = Math.max(0, ...results.slice(-1).map((one) => one.after - one.before)) / bytes
    return Promise.resolve({
      tables: [
        {
          head: ['messages', 'heap held, MB', 'after 20 more turns, MB', 'resident at the end, MB'],
          lines: results.map(({ size, before, after, rss }) => [
            size,
            (before / 1e6).toFixed(1),
            (after / 1e6).toFixed(1),
            Math.round(rss / 1e6),
          ]),
        },
      ],
      checks: [
        {
          what: `what 20 turns add to the heap at ${sizes.at(-1)} messages, as a share of the history (${(bytes / 1e6).toFixed(0)} MB)`,
          value: growth,
          bound: 0.1,
        },
      ],
      remarks: [
        'Between two turns the conversation keeps its history and its encoded form in memory, so that neither is made again. What is resident at the end is mostly memory that the collector has not returned yet.',
      ],
    })
  },
}

function measured(messages: number): Measured {
  const child = join(import.meta.dirname, '..', 'memory', 'child.ts')
  const output = execFileSync(process.execPath, ['--expose-gc', child, String(messages)], { encoding: 'utf8' })
  return JSON.parse(output) as Measured
}
