// The audit log: actions that are not, or no longer, visible in the stored data. Append-only, and never with
// message content or a key. Records stay when their conversation is deleted.

import type { JsonObject } from '../core/json.ts'
import { uuidv7 } from '../store/ids.ts'
import type { StoredRecord } from '../store/records.ts'
import type { Page, PageOf, Store } from '../store/store.ts'

export type AuditEvent = 'deleted' | 'exported' | 'imported' | 'key-created' | 'key-revoked'

export interface AuditRecord {
  at: string
  what: AuditEvent
  /** The id of the object of the action. */
  to: string
  /** The id of the key that was used; absent: none was required. */
  by?: string
}

const kind = 'audit'

export async function audit(
  store: Store,
  { owner, keyId }: { owner: string; keyId?: string },
  what: AuditEvent,
  to: string,
): Promise<void> {
  const data = { what, to, ...(keyId !== undefined && { by: keyId }) }
  await store.putRecords([{ owner, kind, id: uuidv7(), data, version: 0 }])
}

/** Newest first. */
export async function auditRecords(store: Store, owner: string, page: PageOf): Promise<Page<AuditRecord>> {
  const { items, ...rest } = await store.records(owner, kind, page)
  return { items: items.map(toAuditRecord), ...rest }
}

function toAuditRecord({ at, data }: StoredRecord): AuditRecord {
  return { at, ...(data as JsonObject & Omit<AuditRecord, 'at'>) }
}
