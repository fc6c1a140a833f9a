// Ids of a server, derived from a seed so that they are reproducible.

import { createHash } from 'node:crypto'

const letters = '0123456789ABCDEFGHJKMNPQRSTVWXYZabcdefghjkmnpqrstvwxyz'

export function lettersFrom(seed: string, length: number): string {
  const bytes = createHash('sha512').update(seed).digest()
  let text = ''
  for (let i = 0; i < length; i++) text += letters[(bytes[i] ?? 0) % letters.length]
  return text
}

/** A prefix and hexadecimal digits. */
export function digestId(prefix: string, seed: string, length: number): string {
  return prefix + createHash('sha512').update(seed).digest('hex').slice(0, length)
}
