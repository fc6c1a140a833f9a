// The cost of an answer in one line: model, tokens, cache share, price, time.

import type { Exchange } from '../core/log.ts'
import { addUsage, noUsage } from '../core/usage.ts'
import { count, dollars, percent, seconds } from './format-number.ts'
import type { ChatSession } from './chat-session.ts'
import { neutral } from './terminal.ts'

/** The line for the exchanges of one run; empty if none of them was counted. */
export async function costLine(session: ChatSession, exchangeIds: readonly string[]): Promise<string> {
  const { store, owner } = session.local
  const found = await Promise.all(exchangeIds.map((id) => store.exchange(owner, id)))
  return exchangesLine(found.filter((one) => one !== undefined))
}

/** The same for given exchanges. */
export function exchangesLine(exchanges: readonly Exchange[]): string {
  const counted = exchanges.filter((one) => one.usage !== undefined)
  if (counted.length === 0) return ''
  const usage = counted.reduce((sum, one) => (one.usage ? addUsage(sum, one.usage) : sum), noUsage)
  const names = [...new Set(counted.map((one) => `${one.provider}/${one.model}`))]
  const cost = counted.reduce<number | undefined>(
    (sum, one) => (sum === undefined || one.cost === undefined ? undefined : sum + one.cost),
    0,
  )
  const ms = counted.reduce(
    (sum, one) => sum + (Date.parse(one.endedAt ?? one.startedAt) - Date.parse(one.startedAt)),
    0,
  )
  const cached = usage.cacheRead > 0 ? ` (${percent(usage.cacheRead, usage.input)} from the cache)` : ''
  return neutral(
    [
      names.join(', '),
      ...(counted.length > 1 ? [`${counted.length} requests`] : []),
      `${count(usage.input)} tokens in${cached}`,
      `${count(usage.output)} out`,
      counted.every((one) => one.usage?.offline) ? 'offline: nothing billed' : dollars(cost),
      seconds(ms),
    ].join(' · '),
  )
}
