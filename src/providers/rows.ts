// All known providers. Facts checked 2026-11; a difference without documentation or observation is not in here.

import type { ProviderRow } from './provider.ts'
import { clouds } from './rows/clouds.ts'
import { hosts } from './rows/hosts.ts'
import { local } from './rows/local.ts'
import { makers } from './rows/makers.ts'

export { compatible } from './rows/local.ts'

export const rows: readonly ProviderRow[] = [...makers, ...clouds, ...hosts, ...local]

/** Custom rows, before the built-in ones: one with the same id replaces that one. */
export function rowsWith(added: readonly ProviderRow[], others: readonly ProviderRow[] = rows): readonly ProviderRow[] {
  const replaced = new Set(added.map((row) => row.id))
  return [...added, ...others.filter((row) => !replaced.has(row.id))]
}
