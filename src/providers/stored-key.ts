// A key that was stored on this machine (`synapse auth`), for requests to the host of the provider in the built-in
// list. No setting, variable or file can send it anywhere else.

import { badInput } from '../core/error.ts'
import { baseUrlOf } from './base-url.ts'
import { exampleOf, filledIn } from './places.ts'
import type { ProviderRow, ProviderWire } from './provider.ts'
import type { Wanted } from './resolve.ts'
import { rows as builtIn } from './rows.ts'

/** Undefined if the environment has a key, which takes precedence, or if none is needed. */
export function storedKeyFor(row: ProviderRow, wire: ProviderWire, wanted: Wanted): string | undefined {
  const { storedKeys, env = process.env, key, keyless, baseUrl } = wanted
  if (!storedKeys || key !== undefined || row.keyVariables.some((name) => env[name]?.trim())) return undefined
  const stored = Object.hasOwn(storedKeys, row.id) ? storedKeys[row.id] : undefined
  const address = URL.parse(baseUrlOf(row, wire, baseUrl, env))
  const isHome = () => address !== null && homesOf(row.id, (url) => filledIn(url, row, env)).includes(address.origin)
  if (stored !== undefined && isHome()) return stored
  if (row.keyOptional || keyless) return undefined
  const names = row.keyVariables.join(' or ')
  if (stored !== undefined) {
    const host = address?.host ?? 'another host'
    throw badInput(`The stored key of ${row.name} goes to its own host only, not to ${host}: set ${names} for that.`)
  }
  if (row.credentials || !canStoreKey(row)) return undefined
  const where = row.keysAt ? ` (keys are at ${row.keysAt})` : ''
  throw badInput(`${row.name} needs a key: "synapse auth ${row.id}" stores one, or set ${names}${where}.`)
}

/** Whether a key of this provider can be stored: it needs one, and its host is known. */
export function canStoreKey(row: Pick<ProviderRow, 'id' | 'keyOptional' | 'places'>): boolean {
  return !row.keyOptional && homesOf(row.id, (address) => exampleOf(address, row)).length > 0
}

/** The built-in addresses of a provider, with their variable parts filled in. */
function homesOf(id: string, fill: (address: string) => string): string[] {
  const row = builtIn.find((candidate) => candidate.id === id)
  return row?.wires.flatMap((wire) => URL.parse(fill(wire.baseUrl))?.origin ?? []) ?? []
}
