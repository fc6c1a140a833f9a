// Signatures and ciphertexts of providers, and the placeholder for them in replies of our server: a token that names the
// stored reply. It is base64, as clients expect there, and can be recognised, because it must never be sent to a
// provider.

import { isObject, type Json } from '../../core/json.ts'

/** Three bytes for each four letters, so that the rest is valid base64 by itself. */
export const tokenPrefix = 'SynapseSealedV1A'

/** How many letters follow: the id of an exchange and the proof that it is ours. */
const bodyLength = 44

export function isToken(text: string): boolean {
  return text.startsWith(tokenPrefix)
}

/** The tokens in a text, such as a body. */
export function tokensIn(text: string): string[] {
  if (!text.includes(tokenPrefix)) return []
  return text.match(new RegExp(`${tokenPrefix}[A-Za-z0-9+/]{${bodyLength}}`, 'g')) ?? []
}

const cache = new WeakMap<object, boolean>()

/** Whether there is a token anywhere in supposed provider data. */
export function holdsToken(native: readonly Json[]): boolean {
  const cached = cache.get(native)
  if (cached !== undefined) return cached
  const isSealed = native.some(holds)
  cache.set(native, isSealed)
  return isSealed
}

function holds(value: Json | undefined): boolean {
  if (typeof value === 'string') return isToken(value)
  if (Array.isArray(value)) return value.some(holds)
  return isObject(value) && Object.values(value).some(holds)
}

/** Whether supposed provider data contains a signature or a ciphertext, which only a provider can make. */
export function holdsSignature(native: readonly Json[]): boolean {
  return /"(?:signature|encrypted_content|thoughtSignature)":"[^"]/.test(JSON.stringify(native))
}
