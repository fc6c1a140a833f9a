// The caller at a door. SDKs always send some key, in the header of their provider: if keys are not required, one that
// is not ours is a placeholder and is ignored. It is never passed on to a provider.

import type { Store } from '../../store/store.ts'
import { findKey, isKeyShaped, unauthorized } from '../keys.ts'
import { holderOf, type Principal } from '../principal.ts'

export async function doorPrincipal(
  store: Store,
  headers: Headers,
  query: URLSearchParams | undefined,
  options: { keysRequired: boolean; now: number },
): Promise<Principal> {
  const given = [
    /^Bearer +(\S+)$/i.exec(headers.get('authorization')?.trim() ?? '')?.[1],
    headers.get('x-api-key')?.trim(),
    headers.get('x-goog-api-key')?.trim(),
    query?.get('key')?.trim(),
  ].filter((key) => key !== undefined && key !== '')
  const ours = [...new Set(given.filter((key) => key !== undefined && isKeyShaped(key)))]
  const [key] = ours
  if (ours.length > 1) throw unauthorized('Two different keys were sent.')
  if (key === undefined) {
    if (!options.keysRequired) return { owner: 'local', access: 'write' }
    throw unauthorized('A key of this server is needed: use one that begins with syn_ as the API key of your client.')
  }
  return holderOf(await findKey(store, key, options.now))
}
