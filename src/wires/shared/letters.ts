// Letters derived from a seed: reproducible ids for a server.

import { createHash } from 'node:crypto'

const letters = '0123456789ABCDEFGHJKMNPQRSTVWXYZabcdefghjkmnpqrstvwxyz'

export function lettersFrom(seed: string, length: number): string {
  const bytes = createHash('sha512').update(seed).digest()
  let text = ''
  for (let i = 0; i < length; i++) text += letters[(bytes[i] ?? 0) % letters.length]
  return text
}
