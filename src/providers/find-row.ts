// A provider by its id, or one sentence that helps to find it.

import { editDistance } from '../core/edit-distance.ts'
import { badInput } from '../core/error.ts'
import type { ProviderRow } from './provider.ts'

export function findRow(id: string, rows: readonly ProviderRow[]): ProviderRow {
  const row = rows.find((candidate) => candidate.id === id)
  if (row) return row
  const near = nearest(id, rows)
  if (near.length > 0) throw badInput(`There is no provider "${id}". Did you mean ${near.join(' or ')}?`)
  throw badInput(`There is no provider "${id}". "synapse providers" lists them; a model is written provider/model.`)
}

/** Ids with a similar spelling, or whose name contains the word. */
function nearest(wrong: string, rows: readonly ProviderRow[]): string[] {
  const word = wrong.toLowerCase()
  const scored = rows.flatMap((row) => {
    const names = [row.id, ...row.name.toLowerCase().split(/[^a-z0-9.]+/)].filter((part) => part.length > 2)
    const distance = Math.min(...names.map((part) => editDistance(word, part)))
    return distance <= Math.min(2, Math.floor(word.length / 3)) ? [{ id: row.id, distance }] : []
  })
  return scored
    .toSorted((a, b) => a.distance - b.distance)
    .slice(0, 3)
    .map(({ id }) => id)
}
