// Who asks at a door. SDKs always send some key, in the header of their provider: where keys are not required, one that is
// none of ours is a placeholder and counts as none. It is never sent on to a provider.

import type { Store } from '../../store/store.ts'
import { findKey, isKeyShaped, unauthorized } from '../keys.ts'
import type { Principal } from '../principal.ts'

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
  const { id, owner, access, models, budget } = await findKey(store, key, options.now)
  return { owner, access, keyId: id, ...(models && { models }), ...(budget !== undefined && { budget }) }
}
