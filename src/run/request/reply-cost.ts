// What a reply costs. Most providers report the usage with the end of a reply, but what was written before its client
// left, or its connection broke, is paid for as well: then the cost is an estimate, so that no budget is passed by.

import type { Note } from '../../core/context.ts'
import type { Exchange } from '../../core/log.ts'
import type { Reply } from '../../core/message.ts'
import { noUsage, type Usage } from '../../core/usage.ts'
import { estimateMessage } from '../../context/count.ts'
import type { Forecast } from '../../context/forecast.ts'
import { costOf } from '../../providers/price.ts'
import type { Endpoint } from '../../providers/resolve.ts'

interface Replied {
  reply: Reply
  usage: Usage | undefined
  outcome: Exchange['outcome']
}

/** `cost` is absent if the price is unknown, or if nothing was written. */
export function costOfReply(
  { price, offline }: Pick<Endpoint, 'price' | 'offline'>,
  { reply, usage, outcome }: Replied,
  { estimate, ttl }: Pick<Forecast, 'estimate' | 'ttl'>,
): { cost?: number; notes: Note[] } {
  const isKnown = (usage && outcome === 'done') || reply.parts.length === 0 || offline || usage?.offline
  const before = usage ?? { ...noUsage, input: Math.round(estimate) }
  const paid = isKnown ? usage : { ...before, output: Math.max(before.output, Math.round(estimateMessage(reply))) }
  const cost = paid && costOf(paid, price, ttl)
  if (cost === undefined) return { notes: [] }
  return { cost, notes: isKnown ? [] : [estimated] }
}

const estimated: Note = {
  kind: 'changed',
  what: 'the cost',
  why: 'the reply ended without its usage, so its cost is an estimate',
}
