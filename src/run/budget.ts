// Limits on what a run or a conversation may cost. Checked before each request: a reply in progress is never cut off to
// save money, because it is already paid for.

import type { GuardReason } from '../core/event.ts'
import type { Exchange } from '../core/log.ts'
import type { Spend } from '../settings/run.ts'
import type { Store } from '../store/store.ts'

export interface Spent {
  usd: number
  tokens: number
}

export const nothingSpent: Spent = { usd: 0, tokens: 0 }

/** Counts every finished request of a run, including those for summaries and those that failed. */
export interface Meter {
  readonly spent: Readonly<Spent>
  /** Called by the code that has stored the end of an exchange. */
  add(exchange: Exchange): void
  /** The exchanges that have ended since the last call, newest first. */
  read(): Exchange[]
}

export function meter(): Meter {
  const spent = { ...nothingSpent }
  let unread: Exchange[] = []
  return {
    spent,
    add(exchange) {
      unread.unshift(exchange)
      const { usage, cost } = exchange
      spent.usd += cost ?? 0
      spent.tokens += (usage?.input ?? 0) + (usage?.output ?? 0)
    },
    read() {
      const exchanges = unread
      unread = []
      return exchanges
    },
  }
}

/** What the conversation has cost so far. */
export async function spentSoFar(store: Store, owner: string, conversationId: string): Promise<Spent> {
  const spent = { ...nothingSpent }
  for (const { cost, input, output } of await store.usage(owner, { conversationId })) {
    spent.usd += cost
    spent.tokens += input + output
  }
  return spent
}

/** The reason to stop, if the budget is used up. */
export function overBudget(limit: Spend | undefined, spent: Spent, what: string): GuardReason | undefined {
  if (limit?.usd !== undefined && spent.usd >= limit.usd) {
    return { guard: 'spend', why: `The ${what} reached its budget of $${limit.usd} (spent $${spent.usd.toFixed(4)}).` }
  }
  if (limit?.tokens !== undefined && spent.tokens >= limit.tokens) {
    return { guard: 'tokens', why: `The ${what} reached its limit of ${limit.tokens} tokens (used ${spent.tokens}).` }
  }
  return undefined
}
