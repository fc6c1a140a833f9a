// API keys of the server. Only the SHA-256 of a key is stored, so it is shown once, when it is created. Keys are found
// by that hash: nothing that is stored or compared is a part of the key itself.

import { hash, randomBytes } from 'node:crypto'
import { badInput, SynapseError } from '../core/error.ts'
import type { JsonObject } from '../core/json.ts'
import type { PresetName } from '../settings/policy.ts'
import { uuidv7 } from '../store/ids.ts'
import type { StoredRecord } from '../store/records.ts'
import type { Store } from '../store/store.ts'
import { audit } from './audit.ts'

/**
 * The owner of what belongs to the server and not to any of its users: keys, open runs, live servers. No key can be
 * created for it: the colon is not allowed in the owner of a key.
 */
export const serverOwner = 'synapse:server'

export type Access = 'read' | 'write'

/** `full`: in the store. `native`: in memory, for a while. `none`: nothing. */
export const keeps = ['full', 'native', 'none'] as const
export type Keep = (typeof keeps)[number]

export interface ApiKey {
  /** Names the key in lists and logs; it grants nothing. */
  id: string
  name: string
  /** The owner of the conversations that it can access. */
  owner: string
  access: Access
  /** `provider/model`, with `*` for any text; absent: all. */
  models?: string[]
  /** Its budget, in US dollars. */
  budget?: number
  /** For clients of other APIs: the model for unknown names, and for models that the key may not use. */
  defaultModel?: string
  /** For clients of other APIs: the context policy. */
  policy?: PresetName
  /** For clients of other APIs: what is stored of their conversations; everything by default. */
  keep?: Keep
  /** The most requests per minute; absent: the server's limit. */
  perMinute?: number
  expiresAt?: string
  revokedAt?: string
  createdAt: string
}

export type NewKey = Partial<Omit<ApiKey, 'id' | 'createdAt' | 'revokedAt'>>

const kind = 'api-key'
const shape = /^syn_[A-Za-z0-9_-]{43}$/

/** Returns the key itself, only this once. */
export async function createKey(store: Store, request: NewKey): Promise<{ key: string; about: ApiKey }> {
  const owner = request.owner ?? 'local'
  if (!/^[A-Za-z0-9][A-Za-z0-9._@-]{0,99}$/.test(owner)) {
    throw badInput(`"${owner}" cannot be an owner: use up to 100 letters, digits and . _ @ -`)
  }
  if (request.budget !== undefined && !(request.budget > 0)) throw badInput('A budget must be more than 0 dollars.')
  if (request.perMinute !== undefined && !(request.perMinute >= 1)) {
    throw badInput('A rate must be at least 1 request per minute.')
  }
  const key = `syn_${randomBytes(32).toString('base64url')}`
  const about: ApiKey = {
    id: uuidv7(),
    name: request.name ?? owner,
    owner,
    access: request.access ?? 'write',
    ...(request.models && { models: request.models }),
    ...(request.budget !== undefined && { budget: request.budget }),
    ...(request.defaultModel !== undefined && { defaultModel: request.defaultModel }),
    ...(request.policy !== undefined && { policy: request.policy }),
    ...(request.keep !== undefined && { keep: request.keep }),
    ...(request.perMinute !== undefined && { perMinute: request.perMinute }),
    ...(request.expiresAt !== undefined && { expiresAt: new Date(request.expiresAt).toISOString() }),
    createdAt: new Date().toISOString(),
  }
  await store.putRecords([{ owner: serverOwner, kind, id: hash('sha256', key), data: { ...about }, version: 0 }])
  await audit(store, { owner }, 'key-created', about.id)
  return { key, about }
}

/** Newest first. */
export async function listKeys(store: Store): Promise<ApiKey[]> {
  return (await allKeys(store)).map(({ data }) => data as JsonObject & ApiKey)
}

/** By its id or a prefix of it. False: it was already revoked. */
export async function revokeKey(store: Store, id: string): Promise<boolean> {
  const matches = (await allKeys(store)).filter(({ data }) => (data as JsonObject & ApiKey).id.startsWith(id))
  const [only, ...others] = matches
  if (!only) throw badInput(`There is no key ${id}. "synapse keys list" lists them.`)
  if (others.length > 0) throw badInput(`${matches.length} keys begin with ${id}. Use a longer prefix.`)
  if (only.data['revokedAt'] !== undefined) return false
  const data = { ...only.data, revokedAt: new Date().toISOString() }
  await store.putRecords([{ owner: serverOwner, kind, id: only.id, data, version: only.version }])
  const key = only.data as JsonObject & ApiKey
  await audit(store, { owner: key.owner }, 'key-revoked', key.id)
  return true
}

/** Deletes a key that one program had while it ran: only the audit log still names it. */
export async function deleteKey(store: Store, key: string, { id, owner }: ApiKey): Promise<void> {
  await store.deleteRecord(serverOwner, kind, hash('sha256', key))
  await store.deleteRecord(serverOwner, 'spend', id)
  await audit(store, { owner }, 'key-revoked', id)
}

/** The given key, if it is valid; throws kind 'auth' with what is wrong with it. */
export async function findKey(store: Store, secret: string, now: number): Promise<ApiKey> {
  const record = shape.test(secret) ? await store.record(serverOwner, kind, hash('sha256', secret)) : undefined
  if (!record) throw unauthorized('This key is unknown.')
  const key = record.data as JsonObject & ApiKey
  if (key.revokedAt !== undefined) throw unauthorized('This key was revoked.')
  if (key.expiresAt !== undefined && Date.parse(key.expiresAt) <= now) throw unauthorized('This key has expired.')
  return key
}

/** Whether it could be a key of this server: every other text is a key of another service, or a placeholder. */
export function isKeyShaped(text: string): boolean {
  return shape.test(text)
}

export function unauthorized(message: string): SynapseError {
  return new SynapseError({ kind: 'auth', message })
}

/** What a key has spent so far, in US dollars. */
export async function spentBy(store: Store, keyId: string): Promise<number> {
  return amountIn(await store.record(serverOwner, 'spend', keyId))
}

/** Adds to what a key has spent; returns the sum. */
export async function addSpend(store: Store, keyId: string, amount: number): Promise<number> {
  for (;;) {
    const before = await store.record(serverOwner, 'spend', keyId)
    const usd = amountIn(before) + amount
    try {
      const version = before?.version ?? 0
      await store.putRecords([{ owner: serverOwner, kind: 'spend', id: keyId, data: { usd }, version }])
      return usd
    } catch (error) {
      // Another run with the same key was faster.
      if (!(error instanceof SynapseError) || error.failure.code !== 'record-changed') throw error
    }
  }
}

function amountIn(record: StoredRecord | undefined): number {
  const usd = record?.data['usd']
  return typeof usd === 'number' ? usd : 0
}

async function allKeys(store: Store): Promise<StoredRecord[]> {
  const all: StoredRecord[] = []
  for (let cursor: string | undefined; ;) {
    const page = await store.records(serverOwner, kind, { limit: 500, ...(cursor && { cursor }) })
    all.push(...page.items)
    cursor = page.next
    if (!cursor) return all
  }
}
