// What to send, decided: all policies over long histories.

import type { BaseMessage } from '@langchain/core/messages'
import { estimateMessage } from '../../src/context/count.ts'
import type { Message } from '../../src/core/message.ts'
import { planned } from '../planned.ts'
import { longHistory } from '../history.ts'
import { median, timeInTurn, type Contender } from '../measure.ts'
import { ratio, type Row } from '../row.ts'

export const plan: Row = {
  name: 'plan',
  about:
    'What the presets `classic` and `economy` leave of a history, without writing it, in a conversation that continues; compared with LangChain `trimMessages`, which also keeps the last 20 messages, and with `pruneMessages` of the AI SDK, which removes tool calls and results before the last 20 messages and counts nothing.',

  async run({ quick }) {
    const sizes = quick ? [200, 2000] : [200, 2000, 20_000]
    const lines: (string | number)[][] = []
    const ms = new Map<number, number>()
    let lead = Number.NaN
    for (const size of sizes) {
      const history = longHistory(size)
      for (const message of history) estimateMessage(message)
      const added = longHistory(size + 2).slice(size)
      const next = () => [...history, ...added.map((message) => ({ ...message }))]
      const timed = await timeInTurn([
        { name: 'classic', run: () => planned(next(), 'classic') },
        { name: 'economy', run: () => planned(next(), 'economy') },
        ...(await trimming(quick, history)),
      ])
      const ours = Math.max(timed[0]?.ms ?? Number.NaN, timed[1]?.ms ?? Number.NaN)
      ms.set(size, ours)
      if (timed[2]?.ms !== undefined) lead = timed[2].ms / ours
      timed.push({ name: 'economy, at first sight', ms: firstSight(history) })
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
          excuse: 'a pass over 2,000 messages stays in the cache of the processor, one over 20,000 does not',
        },
        ...(quick
          ? []
          : [
              { what: 'milliseconds at 20,000 messages', value: ms.get(20_000) ?? Number.NaN, bound: 5, excuse },
              {
                what: 'times faster than LangChain by number, at 20,000',
                value: lead,
                bound: 100,
                atLeast: true,
                excuse,
              },
            ]),
      ],
    }
  },
}

const excuse =
  'the last two messages are new objects each time, as on another branch, so that the last batch of folds is made again; most of the rest copies and compares lists of 20,000 messages (history, pairs, places, sizes, turns), and a tenth is the collector. Folds are continued from the plan before, also if two policies plan in turn, which took a sixth away from `classic`. The window drops most of what was folded, but cutting before folding would leave the notes about both without what they count'

/** Messages that were counted, and nothing else is known of: as after they were read from the store. */
function firstSight(history: readonly Message[]): number {
  const times = Array.from({ length: 5 }, () => {
    const messages = history.map((message) => ({ ...message }))
    for (const message of messages) estimateMessage(message)
    const start = process.threadCpuUsage()
    planned(messages, 'economy')
    const { user, system } = process.threadCpuUsage(start)
    return (user + system) / 1000
  })
  return median(times)
}

/**
 * Its counter is called once for each message that goes, with all that are left. By number is the cheapest counter there
 * is; a quarter of the characters is the next.
 */
async function trimming(quick: boolean, history: readonly Message[]): Promise<Contender[]> {
  const names = { byNumber: 'LangChain trimMessages, by number', byTokens: 'LangChain trimMessages, by tokens' }
  const pruned = 'AI SDK pruneMessages'
  if (quick) return [...Object.values(names), pruned].map((name) => ({ name, why: 'not installed' }))
  const { pruneMessages } = await import('ai')
  const { aiSdkMessages } = await import('../peers/ai-sdk.ts')
  const messages = aiSdkMessages(history)
  const { trimMessages } = await import('@langchain/core/messages')
  const { langchainMessages } = await import('../peers/langchain.ts')
  const theirs = langchainMessages(history)
  const settings = { strategy: 'last', includeSystem: true, startOn: 'human' } as const
  const byTokens = (list: BaseMessage[]) => list.reduce((sum, { content }) => sum + content.length / 4, 0)
  const tokens = byTokens(theirs.slice(-20))
  return [
    {
      name: names.byNumber,
      run: () => trimMessages(theirs, { ...settings, maxTokens: 20, tokenCounter: (list) => list.length }),
    },
    {
      name: names.byTokens,
      run: () => trimMessages(theirs, { ...settings, maxTokens: tokens, tokenCounter: byTokens }),
    },
    { name: pruned, run: () => pruneMessages({ messages, toolCalls: 'before-last-20-messages' }) },
  ]
}
