// The order in which branches are listed: by name as JavaScript sorts, since databases sort text differently.

import type { Branch } from '../core/log.ts'

/** Named ones by name, then the others in their order. */
export function inBranchOrder(branches: readonly Branch[]): Branch[] {
  const named = branches.filter((branch) => branch.name !== undefined)
  const plain = branches.filter((branch) => branch.name === undefined)
  return [...named.toSorted((a, b) => ((a.name ?? '') < (b.name ?? '') ? -1 : 1)), ...plain]
}
