// The models that are known by name: those in a row, its default, and those in the catalogue. Others can be used too.

import type { Catalogue, Price } from './price.ts'
import type { ProviderRow } from './provider.ts'

export interface ListedModel {
  provider: string
  model: string
  contextWindow?: number
  price?: Price
}

export function listModels(rows: readonly ProviderRow[], catalogue: Catalogue): ListedModel[] {
  return rows.flatMap((row) => {
    const known = catalogue.models[row.catalogue ?? row.id] ?? {}
    const usual = row.defaultModel === undefined ? [] : [row.defaultModel]
    const names = new Set([...Object.keys(row.models ?? {}), ...usual, ...Object.keys(known)])
    return [...names].map((model) => {
      const { contextWindow, price } = { ...known[model], ...row.models?.[model] }
      return {
        provider: row.id,
        model,
        ...(contextWindow !== undefined && { contextWindow }),
        ...(price && { price }),
      }
    })
  })
}
