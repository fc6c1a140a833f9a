// How much memory a long conversation holds while it goes on.

import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import type { Row } from '../row.ts'

interface Measured {
  before: number
  after: number
  perTurn: number
  rss: number
}

export const memory: Row = {
  name: 'memory',
  about:
    'A stored conversation that is opened and continued by a process of its own: the heap that is held after a few turns, and what every further turn adds to it.',

  run({ quick }) {
    const sizes = quick ? [200, 2000] : [200, 2000, 20_000]
    const results = sizes.map((size) => ({ size, ...measured(size) }))
    const largest = results.at(-1)
    return Promise.resolve({
      tables: [
        {
          head: ['messages', 'heap held, MB', 'added per turn, KB', 'resident at the end, MB'],
          lines: results.map(({ size, before, perTurn, rss }) => [
            size,
            (before / 1e6).toFixed(1),
            (perTurn / 1e3).toFixed(1),
            Math.round(rss / 1e6),
          ]),
        },
      ],
      checks: [
        {
          what: `KB that a turn adds at ${largest?.size ?? 0} messages (two short messages, their exchange)`,
          value: Math.max(0, largest?.perTurn ?? Number.NaN) / 1e3,
          bound: 20,
        },
      ],
    })
  },
}

function measured(messages: number): Measured {
  const child = join(import.meta.dirname, '..', 'memory', 'child.ts')
  const said = execFileSync(process.execPath, ['--expose-gc', child, String(messages)], { encoding: 'utf8' })
  return JSON.parse(said) as Measured
}
