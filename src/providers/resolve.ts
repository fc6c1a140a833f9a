// From a name to all that a request needs: where it goes, how it is written, what can be asked, what it costs.

import { badInput } from '../core/error.ts'
import { loadWire } from '../wires/list.ts'
import type { Capabilities, Counting, Wire, Quirks } from '../wires/wire.ts'
import { baseUrlOf } from './base-url.ts'
import { mergeCaching, mergeCapabilities } from './capabilities.ts'
import { patchFor } from './models.ts'
import { factsOf, type Catalogue, type Price } from './price.ts'
import type { Caching, ProviderRow, StateStrategy, ProviderWire } from './provider.ts'
import { findRow } from './find-row.ts'

export interface Wanted {
  provider: string
  /** Absent: the provider's default. */
  model?: string
  /** One of the provider's wires; absent: its first. */
  protocol?: string
  /** Absent: looked for in the environment. */
  key?: string
  /** Goes without a key, for those who only want to see the request. */
  keyless?: boolean
  baseUrl?: string
  env?: Readonly<Record<string, string | undefined>>
  /** Absent: the rows that are built in. */
  rows?: readonly ProviderRow[]
}

export interface Endpoint {
  provider: ProviderRow
  protocol: Wire
  model: string
  /** Without a slash at the end; the protocol's path goes behind it. */
  baseUrl: string
  /** Holds the key. */
  headers: Record<string, string>
  /** Where the key came from. */
  keyVariable?: string
  quirks: Quirks
  capabilities: Capabilities
  caching: Caching
  state?: StateStrategy
  compaction?: 'native'
  /** How to ask for the tokens of a request; absent: the provider does not say. */
  counting?: Counting
  price?: Price
  /** The emulator answers in the provider's place, and no one is billed. */
  offline?: true
}

/** Loads only the protocol that is needed. Throws one sentence for a person where something is missing. */
export async function resolve(wanted: Wanted): Promise<Endpoint> {
  const { rows } = wanted.rows ? { rows: wanted.rows } : await import('./rows.ts')
  const wire = wireOf(findRow(wanted.provider, rows), wanted.protocol)
  const [protocol, { catalogue }] = await Promise.all([loadWire(wire.protocol), import('./catalogue.ts')])
  return resolveWith({ ...wanted, rows }, () => protocol, catalogue)
}

/** The same for those who have loaded everything already. */
export function resolveWith(
  wanted: Wanted & { rows: readonly ProviderRow[] },
  protocolOf: (id: string) => Wire,
  catalogue: Catalogue,
): Endpoint {
  const row = findRow(wanted.provider, wanted.rows)
  const wire = wireOf(row, wanted.protocol)
  const protocol = protocolOf(wire.protocol)
  const env = wanted.env ?? process.env
  const model = modelOf(row, wanted.model)
  const own = row.models && Object.hasOwn(row.models, model) ? row.models[model] : undefined
  const facts = { ...factsOf(catalogue, row.catalogue ?? row.id, model), ...own }
  const patch = patchFor(row.family ?? row.id, wire.protocol, model)
  const { headers, keyVariable } = authOf(row, wanted, env)
  const baseUrl = baseUrlOf(row, wire, wanted.baseUrl, env)
  const { state, compaction, counts } = wanted.baseUrl === undefined && isMoved(baseUrl, wire) ? {} : wire
  return {
    provider: row,
    protocol,
    model,
    baseUrl,
    headers,
    ...(keyVariable !== undefined && { keyVariable }),
    quirks: wire.quirks ?? {},
    capabilities: { ...mergeCapabilities(protocol, wire, facts, patch), ...own?.capabilities },
    caching: mergeCaching(wire, patch),
    ...(state && { state }),
    ...(compaction && { compaction }),
    ...(counts && protocol.counting && { counting: protocol.counting }),
    ...(facts.price && { price: facts.price }),
  }
}

/** Whether the environment names another host: a gateway is not trusted to keep, compact or count conversations. */
function isMoved(baseUrl: string, wire: ProviderWire): boolean {
  const home = URL.parse(wire.baseUrl)
  return home !== null && home.host !== URL.parse(baseUrl)?.host
}

function wireOf(row: ProviderRow, protocol: string | undefined): ProviderWire {
  const wire = protocol === undefined ? row.wires[0] : row.wires.find((one) => one.protocol === protocol)
  if (wire) return wire
  const spoken = row.wires.map((one) => one.protocol).join(' and ')
  throw badInput(`${row.id} does not speak "${protocol}". It speaks ${spoken}.`)
}

function modelOf(row: ProviderRow, model: string | undefined): string {
  const name = model ?? row.defaultModel
  if (name) return name
  throw badInput(`Name a model for ${row.id}, such as ${row.id}/<model>: which ones it has depends on the server.`)
}

function authOf(
  row: ProviderRow,
  { key: given, keyless }: Wanted,
  env: Readonly<Record<string, string | undefined>>,
): { headers: Record<string, string>; keyVariable?: string } {
  const variable = row.keyVariables.find((name) => env[name]?.trim())
  const key = (given ?? (variable && env[variable]))?.trim()
  if (!key) {
    if (row.keyOptional || keyless) return { headers: {} }
    const names = row.keyVariables.join(' or ')
    throw badInput(`${row.name} needs a key: set ${names}${row.keysAt ? ` (keys are at ${row.keysAt})` : ''}.`)
  }
  const keyVariable = given === undefined ? variable : undefined
  if (!/^[\x21-\x7e]+$/.test(key)) {
    const which = keyVariable ? `The key in ${keyVariable}` : `The key for ${row.name}`
    throw badInput(`${which} has characters that no key has, such as spaces or line breaks; copy it again.`)
  }
  const headers = { [row.auth.header]: `${row.auth.prefix ?? ''}${key}` }
  return { headers, ...(keyVariable !== undefined && { keyVariable }) }
}
