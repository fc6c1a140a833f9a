// What to send, decided: all policies over long histories.

import { estimateMessage } from '../../src/context/count.ts'
import type { Message } from '../../src/core/message.ts'
import { planned } from '../planned.ts'
import { longHistory } from '../history.ts'
import { timeInTurn, type Contender } from '../measure.ts'
import { ratio, type Row } from '../row.ts'

export const plan: Row = {
  name: 'plan',
  about:
    'The view that `classic` and `economy` leave of a history, without writing it; LangChain `trimMessages` beside it.',

  async run({ quick }) {
    const sizes = quick ? [200, 2000] : [200, 2000, 20_000]
    const lines: (string | number)[][] = []
    const ms = new Map<number, number>()
    let lead = Number.NaN
    for (const size of sizes) {
      const history = longHistory(size)
      for (const message of history) estimateMessage(message)
      const timed = await timeInTurn([
        { name: 'classic', run: () => planned(history, 'classic') },
        { name: 'economy', run: () => planned(history, 'economy') },
        await trimming(quick, history),
      ])
      const ours = Math.max(timed[0]?.ms ?? Number.NaN, timed[1]?.ms ?? Number.NaN)
      ms.set(size, ours)
      if (timed[2]?.ms !== undefined) lead = timed[2].ms / ours
      for (const one of timed) {
        lines.push([
          size,
          one.name,
          one.ms === undefined ? (one.why ?? '–') : Number(one.ms.toPrecision(3)),
          ratio(one.ms, ours),
        ])
      }
    }
    const [small = 0, large = 0] = sizes.slice(-2)
    return {
      tables: [{ head: ['messages', 'who', 'ms', '× ours'], lines }],
      checks: [
        {
          what: `growth from ${small} to ${large} messages, per message`,
          value: ((ms.get(large) ?? 0) / (ms.get(small) ?? 1)) * (small / large),
          bound: 1.5,
        },
        ...(quick
          ? []
          : [
              { what: 'milliseconds at 20,000 messages', value: ms.get(20_000) ?? Number.NaN, bound: 5 },
              { what: 'times faster than LangChain at 2,000', value: lead, bound: 100, atLeast: true },
            ]),
      ],
    }
  },
}

/** None in a quick run: that one does without peers. */
async function trimming(quick: boolean, history: readonly Message[]): Promise<Contender> {
  const name = 'LangChain trimMessages'
  if (quick) return { name, why: 'not installed' }
  if (history.length > 2000) return { name, why: 'seconds per call' }
  const { trimMessages } = await import('@langchain/core/messages')
  const { langchainMessages } = await import('../peers/langchain.ts')
  const theirs = langchainMessages(history)
  const settings = { maxTokens: 20, strategy: 'last', includeSystem: true, startOn: 'human' } as const
  return { name, run: () => trimMessages(theirs, { ...settings, tokenCounter: (list) => list.length }) }
}
