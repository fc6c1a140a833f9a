// The caller of a request. This is the only place that turns headers into an owner and its permissions: a limit for one
// form of the header but not for another is no limit.

import { SynapseError } from '../core/error.ts'
import { matchesPattern } from '../core/pattern.ts'
import type { Store } from '../store/store.ts'
import { findKey, isKeyShaped, unauthorized, type Access, type ApiKey } from './keys.ts'

/** The permissions of the key that was given; without one, those of the local user. */
export interface Principal extends Pick<
  ApiKey,
  'owner' | 'access' | 'models' | 'budget' | 'defaultModel' | 'policy' | 'keep' | 'perMinute'
> {
  keyId?: string
}

export async function principalOf(
  store: Store,
  headers: Headers,
  options: { keysRequired: boolean; now: number },
): Promise<Principal> {
  const key = keyIn(headers)
  if (key === undefined) {
    if (!options.keysRequired) return { owner: 'local', access: 'write' }
    throw unauthorized('A key is needed: send it as "Authorization: Bearer syn_…".')
  }
  return principalOfKey(await findKey(store, key, options.now))
}

/**
 * The caller at a front door. SDKs always send some key, in the header of their provider: if keys are not required, one
 * that is not ours is a placeholder and is ignored. It is never passed on to a provider.
 */
export async function doorPrincipal(
  store: Store,
  headers: Headers,
  query: URLSearchParams | undefined,
  options: { keysRequired: boolean; now: number },
): Promise<Principal> {
  const candidates = [
    /^Bearer +(\S+)$/i.exec(headers.get('authorization')?.trim() ?? '')?.[1],
    headers.get('x-api-key')?.trim(),
    headers.get('x-goog-api-key')?.trim(),
    query?.get('key')?.trim(),
  ]
  const ours = [...new Set(candidates.filter((candidate) => candidate !== undefined && isKeyShaped(candidate)))]
  const [key] = ours
  if (ours.length > 1) throw unauthorized('Two different keys were sent.')
  if (key === undefined) {
    if (!options.keysRequired) return { owner: 'local', access: 'write' }
    throw unauthorized('A key of this server is needed: use one that begins with syn_ as the API key of your client.')
  }
  return principalOfKey(await findKey(store, key, options.now))
}

/** The caller with this key. */
function principalOfKey({
  id,
  owner,
  access,
  models,
  budget,
  defaultModel,
  policy,
  keep,
  perMinute,
}: ApiKey): Principal {
  return {
    owner,
    access,
    keyId: id,
    ...(models && { models }),
    ...(budget !== undefined && { budget }),
    ...(defaultModel !== undefined && { defaultModel }),
    ...(policy !== undefined && { policy }),
    ...(keep !== undefined && { keep }),
    ...(perMinute !== undefined && { perMinute }),
  }
}

export function allow(principal: Principal, access: Access): void {
  if (access === 'read' || principal.access === 'write') return
  throw new SynapseError({ kind: 'permission', message: 'This key may only read.' })
}

export function mayUse({ models }: Principal, model: string): boolean {
  return !models || models.some((pattern) => matchesPattern(pattern, model))
}

/** `model` is the resolved full name, `provider/model`. */
export function allowModel(principal: Principal, model: string): void {
  const { models } = principal
  if (!models || mayUse(principal, model)) return
  throw new SynapseError({
    kind: 'permission',
    message: `This key is not allowed to use ${model}; it may use ${models.join(', ')}.`,
  })
}

function keyIn(headers: Headers): string | undefined {
  const authorization = headers.get('authorization')
  const plain = headers.get('x-api-key')
  if (authorization === null) return plain?.trim()
  const [, bearer] = /^Bearer +(\S+)$/i.exec(authorization.trim()) ?? []
  if (bearer === undefined) throw unauthorized('The Authorization header must be "Bearer syn_…".')
  if (plain !== null && plain.trim() !== bearer) throw unauthorized('Two different keys were sent.')
  return bearer
}
