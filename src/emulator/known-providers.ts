// The providers that the emulator emulates, from the rows that the rest of the product uses.

import { catalogue } from '../providers/catalogue.ts'
import type { ProviderRow } from '../providers/provider.ts'
import { factsFor, wireOf } from '../providers/resolve-with.ts'
import { rows } from '../providers/rows.ts'
import type { Quirks } from '../wires/wire.ts'

export const providerIds: readonly string[] = rows.map((row) => row.id)

const byId: ReadonlyMap<string, ProviderRow> = new Map(rows.map((row) => [row.id, row]))

export function isProvider(id: string): boolean {
  return byId.has(id)
}

/** The provider of a host, with its port; undefined if no row names it. */
export function providerAt(url: URL): string | undefined {
  return rows.find((row) => row.wires.some((wire) => isHost(url.host, wire.baseUrl)))?.id
}

/** A variable part of a host name can be any label. */
function isHost(host: string, base: string): boolean {
  const [, named] = /^https?:\/\/([^/]+)/.exec(base) ?? []
  if (named === undefined || !named.includes('{')) return named === host
  // A host that is entirely variable is recognised by its path alone.
  if (/^\{\w+\}$/.test(named)) return false
  const pattern = named.replaceAll('.', '\\.').replaceAll(/\{\w+\}/g, '[\\w.-]+')
  return new RegExp(`^${pattern}$`).test(host)
}

/** The wires of a provider, its default one first. */
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
  const row = byId.get(provider)
  return row && factsFor(catalogue, row, wireOf(row, undefined, model), model).contextWindow
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
