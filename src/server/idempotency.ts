// The same request sent twice does its work once. What the first one was answered is kept in the transaction that did the
// work, so there is no moment at which one is there without the other, and nothing to lock.

import { hash } from 'node:crypto'
import { badInput } from '../core/error.ts'
import type { JsonObject } from '../core/json.ts'
import type { NewRecord } from '../store/records.ts'
import type { Store } from '../store/store.ts'
import { Refusal } from './answer.ts'

const kind = 'idempotency'
const keepMs = 24 * 3_600_000

export interface Once {
  /** What the first request with this key was answered; throws if that was another request. */
  before(): Promise<JsonObject | undefined>
  /** To be written with the work. */
  record(conversationId: string, answer: JsonObject): NewRecord
}

export function onceFor(store: Store, owner: string, request: globalThis.Request, text: string): Once | undefined {
  const key = request.headers.get('idempotency-key')
  if (key === null) return undefined
  if (key.length < 1 || key.length > 255) throw badInput('An Idempotency-Key must have 1 to 255 characters.')
  const id = hash('sha256', key)
  const fingerprint = hash('sha256', `${request.method} ${new URL(request.url).pathname}\n${text}`)
  return {
    async before() {
      const found = await store.record(owner, kind, id)
      if (!found) return undefined
      if (found.data['fingerprint'] !== fingerprint) {
        throw new Refusal(422, {
          kind: 'conflict',
          code: 'idempotency-mismatch',
          message: 'This Idempotency-Key was used for another request. Use a new one.',
        })
      }
      return found.data['answer'] as JsonObject
    },
    record(conversationId, answer) {
      const expiresAt = new Date(Date.now() + keepMs).toISOString()
      return { owner, kind, id, conversationId, data: { fingerprint, answer }, expiresAt, version: 0 }
    },
  }
}
