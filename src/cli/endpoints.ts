// The endpoints for the terminal. An address that is only in the .env file of a folder is not the user's own choice, so
// no request to a built-in provider goes there.

import { dirname } from 'node:path'
import { choosingVariables } from '../auth/authorizer.ts'
import { setByFolder } from '../config/folder-variables.ts'
import { readStoredKeys } from '../config/stored-keys.ts'
import { isTrustedFile } from '../config/trust.ts'
import { badInput } from '../core/error.ts'
import { endpointFinder } from '../runtime/open.ts'
import { findModel } from '../providers/find-model.ts'
import type { ProviderRow } from '../providers/provider.ts'
import type { Runtime } from '../run/settings.ts'

export async function endpoints(options: {
  offline: boolean
  rows: readonly ProviderRow[]
  aliases?: Readonly<Record<string, string>> | undefined
}): Promise<Runtime['endpoint']> {
  const { aliases = {}, ...rest } = options
  if (options.offline) return endpointFinder({ ...rest, aliases, env: process.env })
  const find = await endpointFinder({ ...rest, aliases, env: process.env, storedKeys: readStoredKeys })
  return async (model, protocol) => {
    const { provider } = await findModel(model, { ...options, env: process.env, keys: readStoredKeys() })
    const row = options.rows.find(({ id }) => id === provider)
    refuseFolderAddress(row)
    refuseFolderKey(row)
    return find(model, protocol)
  }
}

function refuseFolderAddress(row: ProviderRow | undefined): void {
  if (!row) return
  const address = row.baseUrlVariables?.find((name) => process.env[name]?.trim())
  const places = Object.values(row.places ?? {}).flatMap((place) => ('from' in place ? [] : place.variables))
  const accounts = row.credentials ? choosingVariables[row.credentials.kind] : []
  for (const variable of [...(address === undefined ? [] : [address]), ...places, ...accounts]) {
    const value = process.env[variable]
    const file = value?.trim() ? setByFolder(variable, value) : undefined
    if (file === undefined) continue
    throw badInput(
      `${variable} comes from ${file}, and a file in a folder may not redirect requests to ${row.name}; set the variable in your shell profile, or the address in your own synapse.yaml.`,
    )
  }
}

/** The owner of the key can see in their account what it is used for. */
function refuseFolderKey(row: ProviderRow | undefined): void {
  const variable = row?.keyVariables.find((name) => process.env[name]?.trim())
  const value = variable === undefined ? '' : (process.env[variable] ?? '')
  const file = variable === undefined ? undefined : setByFolder(variable, value)
  if (variable === undefined || file === undefined || isTrustedFile(file)) return
  throw badInput(
    `${variable} comes from ${file}, and the owner of that key could see your requests: trust the file with "synapse trust ${dirname(file)}", or set the variable in your shell profile.`,
  )
}
