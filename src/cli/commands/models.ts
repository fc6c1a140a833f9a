// `synapse models`: which models can be asked, how much they read, and what they cost.

import { findRow } from '../../providers/find-row.ts'
import { catalogue } from '../../providers/catalogue.ts'
import { listModels, type ListedModel } from '../../providers/list-models.ts'
import { configOptions, rowsHere } from '../project-config.ts'
import { exitCode, parse, type Command } from '../command.ts'
import { live, modelTable } from '../model-list.ts'
import { print, printError, printJson } from '../print.ts'
import { styleFor, widthOf } from '../terminal.ts'
import { badInput } from '../../core/error.ts'
import type { ProviderRow } from '../../providers/provider.ts'

export const models: Command = {
  usage: `synapse models [PROVIDER] [--live] [--offline] [--json] [--config FILE]

Lists the models of all providers, or of one, with the name to use with -m, the context window and the price in US dollars
per million tokens: input, cached input, output. The list ships with Synapse (${catalogue.generatedAt}); models that are not on
it can be used as well. --live queries the provider, which needs its key.`,

  async run(argv) {
    const { values, positionals } = parse(argv, 1, {
      ...configOptions,
      live: { type: 'boolean' },
      offline: { type: 'boolean' },
      json: { type: 'boolean' },
    })
    const [name] = positionals
    const rows = await rowsHere(values)
    const row = name === undefined ? undefined : findRow(name, rows)
    if (values.live && !row) throw badInput('Say whom to ask: synapse models PROVIDER --live.')
    const found =
      values.live && row ? await ask(row, rows, values.offline === true) : listModels(row ? [row] : rows, catalogue)
    if (values.json) printJson(found, 2)
    else if (found.length === 0) {
      printError(`No model of ${row?.name ?? 'anybody'} is on the list. Add --live to ask the provider.\n`)
    } else {
      const style = styleFor(process.stdout, process.env)
      print(`${modelTable(found, widthOf(process.stdout), style).join('\n')}\n`)
    }
    return exitCode.ok
  },
}

async function ask(row: ProviderRow, rows: readonly ProviderRow[], offline: boolean): Promise<ListedModel[]> {
  const { endpoints } = await import('../endpoints.ts')
  const find = await endpoints({ offline, rows })
  // Which model is named does not matter: the address and the key do.
  const { endpoint, transport } = await find(`${row.id}/${row.defaultModel ?? 'any'}`, undefined)
  const { baseUrl, headers } = endpoint
  return live({ row, baseUrl, headers, catalogue, ...(transport.fetch && { fetch: transport.fetch }) })
}
