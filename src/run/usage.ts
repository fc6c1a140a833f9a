// What a conversation has used and cost, in all and by model.

import { addUsage, noUsage, type Usage } from '../core/usage.ts'
import { recallName } from '../context/mention-recall.ts'
import { readSaved } from '../context/forecast.ts'
import type { Store } from '../store/store.ts'

/** Tokens, money and requests. */
export interface Spending extends Usage {
  /** In US dollars, as far as prices are known. */
  cost: number
  requests: number
  /** Requests whose price is not known. */
  unpriced: number
}

/** What a conversation has used: in all, and by `provider/model`, the dearest first. */
export interface ConversationUsage extends Spending {
  /** In US dollars, what folding, cutting and summarising have saved so far against the whole history, by estimate. */
  saved: number
  /** How often the model has asked for what was left out, with `recall`. */
  recalls: number
  models: ({ provider: string; model: string } & Spending)[]
}

export async function usageOf(store: Store, owner: string, conversationId: string): Promise<ConversationUsage> {
  let all: Spending = nothing
  const models = new Map<string, ConversationUsage['models'][number]>()
  for (const { provider, model, exchanges, cost, unpriced, ...row } of await store.usage(owner, { conversationId })) {
    const used: Spending = { ...addUsage(noUsage, row), cost, unpriced, requests: exchanges }
    const key = `${provider}/${model}`
    models.set(key, { provider, model, ...add(models.get(key) ?? nothing, used) })
    all = add(all, used)
  }
  const { saved, recalls } = await leftOut(store, owner, conversationId)
  return {
    ...all,
    saved,
    recalls,
    models: [...models.values()].toSorted((a, b) => b.cost - a.cost || b.input - a.input),
  }
}

const nothing: Spending = { ...noUsage, cost: 0, requests: 0, unpriced: 0 }

function add(a: Spending, b: Spending): Spending {
  return {
    ...addUsage(a, b),
    cost: a.cost + b.cost,
    requests: a.requests + b.requests,
    unpriced: a.unpriced + b.unpriced,
  }
}

/** Read from what each exchange says of itself, and from the calls. */
async function leftOut(
  store: Store,
  owner: string,
  conversationId: string,
): Promise<{ saved: number; recalls: number }> {
  let saved = 0
  let cursor: string | undefined
  do {
    const page = await store.exchanges(owner, conversationId, { limit: 500, ...(cursor !== undefined && { cursor }) })
    for (const exchange of page.items) saved += readSaved(exchange)
    cursor = page.next
  } while (cursor !== undefined)
  const runs = await store.toolRuns(owner, conversationId)
  return { saved, recalls: runs.filter((run) => run.name === recallName).length }
}
