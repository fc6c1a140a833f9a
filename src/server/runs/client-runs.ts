// Answers to clients of other APIs that another process is writing. They are not stored as runs, but the conversation is
// leased, and the exchange and the journal of its reply are in the store: so users of any server on it can follow them.
// Such a run has the id of its exchange, and its events have the same numbers on every server.

import type { RunEvent } from '../../core/event.ts'
import type { Exchange } from '../../core/log.ts'
import { noUsage } from '../../core/usage.ts'
import { isAbandoned, thisProcess } from '../../run/log/lease.ts'
import { outcomeOfReply } from '../../run/loop.ts'
import type { Store } from '../../store/store.ts'
import type { RunView } from '../views.ts'
import { pollMs, until } from './source.ts'
import { frame, type EventSource } from './sse.ts'

/** The answer that another process is writing in a conversation. */
export async function clientRunIn(store: Store, owner: string, conversationId: string): Promise<RunView | undefined> {
  const lease = await store.lease(owner, conversationId)
  if (!lease || lease.holder === thisProcess() || isAbandoned(lease)) return undefined
  const { items } = await store.exchanges(owner, conversationId, { outcome: 'open', limit: 2 })
  // Several are the candidates of a comparison.
  return items[0] && items.length === 1 ? viewOf(items[0]) : undefined
}

/** The answer with this id, while it is being written. */
export async function clientRun(store: Store, owner: string, id: string): Promise<RunView | undefined> {
  const exchange = await store.exchange(owner, id)
  if (exchange?.outcome !== 'open' || !(await isHeld(store, owner, exchange.conversationId))) return undefined
  return viewOf(exchange)
}

export function clientRunSource(store: Store, owner: string, run: RunView): EventSource {
  return {
    async read(from) {
      if (store.outages?.current()) return { frames: [], next: from, ended: false }
      const { events, ended } = await eventsFrom(from)
      const frames = events.map((event, i) => frame(from + i + 1, JSON.stringify(event)))
      return { frames, next: from + frames.length, ended }
    },
    wait: (_, ms, signal) => until(Math.min(ms, pollMs), signal),
    close() {},
  }

  async function eventsFrom(from: number): Promise<{ events: RunEvent[]; ended: boolean }> {
    const { id: exchangeId } = run
    const first = from < firstEvents ? await start() : []
    const replied = await store.journaled(owner, exchangeId, Math.max(0, from - firstEvents))
    const events = [...first, ...replied.map((event): RunEvent => ({ type: 'reply-event', exchangeId, event }))]
    const fresh = events.slice(first.length > 0 ? from : 0)
    if (fresh.length > 0) return { events: fresh, ended: false }
    // In this order: the lease is released after the exchange has ended.
    const hasLease = await isHeld(store, owner, run.conversationId)
    const exchange = await store.exchange(owner, exchangeId)
    if (exchange?.outcome === 'open')
      return hasLease ? { events: [], ended: false } : { events: [stopped], ended: true }
    return { events: exchange ? await end(exchange) : [], ended: true }
  }

  async function start(): Promise<RunEvent[]> {
    const exchange = await store.exchange(owner, run.id)
    if (!exchange) return []
    const { id, conversationId, basedOn, provider, model, notes } = exchange
    return [
      { type: 'run-start', conversationId, entryId: basedOn },
      { type: 'request', exchangeId: id, provider, model, step: 0, notes },
    ]
  }

  async function end({ outcome, replyEntryId, usage, failure }: Exchange): Promise<RunEvent[]> {
    const entry = replyEntryId === undefined ? undefined : await store.entry(owner, replyEntryId)
    const reply = entry?.message.role === 'assistant' ? entry.message : undefined
    const runOutcome = outcome === 'done' ? outcomeOfReply(reply) : outcome === 'cancelled' ? outcome : 'failed'
    return [
      ...(entry
        ? [{ type: 'message' as const, entryId: entry.id, message: entry.message, ...(usage && { usage }) }]
        : []),
      { type: 'run-end', outcome: runOutcome, usage: usage ?? noUsage, ...(failure && { failure }) },
    ]
  }
}

/** The events before those of the reply. */
const firstEvents = 2

const stopped: RunEvent = {
  type: 'run-end',
  outcome: 'failed',
  usage: noUsage,
  failure: { kind: 'aborted', message: 'The server that wrote this answer has stopped. Repeat the request.' },
}

async function isHeld(store: Store, owner: string, conversationId: string): Promise<boolean> {
  const lease = await store.lease(owner, conversationId)
  return lease !== undefined && !isAbandoned(lease)
}

function viewOf({ id, conversationId, provider, model, basedOn, startedAt }: Exchange): RunView {
  return { id, conversationId, state: 'running', model: `${provider}/${model}`, basedOn, startedAt }
}
