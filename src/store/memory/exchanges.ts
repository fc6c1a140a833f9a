// Exchanges in memory, and the usage by day and model.

import type { Exchange } from '../../core/log.ts'
import { addUsage, noUsage } from '../../core/usage.ts'
import { cutBlob } from '../blobs.ts'
import { cursorNumber, pageOf, pageSize } from '../page.ts'
import { checkEntry, checkId, jsonCopy } from '../new-entry.ts'
import { timeSpan } from '../search/query.ts'
import type { UsageRow } from '../records.ts'
import { exchangeEnded, idTaken, journalGap, notFound } from '../store-errors.ts'
import type { Exchanges, Write } from '../store.ts'
import { allOrNothing } from './entries.ts'
import { putAll } from './records.ts'
import { copyOf, type StoredExchange, type MemoryState } from './state.ts'

export function exchangeMethods(state: MemoryState): Exchanges {
  return { ...writes(state), ...reads(state), ...journals(state) }
}

function writes(state: MemoryState): Pick<Exchanges, 'openExchange' | 'keepBody' | 'retryExchange' | 'finishExchange'> {
  return {
    async openExchange(owner, conversationId, exchange, write) {
      const now = state.now()
      const id = checkId(exchange.id, now)
      const notes = jsonCopy([...(exchange.notes ?? [])], 'The notes')
      const blob = cutBlob(exchange.body)
      const conversation = state.writable(owner, conversationId, write)
      const { basedOn, provider, protocol, model } = exchange
      state.entryIn(conversation, basedOn)
      if (state.exchanges.has(id)) throw idTaken('exchange', id)
      const stored: StoredExchange = {
        about: {
          id,
          conversationId,
          basedOn,
          provider,
          protocol,
          model,
          bodySha256: blob.sha256,
          notes,
          startedAt: new Date(now).toISOString(),
          outcome: 'open',
          attempts: 1,
        },
        conversation,
        events: [],
      }
      state.keepBlob(conversation, blob)
      state.exchanges.set(id, stored)
      conversation.exchanges.push(stored)
      return copyOf(stored.about)
    },

    async keepBody(owner, conversationId, body, write) {
      const blob = cutBlob(body)
      state.keepBlob(state.writable(owner, conversationId, write), blob)
      return blob.sha256
    },

    async retryExchange(owner, exchangeId, write) {
      return ++openOne(state, owner, exchangeId, write).about.attempts
    },

    async finishExchange(owner, exchangeId, end, write) {
      const now = state.now()
      const reply = end.reply && checkEntry(end.reply, now)
      const { records = [], ...about } = end
      const { outcome, usage, cost, failure, notes } = jsonCopy(
        { ...about, reply: undefined },
        'The end of the exchange',
      )
      const exchange = openOne(state, owner, exchangeId, write)
      const append = () => reply && state.append(exchange.conversation, reply)
      const entry =
        records.length === 0
          ? append()
          : allOrNothing(state, exchange.conversation, () => {
              const appended = append()
              putAll(state, records)
              return appended
            })
      Object.assign(exchange.about, {
        outcome,
        endedAt: new Date(now).toISOString(),
        notes: [...exchange.about.notes, ...(notes ?? [])],
        ...(entry && { replyEntryId: entry.id }),
        ...(usage && { usage }),
        ...(cost !== undefined && { cost }),
        ...(failure && { failure }),
      })
      exchange.events = []
      return { exchange: copyOf(exchange.about), ...(entry && { entry }) }
    },
  }
}

function reads(state: MemoryState): Pick<Exchanges, 'exchange' | 'exchanges' | 'usage'> {
  return {
    async exchange(owner, exchangeId) {
      return copyOf(findOne(state, owner, exchangeId)?.about)
    },

    async exchanges(owner, conversationId, page = {}) {
      const size = pageSize(page)
      const from = cursorNumber(page.cursor)
      const all = state.find(owner, conversationId)?.exchanges ?? []
      const rows: { n: number; about: Exchange }[] = []
      for (let n = Math.min(from, all.length) - 1; n >= 0 && rows.length <= size; n--) {
        const about = all[n]?.about
        if (about && (page.outcome === undefined || about.outcome === page.outcome)) rows.push({ n, about })
      }
      return pageOf(
        rows,
        size,
        (row) => [row.n],
        (row) => copyOf(row.about),
      )
    },

    async usage(owner, query = {}) {
      const { after, before } = timeSpan(query)
      const rows = new Map<string, UsageRow>()
      for (const { about, conversation } of state.exchanges.values()) {
        const { provider, model, startedAt, usage, cost } = about
        const isInScope = query.conversationId === undefined || query.conversationId === about.conversationId
        if (conversation.about.owner !== owner || !isInScope || startedAt < after || startedAt >= before) continue
        const day = startedAt.slice(0, 10)
        const key = JSON.stringify([day, provider, model])
        const row = rows.get(key) ?? {
          day,
          provider,
          model,
          exchanges: 0,
          ...noUsage,
          cost: 0,
          unpriced: 0,
          offline: 0,
        }
        const { exchanges, unpriced, offline } = row
        rows.set(key, {
          ...row,
          ...addUsage(row, usage ?? noUsage),
          exchanges: exchanges + 1,
          cost: row.cost + (cost ?? 0),
          unpriced: unpriced + Number(usage !== undefined && cost === undefined),
          offline: offline + Number(usage?.offline === true),
        })
      }
      return [...rows].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, row]) => row)
    },
  }
}

function journals(state: MemoryState): Pick<Exchanges, 'journal' | 'journaled'> {
  return {
    async journal(owner, exchangeId, offset, events, write) {
      const batch = events.map(copyOf)
      const exchange = openOne(state, owner, exchangeId, write)
      if (offset !== exchange.events.length) throw journalGap(exchangeId, exchange.events.length, offset)
      exchange.events.push(...batch)
      return exchange.events.length
    },

    async journaled(owner, exchangeId, from = 0) {
      return copyOf(findOne(state, owner, exchangeId)?.events.slice(from) ?? [])
    },
  }
}

function findOne(state: MemoryState, owner: string, exchangeId: string): StoredExchange | undefined {
  const exchange = state.exchanges.get(exchangeId)
  return exchange?.conversation.about.owner === owner ? exchange : undefined
}

function openOne(state: MemoryState, owner: string, exchangeId: string, write: Write | undefined): StoredExchange {
  const exchange = findOne(state, owner, exchangeId)
  if (!exchange) throw notFound('exchange', exchangeId)
  state.writable(owner, exchange.about.conversationId, write)
  if (exchange.about.outcome !== 'open') throw exchangeEnded(exchangeId, exchange.about.outcome)
  return exchange
}
