// All known providers. Facts checked 2026-11; a difference without documentation or observation is not in here.

import type { ProviderRow } from './provider.ts'
import { clouds } from './rows/clouds.ts'
import { hosts } from './rows/hosts.ts'
import { local } from './rows/local.ts'
import { makers } from './rows/makers.ts'

export { compatible } from './rows/local.ts'

export const rows: readonly ProviderRow[] = [...makers, ...clouds, ...hosts, ...local]

/** Custom rows, before the built-in ones: one with the same id replaces that one. */
export function rowsWith(own: readonly ProviderRow[], others: readonly ProviderRow[] = rows): readonly ProviderRow[] {
  const taken = new Set(own.map((row) => row.id))
  return [...own, ...others.filter((row) => !taken.has(row.id))]
}
