// Temporary cloud tokens, in memory: requested once for all callers, and again before they expire.

import { SynapseError } from '../core/error.ts'
import type { JsonObject } from '../core/json.ts'

interface Expiring {
  /** Milliseconds since 1970; absent: never. */
  expiresAt?: number
}

/** A token is not used this long before its expiry: a request may take minutes to start. */
const marginMs = 5 * 60_000

const tokens = new Map<string, Promise<Expiring>>()

/** `name` must identify the identity; it is not logged. */
export async function cached<T extends Expiring>(name: string, now: number, fetch: () => Promise<T>): Promise<T> {
  const known = tokens.get(name)
  if (known) {
    const value = await (known as Promise<T>).catch(() => undefined)
    if (value && (value.expiresAt === undefined || value.expiresAt - marginMs > now)) return value
    if (tokens.get(name) !== known) return cached(name, now, fetch)
  }
  const fetching = fetch()
  tokens.set(name, fetching)
  return fetching.catch((error: unknown) => {
    if (tokens.get(name) === fetching) tokens.delete(name)
    throw error
  })
}

export function forget(name: string): void {
  tokens.delete(name)
}

/** An OAuth access token. */
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
