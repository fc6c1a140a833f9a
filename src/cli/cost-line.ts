// The cost of an answer in one line: model, tokens, cache share, price, time.

import type { Exchange } from '../core/log.ts'
import { addUsage, noUsage } from '../core/usage.ts'
import { count, dollars, percent, seconds } from './format-number.ts'
import type { ChatSession } from './chat-session.ts'
import { neutral } from './terminal.ts'

/** The line for the exchanges of one run; empty if none of them was counted. */
export async function costLine(session: ChatSession, exchangeIds: readonly string[]): Promise<string> {
  const { store, owner } = session.local
  const exchanges = await Promise.all(exchangeIds.map((id) => store.exchange(owner, id)))
  return exchangesLine(exchanges.filter((exchange) => exchange !== undefined))
}

/** The same for given exchanges. */
export function exchangesLine(exchanges: readonly Exchange[]): string {
  const counted = exchanges.filter((exchange) => exchange.usage !== undefined)
  if (counted.length === 0) return ''
  const usage = counted.reduce((sum, exchange) => (exchange.usage ? addUsage(sum, exchange.usage) : sum), noUsage)
  const names = [...new Set(counted.map((exchange) => `${exchange.provider}/${exchange.model}`))]
  // The cost of one without usage, such as an interrupted one, is an estimate.
  const isPriced = counted.every(({ cost }) => cost !== undefined)
  const cost = isPriced ? costOf(exchanges) : undefined
  const ms = counted.reduce(
    (sum, exchange) => sum + (Date.parse(exchange.endedAt ?? exchange.startedAt) - Date.parse(exchange.startedAt)),
    0,
  )
  const cached = usage.cacheRead > 0 ? ` (${percent(usage.cacheRead, usage.input)} from the cache)` : ''
  return neutral(
    [
      names.join(', '),
      ...(counted.length > 1 ? [`${counted.length} requests`] : []),
      `${count(usage.input)} tokens in${cached}`,
      `${count(usage.output)} out`,
      counted.every((exchange) => exchange.usage?.offline) ? 'offline: nothing billed' : dollars(cost),
      seconds(ms),
    ].join(' · '),
  )
}

export function costOf(exchanges: readonly Exchange[]): number {
  return exchanges.reduce((sum, { cost = 0 }) => sum + cost, 0)
}
