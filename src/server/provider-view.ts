// A provider as the page sees it: its capabilities, and whether there is a key.

import type { ProviderRow } from '../providers/provider.ts'
import { canStoreKey } from '../providers/stored-key.ts'
import type { ServerContext } from './context.ts'
import type { ProviderView } from './server-views.ts'

export function providerOf({ env, offline, keyring, keysRequired }: ServerContext, row: ProviderRow): ProviderView {
  const isSet = row.keyVariables.some((name) => env[name]?.trim())
  const isStored = keyring?.stored().includes(row.id) === true
  return {
    id: row.id,
    name: row.name,
    key: isSet || isStored ? 'found' : row.keyOptional || offline ? 'not-needed' : 'missing',
    ...((isSet || isStored) && { keyFrom: isSet ? 'environment' : 'stored' }),
    canStoreKey: keyring !== undefined && !keysRequired && canStoreKey(row),
    ...(row.keysAt !== undefined && { keysAt: row.keysAt }),
    keyVariables: [...row.keyVariables],
    ...(row.defaultModel !== undefined && { defaultModel: row.defaultModel }),
    wires: row.wires.map(({ protocol, state, caching, compaction }) => ({
      protocol,
      state: state?.kind ?? 'stateless',
      caching,
      compaction: compaction ?? 'summary',
    })),
  }
}
