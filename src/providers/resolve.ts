// A model name resolved with only the modules it needs.

import type { Env } from '../auth/authorizer.ts'
import { loadWire } from '../wires/list.ts'
import type { Wire } from '../wires/wire.ts'
import { builtInRows, loadCatalogue } from './load.ts'
import { findRow } from './find-row.ts'
import { placeIn } from './places.ts'
import type { ProviderRow, ProviderWire } from './provider.ts'
import { resolveWith, wireOf, type Endpoint, type Wanted } from './resolve-with.ts'

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
  const stored = wanted.storedKeys && (await import('./stored-key.ts')).storedKeyFor(row, wire, { ...wanted, env })
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

async function wireFor({ protocol, module }: ProviderWire, own: readonly Wire[] = []): Promise<Wire> {
  const given = own.find(({ id }) => id === protocol)
  if (given || module === undefined) return given ?? loadWire(protocol)
  const { loadOwnWire } = await import('./load-own-wire.ts')
  return loadOwnWire(module, protocol)
}
