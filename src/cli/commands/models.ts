// `synapse models`: the available models, their context windows and prices.

import { findRow } from '../../providers/find-row.ts'
import { catalogue } from '../../providers/catalogue.ts'
import { type ListedModel, listModels } from '../../providers/find-model.ts'
import { configOptions, rowsHere } from '../project-config.ts'
import { type Command, exitCode, parse } from '../command.ts'
import { withLocalStore, storeOptions } from '../local-store.ts'
import { live, modelTable } from '../model-list.ts'
import { print, printError, printJson } from '../print.ts'
import { styleFor, widthOf } from '../terminal.ts'
import { badInput } from '../../core/error.ts'
import type { ProviderRow } from '../../providers/provider.ts'

export const models: Command = {
  usage: `synapse models [PROVIDER | NAME] [--live] [--offline] [--json] [--config FILE]
synapse models --favourite MODEL | --unfavourite MODEL [--db FILE]

Lists the models of all providers, of one, or those with NAME in their names, with the name to use with -m, the context
window and the price in US dollars per million tokens: input, cached input, output. The list ships with Synapse
(${catalogue.generatedAt}); other models can be used as well. --live queries the provider, which needs its key (a local
server needs none). --favourite marks a model, for the page and for /model in a chat.`,

  async run(argv) {
    const { values, positionals } = parse(argv, 1, {
      ...configOptions,
      live: { type: 'boolean' },
      offline: { type: 'boolean' },
      json: { type: 'boolean' },
      favourite: { type: 'string' },
      unfavourite: { type: 'string' },
      ...storeOptions,
    })
    const [name] = positionals
    const rows = await rowsHere(values)
    const marked = values.favourite ?? values.unfavourite
    if (marked !== undefined) {
      await mark(marked, rows, values)
      return exitCode.ok
    }
    const all = listModels(rows, catalogue)
    const word = name?.toLowerCase() ?? ''
    const named = rows.some((row) => row.id === word) || word === '' ? [] : all.filter((model) => matches(model, word))
    const row = name === undefined || named.length > 0 ? undefined : findRow(name, rows)
    if (values.live && !row) throw badInput('Name the provider to query: synapse models PROVIDER --live.')
    const listed = row ? listModels([row], catalogue) : named.length > 0 ? named : all
    const models = values.live && row ? await ask(row, rows, values.offline === true) : listed
    if (values.json) printJson(models, 2)
    else if (models.length === 0) {
      printError(`No model of ${row?.name ?? 'any provider'} is on the list. Add --live to query the provider.\n`)
    } else {
      const style = styleFor(process.stdout, process.env)
      print(`${modelTable(models, widthOf(process.stdout), style).join('\n')}\n`)
    }
    return exitCode.ok
  },
}

function matches({ provider, model }: ListedModel, word: string): boolean {
  return `${provider}/${model}`.toLowerCase().includes(word)
}

async function mark(
  model: string,
  rows: readonly ProviderRow[],
  values: { db?: string | undefined; favourite?: string | undefined },
): Promise<void> {
  const [{ findModel }, { setFavourite }] = await Promise.all([
    import('../../providers/find-model.ts'),
    import('../../run/favourites.ts'),
  ])
  const ref = await findModel(model, { rows, env: process.env })
  const fullName = ref.model === undefined ? ref.provider : `${ref.provider}/${ref.model}`
  return withLocalStore(values, async (local) => {
    await setFavourite(local.store, local.owner, fullName, values.favourite !== undefined)
    print(`${fullName} is ${values.favourite === undefined ? 'no longer a favourite' : 'a favourite'}.\n`)
  })
}

async function ask(row: ProviderRow, rows: readonly ProviderRow[], offline: boolean): Promise<ListedModel[]> {
  const { endpoints } = await import('../endpoints.ts')
  const find = await endpoints({ offline, rows })
  // The model does not matter here: the address and the key do.
  const { endpoint, transport } = await find(`${row.id}/${row.defaultModel ?? 'any'}`, undefined)
  const { baseUrl, headers, authorize } = endpoint
  return live({ row, baseUrl, headers, authorize, catalogue, ...(transport.fetch && { fetch: transport.fetch }) })
}
