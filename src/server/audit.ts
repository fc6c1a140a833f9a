// Who did what, and when: deeds that what is kept does not show, or does not show any more. Only ever added to, and never
// with what was said or with a key. They stay when the conversation that they were done to is gone.

import type { JsonObject } from '../core/json.ts'
import { uuidv7 } from '../store/ids.ts'
import type { StoredRecord } from '../store/records.ts'
import type { Page, PageOf, Store } from '../store/store.ts'

export type AuditEvent = 'deleted' | 'exported' | 'imported' | 'key-created' | 'key-revoked'

export interface AuditRecord {
  at: string
  what: AuditEvent
  /** The id of what it was done to. */
  to: string
  /** The id of the key that was used; absent: none was asked for. */
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

/** The last first. */
export async function auditRecords(store: Store, owner: string, page: PageOf): Promise<Page<AuditRecord>> {
  const { items, ...rest } = await store.records(owner, kind, page)
  return { items: items.map(toAuditRecord), ...rest }
}

function toAuditRecord({ at, data }: StoredRecord): AuditRecord {
  return { at, ...(data as JsonObject & Omit<AuditRecord, 'at'>) }
}
