// Providers in the store: rows as in synapse.yaml, validated by the same rules, for every program that opens the store.
// A file takes precedence. They never contain a key, only the name of its variable.

import { badInput } from '../core/error.ts'
import type { JsonObject } from '../core/json.ts'
import type { ProviderRow } from '../providers/provider.ts'
import { rows as builtIn, rowsWith } from '../providers/rows.ts'
import type { Store } from '../store/store.ts'
import type { Config } from './load.ts'

/** Not a user: no user name contains a colon. */
const owner = 'synapse:providers'
const kind = 'provider'

/** All available providers: those of the file, those of the store, and the built-in ones. */
export async function rowsFor(
  store: Store,
  config: Pick<Config, 'rows' | 'ownIds'> | undefined,
): Promise<readonly ProviderRow[]> {
  const { items } = await store.records(owner, kind, { limit: 500 })
  if (items.length === 0) return config?.rows ?? builtIn
  const rows = await checkRows(
    items.map(({ data }) => data),
    'The store',
  )
  return rowsWith(config?.rows.filter(({ id }) => config.ownIds.includes(id)) ?? [], rows)
}

/** Adds one or replaces the one with its id; throws all its problems. */
export async function keepProvider(store: Store, entry: JsonObject & { id: string }): Promise<ProviderRow> {
  const row = (await checkRows([entry], 'The provider')).find(({ id }) => id === entry.id)
  if (!row) throw badInput(`"${entry.id}" cannot be a provider.`)
  await store.putRecords([{ owner, kind, id: entry.id, data: entry }])
  return row
}

/** False: there was none. */
export async function dropProvider(store: Store, id: string): Promise<boolean> {
  return store.deleteRecord(owner, kind, id)
}

/** The ids of the stored ones. */
export async function storedProviderIds(store: Store): Promise<string[]> {
  const { items } = await store.records(owner, kind, { limit: 500 })
  return items.map(({ id }) => id)
}

/** Their rows over the built-in ones. The rules for files apply to them too. */
async function checkRows(entries: readonly JsonObject[], what: string): Promise<ProviderRow[]> {
  const [{ checkShape }, { mergeRows }, { configSchema }, { problemsIn }] = await Promise.all([
    import('./check-shape.ts'),
    import('./merge-rows.ts'),
    import('./schema.ts'),
    import('./yaml-file.ts'),
  ])
  const file = {
    path: '',
    value: { providers: entries },
    problem: (path: readonly (string | number)[], says: string) => ({
      line: 0,
      column: 0,
      key: [entries[Number(path[1])]?.['id'] ?? '', ...path.slice(2)].join('.'),
      says,
    }),
  }
  const { providers = [] } = checkShape(file, what, configSchema)
  const problems = providers.flatMap((entry, index) =>
    [entry, ...(entry.wires ?? [])].some(({ module }) => module !== undefined)
      ? [file.problem(['providers', index, 'module'], 'may only be named in synapse.yaml: a store loads no code')]
      : [],
  )
  const rows = mergeRows(builtIn, providers, (index) => (path, says) => {
    problems.push(file.problem(['providers', index, ...path], says))
  })
  if (problems.length > 0) throw problemsIn(what, problems)
  return rows
}
