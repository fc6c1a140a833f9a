// Who is asked at the terminal, and where. An address that only stands in the .env file of a folder is not the user's own
// choice, so no built-in provider is asked there.

import { setByFolder } from '../config/folder-variables.ts'
import { badInput } from '../core/error.ts'
import { endpointFinder } from '../runtime/open.ts'
import { findModel } from '../providers/find-model.ts'
import type { ProviderRow } from '../providers/provider.ts'
import type { Runtime } from '../run/settings.ts'

export async function endpoints(options: {
  offline: boolean
  rows: readonly ProviderRow[]
}): Promise<Runtime['endpoint']> {
  const find = await endpointFinder({ ...options, env: process.env })
  if (options.offline) return find
  return async (model, protocol) => {
    const { provider } = await findModel(model, { rows: options.rows, env: process.env })
    refuseFolderAddress(options.rows.find(({ id }) => id === provider))
    return find(model, protocol)
  }
}

function refuseFolderAddress(row: ProviderRow | undefined): void {
  const variable = row?.baseUrlVariables?.find((name) => process.env[name]?.trim())
  const value = variable === undefined ? undefined : process.env[variable]
  const file = variable === undefined || value === undefined ? undefined : setByFolder(variable, value)
  if (!row || file === undefined) return
  throw badInput(
    `${variable} comes from ${file}, and a file in a folder may not choose where ${row.name} is asked; set it in the profile of your shell, or the address in your own synapse.yaml.`,
  )
}
