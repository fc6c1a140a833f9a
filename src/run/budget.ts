// What a run or a conversation may cost. Checked before each request: a reply that is under way is never cut off for
// money, because it is paid for already.

import type { GuardReason } from '../core/event.ts'
import type { Exchange } from '../core/log.ts'
import type { Spend } from '../settings/run.ts'
import type { Store } from '../store/store.ts'

export interface Spent {
  usd: number
  tokens: number
}

export const nothing: Spent = { usd: 0, tokens: 0 }

/** Counts every request of a run when it is over: also those for summaries, and those that failed. */
export interface Meter {
  readonly spent: Spent
  /** The exchanges that have ended since this was last asked, the last one first. */
  read(): Promise<Exchange[]>
}

export async function meter(store: Store, owner: string, conversationId: string): Promise<Meter> {
  const spent = { ...nothing }
  let last = (await store.exchanges(owner, conversationId, { limit: 1 })).items[0]?.id
  return {
    spent,
    async read() {
      const found: Exchange[] = []
      for (let cursor: string | undefined; ;) {
        const page = await store.exchanges(owner, conversationId, {
          limit: 10,
          ...(cursor !== undefined && { cursor }),
        })
        const known = page.items.findIndex(({ id }) => id === last)
        found.push(...page.items.slice(0, known < 0 ? undefined : known))
        cursor = known < 0 ? page.next : undefined
        if (cursor === undefined) break
      }
      last = found[0]?.id ?? last
      for (const { usage, cost } of found) {
        spent.usd += cost ?? 0
        spent.tokens += (usage?.input ?? 0) + (usage?.output ?? 0)
      }
      return found
    },
  }
}

/** What the conversation has cost so far. */
export async function spentSoFar(store: Store, owner: string, conversationId: string): Promise<Spent> {
  const spent = { ...nothing }
  for (const { cost, input, output } of await store.usage(owner, { conversationId })) {
    spent.usd += cost
    spent.tokens += input + output
  }
  return spent
}

/** Why nothing more may be spent; undefined: it may. */
export function overBudget(limit: Spend | undefined, spent: Spent, what: string): GuardReason | undefined {
  if (limit?.usd !== undefined && spent.usd >= limit.usd) {
    return { guard: 'spend', why: `The ${what} has cost $${spent.usd.toFixed(4)} of the $${limit.usd} that it may.` }
  }
  if (limit?.tokens !== undefined && spent.tokens >= limit.tokens) {
    return { guard: 'tokens', why: `The ${what} has used ${spent.tokens} of the ${limit.tokens} tokens that it may.` }
  }
  return undefined
}
