// Everybody we know. Facts checked 2026-11; a difference that no one has documented or seen is not in here.

import type { ProviderRow } from './provider.ts'
import { hosts } from './rows/hosts.ts'
import { local } from './rows/local.ts'
import { makers } from './rows/makers.ts'

export { compatible } from './rows/local.ts'

export const rows: readonly ProviderRow[] = [...makers, ...hosts, ...local]

/** Rows that somebody brings along, in front of those that are there: one with the same id takes the place of that one. */
export function rowsWith(own: readonly ProviderRow[], others: readonly ProviderRow[] = rows): readonly ProviderRow[] {
  const taken = new Set(own.map((row) => row.id))
  return [...own, ...others.filter((row) => !taken.has(row.id))]
}
