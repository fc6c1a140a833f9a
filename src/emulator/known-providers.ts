// The providers that the emulator plays, from the rows that the rest of the product uses.

import { catalogue } from '../providers/catalogue.ts'
import { factsOf } from '../providers/price.ts'
import type { ProviderRow } from '../providers/provider.ts'
import { rows } from '../providers/rows.ts'
import type { Quirks } from '../wires/wire.ts'

export const providerIds: readonly string[] = rows.map((row) => row.id)

const byId: ReadonlyMap<string, ProviderRow> = new Map(rows.map((row) => [row.id, row]))

export function isProvider(id: string): boolean {
  return byId.has(id)
}

/** Whose host it is, with its port; nothing for one that no row names. */
export function providerAt(url: URL): string | undefined {
  const isHost = (base: string) => URL.canParse(base) && new URL(base).host === url.host
  return rows.find((row) => row.wires.some((wire) => isHost(wire.baseUrl)))?.id
}

/** The wires of a provider, its usual one first. */
export function protocolsOf(provider: string): string[] {
  const row = byId.get(provider)
  return row ? [...row.wires.map((wire) => wire.protocol), ...(row.otherWires ?? [])] : []
}

export function needsKey(provider: string): boolean {
  return byId.get(provider)?.keyOptional !== true
}

/** How a provider differs from others on a wire. */
export function quirksOf(provider: string, protocol: string): Quirks {
  return byId.get(provider)?.wires.find((wire) => wire.protocol === protocol)?.quirks ?? {}
}

export function windowOf(provider: string, model: string): number | undefined {
  return factsOf(catalogue, catalogueOf(provider), model).contextWindow
}

export function modelsOf(provider: string): { id: string; contextWindow?: number }[] {
  const known = Object.entries(catalogue.models[catalogueOf(provider)] ?? {})
  const usual = byId.get(provider)?.defaultModel
  const models = known.map(([id, { contextWindow }]) => ({ id, ...(contextWindow !== undefined && { contextWindow }) }))
  return usual === undefined || models.some(({ id }) => id === usual) ? models : [{ id: usual }, ...models]
}

function catalogueOf(provider: string): string {
  return byId.get(provider)?.catalogue ?? provider
}
