// A model name resolved with only the modules it needs.

import { pathToFileURL } from 'node:url'
import type { Env } from '../auth/authorizer.ts'
import { badInput } from '../core/error.ts'
import { isObject } from '../core/json.ts'
import { defineWire, type WireDefinition } from '../wires/define-wire.ts'
import { loadWire } from '../wires/list.ts'
import type { Wire } from '../wires/wire.ts'
import { findRow } from './find-row.ts'
import { builtInRows, loadCatalogue, loadStoredKeyFor } from './load.ts'
import { placeIn } from './places.ts'
import type { ProviderRow, ProviderWire } from './provider.ts'
import { type Endpoint, resolveWith, type Wanted, wireOf } from './resolve-with.ts'

export type { Endpoint, Wanted } from './resolve-with.ts'

/** Whether its server returns the prompt that it makes of a request on this wire. */
export function rendersPrompt({ provider, protocol }: Endpoint): boolean {
  return provider.wires.some((wire) => wire.protocol === protocol.id && wire.rendersPrompt === true)
}

/** Loads only the wire that is needed. Throws one sentence for the user if something is missing. */
export async function resolve(wanted: Wanted): Promise<Endpoint> {
  const rows = wanted.rows ?? (await builtInRows())
  const row = findRow(wanted.provider, rows)
  const wire = wireOf(row, wanted.protocol, wanted.model)
  const [protocol, catalogue] = await Promise.all([wireFor(wire, wanted.wires), loadCatalogue()])
  const env = await withProfile(row, wanted.env ?? process.env)
  const stored = wanted.storedKeys && (await loadStoredKeyFor())(row, wire, { ...wanted, env })
  const key = stored === undefined ? {} : { key: stored }
  const endpoint = resolveWith({ ...wanted, ...key, env, rows }, () => protocol, catalogue)
  const { header } = wire.auth ?? row.auth
  if (!row.credentials || wanted.keyless || header in endpoint.headers) return endpoint
  const { authorizer } = await import('../auth/authorizer.ts')
  return { ...endpoint, authorize: authorizer(row.credentials, { env, region: placeIn('region', row, env) }) }
}

/** The environment with the region of the AWS profile, if it names none itself. */
async function withProfile(row: ProviderRow, env: Env): Promise<Env> {
  const place = row.places?.['region']
  if (!place || 'from' in place || !place.profile || !env['HOME']) return env
  if (place.variables.some((name) => env[name]?.trim())) return env
  const { awsProfile } = await import('../auth/aws-profile.ts')
  const region = awsProfile(env)?.[place.profile]
  return region === undefined ? env : { ...env, [place.variables[0] ?? '']: region }
}

async function wireFor({ protocol, module }: ProviderWire, customWires: readonly Wire[] = []): Promise<Wire> {
  const custom = customWires.find(({ id }) => id === protocol)
  if (custom || module === undefined) return custom ?? loadWire(protocol)
  return loadOwnWire(module, protocol)
}

/**
 * The wire of a row that brings its own module. The reader of the row has checked whether the module may be loaded.
 */
async function loadOwnWire(path: string, id: string): Promise<Wire> {
  let exported: Record<string, unknown>
  try {
    exported = (await import(pathToFileURL(path).href)) as Record<string, unknown>
  } catch (error) {
    const why = error instanceof Error ? error.message.split('\n', 1)[0] : String(error)
    throw badInput(`The module ${path} of the wire ${id} cannot be loaded: ${why}`)
  }
  const match = Object.values(exported).find(
    (value): value is WireDefinition & object => isObject(value) && value['id'] === id,
  )
  if (!match) throw badInput(`The module ${path} exports no wire with the id "${id}".`)
  return defineWire(match)
}
