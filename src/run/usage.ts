// What a conversation has used and cost, in total and by model.

import { addUsage, noUsage, type Usage } from '../core/usage.ts'
import { recallName } from '../context/mention-recall.ts'
import { readSaved } from '../context/forecast.ts'
import type { UsageRow } from '../store/records.ts'
import type { Store } from '../store/store.ts'

/** Tokens, cost and requests. */
export interface Spending extends Usage {
  /** In US dollars, as far as prices are known. */
  cost: number
  requests: number
  /** Requests with unknown prices. */
  unpriced: number
}

/** What a conversation has used: in total, and by `provider/model`, most expensive first. */
export interface ConversationUsage extends Spending {
  /**
   * In US dollars, the estimated savings of folding, cutting and summarising compared with sending the whole history.
   */
  saved: number
  /** How often the model has retrieved what was left out, with `recall`. */
  recalls: number
  models: ({ provider: string; model: string } & Spending)[]
}

/** The label of conversations made for sub-agents. */
export function subagentLabel(parentId: string): string {
  return `subagent-of:${parentId}`
}

/** Including its sub-agents. */
export async function usageOf(store: Store, owner: string, conversationId: string): Promise<ConversationUsage> {
  let all: Spending = nothing
  const models = new Map<string, ConversationUsage['models'][number]>()
  for (const { provider, model, exchanges, cost, unpriced, ...row } of await rowsOf(store, owner, conversationId)) {
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

async function rowsOf(store: Store, owner: string, conversationId: string): Promise<UsageRow[]> {
  const rows = [...(await store.usage(owner, { conversationId }))]
  const children = await store.conversations(owner, { label: subagentLabel(conversationId), limit: 500 })
  for (const { id } of children.items) rows.push(...(await rowsOf(store, owner, id)))
  return rows
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

/** The savings of one request. */
export interface SavedRow extends Pick<UsageRow, 'day' | 'provider' | 'model'> {
  saved: number
}

/** Derived from each exchange, and from the calls. */
export async function leftOut(
  store: Store,
  owner: string,
  conversationId: string,
): Promise<{ saved: number; recalls: number; rows: SavedRow[] }> {
  const rows: SavedRow[] = []
  let cursor: string | undefined
  do {
    const page = await store.exchanges(owner, conversationId, { limit: 500, ...(cursor !== undefined && { cursor }) })
    for (const exchange of page.items) {
      const { provider, model, startedAt } = exchange
      const saved = readSaved(exchange)
      if (saved !== 0) rows.push({ day: startedAt.slice(0, 10), provider, model, saved })
    }
    cursor = page.next
  } while (cursor !== undefined)
  const runs = await store.toolRuns(owner, conversationId)
  const saved = rows.reduce((total, row) => total + row.saved, 0)
  return { saved, recalls: runs.filter((run) => run.name === recallName).length, rows }
}
