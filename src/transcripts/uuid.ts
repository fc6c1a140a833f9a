// Ids derived from their content, so that the same conversation gives the same file. They are marked as random ones
// (version 4), because agents accept no others as session ids.

import { createHash } from 'node:crypto'

export function uuidFor(seed: string): string {
  const hex = createHash('sha256').update(seed).digest('hex')
  return [hex.slice(0, 8), hex.slice(8, 12), `4${hex.slice(13, 16)}`, `8${hex.slice(17, 20)}`, hex.slice(20, 32)].join(
    '-',
  )
}
