// `synapse providers`: the available providers, whether there is a key, and their capabilities; and custom providers,
// stored in the store.

import { readStoredKeys } from '../../config/stored-keys.ts'
import { badInput } from '../../core/error.ts'
import { isObject, type JsonObject } from '../../core/json.ts'
import type { ProviderRow } from '../../providers/provider.ts'
import { type Command, exitCode, parse } from '../command.ts'
import { configOptions, rowsHere } from '../project-config.ts'
import { withLocalStore, storeOptions } from '../local-store.ts'
import { print, printJson } from '../print.ts'
import { table } from '../table.ts'
import { styleFor, widthOf } from '../terminal.ts'

export const providers: Command = {
  usage: `synapse providers [--json] [--db FILE] [--config FILE]
synapse providers configure ID [--base-url URL] [--protocol WIRE] [--extends PROVIDER] [--key-variable NAME]
                               [--default-model MODEL] [--name TEXT] [--tool-messages text]
                               [--state-field FIELD] [--state-id-path PATH] [--state-kind KIND]
                               [--row FILE] [--db FILE]
synapse providers remove ID [--db FILE]

Lists every provider with its APIs, whether there is an API key (in the environment, or stored with "synapse auth"), and
its support for server-side state, prompt caching and compaction.

"configure" stores a provider in the database, for every program that uses it: your own server, another address of a
known provider (--extends), or a change to a built-in one (its ID). --tool-messages text is for a server that refuses
tool messages; --state-field names the request field with which a server continues a conversation. --row reads further
settings from a YAML file, as under "providers" in synapse.yaml. Keys are never stored, only the name of the
environment variable that holds one.`,

  async run(argv) {
    const { values, positionals } = parse(argv, 2, {
      ...storeOptions,
      ...configOptions,
      json: { type: 'boolean' },
      'base-url': { type: 'string' },
      protocol: { type: 'string' },
      extends: { type: 'string' },
      'key-variable': { type: 'string' },
      'default-model': { type: 'string' },
      name: { type: 'string' },
      'tool-messages': { type: 'string' },
      'state-kind': { type: 'string' },
      'state-field': { type: 'string' },
      'state-id-path': { type: 'string' },
      row: { type: 'string' },
    })
    const [action, id] = positionals
    if (action === undefined) list(await rowsHere(values), values.json === true)
    else if (!['configure', 'remove'].includes(action) || id === undefined) {
      throw badInput('Use "synapse providers", "synapse providers configure ID" or "synapse providers remove ID".')
    } else if (action === 'configure') await configure(id, values)
    else await remove(id, values)
    return exitCode.ok
  },
}

function list(rows: readonly ProviderRow[], json: boolean): void {
  const wires = rows.flatMap((row) =>
    row.wires.map((wire, index) => ({
      provider: row.id,
      wire: wire.protocol,
      default: index === 0,
      key: keyOf(row),
      state: wire.state?.kind ?? 'stateless',
      caching: wire.caching,
      compaction: wire.compaction ?? 'summary',
      model: row.defaultModel ?? '',
    })),
  )
  if (json) {
    printJson(wires, 2)
    return
  }
  const style = styleFor(process.stdout, process.env)
  const cells = wires.map((line) => [
    line.default ? line.provider : '',
    line.wire,
    line.default ? line.key : '',
    line.state,
    line.caching,
    line.compaction,
    line.default ? line.model : '',
  ])
  const heads = ['provider', 'wire', 'key', 'state', 'caching', 'compaction', 'default model']
  const columns = heads.map((head) => ({ head }))
  print(`${table(columns, cells, widthOf(process.stdout), style).join('\n')}\n`)
}

interface Settings {
  db?: string | undefined
  'base-url'?: string | undefined
  protocol?: string | undefined
  extends?: string | undefined
  'key-variable'?: string | undefined
  'default-model'?: string | undefined
  name?: string | undefined
  'tool-messages'?: string | undefined
  'state-kind'?: string | undefined
  'state-field'?: string | undefined
  'state-id-path'?: string | undefined
  row?: string | undefined
}

async function configure(id: string, values: Settings): Promise<void> {
  const entry = {
    ...(await rowIn(values.row)),
    ...(values['base-url'] !== undefined && { baseUrl: values['base-url'] }),
    ...(values.protocol !== undefined && { protocol: values.protocol }),
    ...(values.extends !== undefined && { extends: values.extends }),
    ...(values['key-variable'] !== undefined && { keyVariable: values['key-variable'] }),
    ...(values['default-model'] !== undefined && { defaultModel: values['default-model'] }),
    ...(values.name !== undefined && { name: values.name }),
    ...(values['tool-messages'] !== undefined && { quirks: { toolMessages: values['tool-messages'] } }),
    ...stateIn(values),
    id,
  }
  return withLocalStore(values, async (local) => {
    const { keepProvider } = await import('../../config/stored-providers.ts')
    const row = await keepProvider(local.store, entry)
    const wires = row.wires.map((wire) => `${wire.protocol} at ${wire.baseUrl}`).join(', ')
    print(`${row.id}: ${wires}; key ${keyOf(row)}\n`)
  })
}

function stateIn(values: Settings): JsonObject {
  const [kind, field, idPath] = [values['state-kind'], values['state-field'], values['state-id-path']]
  if (kind === undefined && field === undefined && idPath === undefined) return {}
  return { state: { kind: kind ?? 'conversation', field: field ?? '', ...(idPath !== undefined && { idPath }) } }
}

async function remove(id: string, values: Settings): Promise<void> {
  return withLocalStore(values, async (local) => {
    const { dropProvider, storedProviderIds } = await import('../../config/stored-providers.ts')
    if (!(await dropProvider(local.store, id))) {
      const stored = await storedProviderIds(local.store)
      throw badInput(`No provider "${id}" is stored; stored providers: ${stored.join(', ') || 'none'}.`)
    }
    print(`Removed ${id}.\n`)
  })
}

async function rowIn(file: string | undefined): Promise<JsonObject> {
  if (file === undefined) return {}
  const { readYamlFile } = await import('../../config/yaml-file.ts')
  const { value } = readYamlFile(file)
  if (isObject(value)) return value
  throw badInput(`${file} must contain the settings of one provider, as keys and values.`)
}

function keyOf({ id, keyVariables, keyOptional }: ProviderRow): string {
  const variable = keyVariables.find((name) => process.env[name]?.trim())
  if (variable) return `found: ${variable}`
  if (Object.hasOwn(readStoredKeys(), id)) return 'stored'
  return keyOptional === true ? 'not needed' : `missing: ${keyVariables[0] ?? ''}`
}
