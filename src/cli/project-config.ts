// The configuration at the terminal. Most users have none: YAML is loaded only if there is a file.

import { existsSync } from 'node:fs'
import type { Config } from '../config/load.ts'
import { findConfigFile } from '../config/find-file.ts'
import type { ProviderRow } from '../providers/provider.ts'
import { rows } from '../providers/rows.ts'
import { isPostgres } from '../store/open.ts'
import { withLocalStore, storeAddress } from './local-store.ts'

export const configOptions = { config: { type: 'string' }, 'no-config': { type: 'boolean' } } as const

/** Undefined: there is no file, and the defaults apply. A file of an untrusted folder is an error. */
export async function projectConfig(values: ConfigValues): Promise<Config | undefined> {
  if (values['no-config'] || !findConfigFile({ file: values.config })) return undefined
  const { trustedConfig } = await import('./trusted.ts')
  return trustedConfig(values)
}

export interface ConfigValues {
  config?: string | undefined
  'no-config'?: boolean | undefined
}

interface Values extends ConfigValues {
  db?: string | undefined
}

/** All available providers: those of synapse.yaml, those of the store, and the built-in ones. */
export async function rowsHere(values: Values): Promise<readonly ProviderRow[]> {
  return providerRows(await projectConfig(values), values)
}

/** The same with a known configuration. */
export async function providerRows(config: Config | undefined, values: Values): Promise<readonly ProviderRow[]> {
  const place = storeAddress(values)
  // Reading does not create a store.
  if (!isPostgres(place) && !existsSync(place)) return config?.rows ?? rows
  return withLocalStore(values, async (local) => {
    const { rowsFor } = await import('../config/stored-providers.ts')
    return await rowsFor(local.store, config)
  })
}
