// Complete answers that their client did not fully receive: it lost its connection, or the server died. The same
// request within a while gets that answer, until it was delivered, and nothing is paid twice. After that, the same request
// is a new one.

import type { NewRecord, StoredRecord } from '../../store/records.ts'
import type { Store } from '../../store/store.ts'
import { textIn } from '../../wires/shared/json-fields.ts'
import type { ParsedBody } from './known-bodies.ts'

const kind = 'door-answer'
const lifetimeMs = 10 * 60_000

/** How many answers of this process to the same request are being delivered: an identical one meanwhile is a new one. */
const underWay = new Map<string, number>()

export interface Delivery {
  /** The answer that the same request did not receive before; undefined: there is none, or others may be getting it. */
  earlier(): Promise<UndeliveredAnswer | undefined>
  record(answer: UndeliveredAnswer): NewRecord
  /** The client has received all of it. */
  done(): void
  /** The client has disconnected. */
  lost(): void
}

export interface UndeliveredAnswer {
  conversationId: string
  entryId: string
  exchangeId: string
  replyId: string
}

export function answerKey(path: string, body: Pick<ParsedBody, 'digest'>): string {
  return body.digest(`${path}\n`)
}

function answerIn({ data }: StoredRecord): UndeliveredAnswer {
  const { conversationId, entryId, exchangeId, replyId } = data
  return {
    conversationId: textIn(conversationId),
    entryId: textIn(entryId),
    exchangeId: textIn(exchangeId),
    replyId: textIn(replyId),
  }
}

export function trackDelivery(store: Store, owner: string, key: string): Delivery {
  const ownKey = `${owner} ${key}`
  let isOver = false
  let exchangeId: string | undefined
  underWay.set(ownKey, (underWay.get(ownKey) ?? 0) + 1)
  return {
    async earlier() {
      if (underWay.get(ownKey) !== 1) return undefined
      const record = await store.record(owner, kind, key)
      if (!record) return undefined
      const answer = answerIn(record)
      exchangeId = answer.exchangeId
      return answer
    },
    record(answer) {
      exchangeId = answer.exchangeId
      const expiresAt = new Date(Date.now() + lifetimeMs).toISOString()
      return { owner, kind, id: key, conversationId: answer.conversationId, data: { ...answer }, expiresAt }
    },
    done() {
      if (isOver) return
      isOver = true
      // Until it is forgotten, the same request would find it. At worst the answer is returned once more.
      forget()
        .catch(() => {})
        .finally(leave)
    },
    lost() {
      if (isOver) return
      isOver = true
      leave()
    },
  }

  function leave(): void {
    const others = (underWay.get(ownKey) ?? 1) - 1
    if (others > 0) underWay.set(ownKey, others)
    else underWay.delete(ownKey)
  }

  /** The record may be that of another answer to the same request, which its client does not have yet. */
  async function forget(): Promise<void> {
    const record = await store.record(owner, kind, key)
    if (record?.data.exchangeId === exchangeId) await store.deleteRecord(owner, kind, key)
  }
}
