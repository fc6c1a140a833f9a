// An OAuth access token, from an answer and for a header.

import { SynapseError } from '../core/error.ts'
import type { JsonObject } from '../core/json.ts'
import { cached } from './token-cache.ts'

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
    throw new SynapseError({ kind: 'auth', message: `${who} gave no access token; check the credentials.` })
  }
  const lifetime = Number(seconds)
  return { token, ...(Number.isFinite(lifetime) && { expiresAt: now + lifetime * 1000 }) }
}
