// Temporary cloud tokens, in memory: requested once for all callers, and again before they expire.

import { SynapseError } from '../core/error.ts'
import type { JsonObject } from '../core/json.ts'

interface Expiring {
  /** Milliseconds since 1970; absent: never. */
  expiresAt?: number
}

/** A token is not used this long before its expiry: a request may take minutes to start. */
const early = 5 * 60_000

const held = new Map<string, Promise<Expiring>>()

/** `name` must identify the identity; it is not logged. */
export async function cached<T extends Expiring>(name: string, now: number, fetch: () => Promise<T>): Promise<T> {
  const known = held.get(name)
  if (known) {
    const value = await (known as Promise<T>).catch(() => undefined)
    if (value && (value.expiresAt === undefined || value.expiresAt - early > now)) return value
    if (held.get(name) !== known) return cached(name, now, fetch)
  }
  const asking = fetch()
  held.set(name, asking)
  return asking.catch((error: unknown) => {
    if (held.get(name) === asking) held.delete(name)
    throw error
  })
}

export function forget(name: string): void {
  held.delete(name)
}

// An OAuth access token, from an answer and for a header.

export interface Token {
  token: string
  expiresAt?: number
}

export async function bearerToken(
  name: string,
  now: number,
  fetch: () => Promise<Token>,
): Promise<{ authorization: string }> {
  const { token } = await cached(name, now, fetch)
  return { authorization: `Bearer ${token}` }
}

/** `who` is named in the error. */
export function tokenFrom(who: string, answer: JsonObject, now: number): Token {
  const { access_token: token, expires_in: seconds } = answer
  if (typeof token !== 'string' || !/^[\x21-\x7e]+$/.test(token)) {
    throw new SynapseError({ kind: 'auth', message: `${who} returned no access token; check the credentials.` })
  }
  const lifetime = Number(seconds)
  return { token, ...(Number.isFinite(lifetime) && { expiresAt: now + lifetime * 1000 }) }
}
