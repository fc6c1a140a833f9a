// Rows of a file over the built-in ones. An entry with the id of a built-in provider changes that one, `extends` begins
// with one under another id, anything else is new.
//
// A row that goes to another address does not inherit what only the original is trusted to do: store conversations,
// compact and edit them, and count their tokens. Nor does it get cloud credentials.

import type { Capabilities } from '../wires/wire.ts'
import { compatible } from '../providers/rows.ts'
import type { OwnModel, ProviderRow, ProviderWire, StateStrategy } from '../providers/provider.ts'
import type { ProviderEntry, StateEntry, WireEntry } from './provider-schema.ts'
import type { Path } from './yaml-file.ts'

/** How a problem is reported: with its path in the entry. */
export type Tell = (path: Path, says: string) => void

export function mergeRows(
  builtIn: readonly ProviderRow[],
  entries: readonly ProviderEntry[],
  tell: (index: number) => Tell,
): ProviderRow[] {
  const rows = new Map(builtIn.map((row) => [row.id, row]))
  const seen = new Set<string>()
  for (const [index, entry] of entries.entries()) {
    const complain = tell(index)
    if (seen.has(entry.id)) complain(['id'], `${entry.id} is defined twice`)
    seen.add(entry.id)
    const row = rowOf(entry, builtIn, complain)
    if (row) rows.set(row.id, row)
  }
  // Providers of the file come first: the user wants to use them.
  const fromFile = entries.flatMap(({ id }) => rows.get(id) ?? [])
  return [...new Set([...fromFile, ...rows.values()])]
}

function rowOf(entry: ProviderEntry, builtIn: readonly ProviderRow[], complain: Tell): ProviderRow | undefined {
  const name = entry.extends ?? entry.id
  const base = builtIn.find((row) => row.id === name)
  if (entry.extends !== undefined && !base) {
    complain(['extends'], `there is no provider "${name}"; known are ${builtIn.map((row) => row.id).join(', ')}`)
    return undefined
  }
  const wires = wiresOf(entry, base, complain)
  const [first, ...others] = wires
  if (!first) return undefined
  const start = base ?? compatible('', entry.id, entry.id)
  const variables = listOf(entry.baseUrlVariable)
  const moved = entry.baseUrl !== undefined || entry.wires !== undefined
  const { baseUrlVariables: inherited, baseUrlPath, keysAt, credentials, ...rest } = start
  const addresses = variables ?? (moved ? undefined : inherited)
  const site = entry.keysAt ?? (entry.keyVariable === undefined ? keysAt : undefined)
  const models = { ...start.models, ...modelsOf(entry) }
  return {
    ...rest,
    id: entry.id,
    name: entry.name ?? (entry.extends === undefined ? start.name : `${start.name} (${entry.id})`),
    wires: [first, ...others],
    keyVariables: listOf(entry.keyVariable) ?? start.keyVariables,
    auth: entry.auth ?? start.auth,
    ...(credentials && !moved && !variables && { credentials }),
    ...(addresses && { baseUrlVariables: addresses }),
    ...(addresses === inherited && baseUrlPath !== undefined && { baseUrlPath }),
    ...(site !== undefined && { keysAt: site }),
    ...keyOptionalOf(entry, base),
    ...(entry.defaultModel !== undefined && { defaultModel: entry.defaultModel }),
    ...(base && entry.id !== base.id && { catalogue: base.catalogue ?? base.id, family: base.family ?? base.id }),
    ...(Object.keys(models).length > 0 && { models }),
  }
}

/** A window that the user sets for a model overrides everything else. */
function modelsOf({ models = {} }: ProviderEntry): Record<string, OwnModel> {
  const entries = Object.entries(models).map(([name, { contextWindow, capabilities, ...rest }]): [string, OwnModel] => {
    const window = contextWindow === undefined ? {} : { contextWindow }
    return [name, { ...rest, ...window, capabilities: { ...window, ...capabilities } }]
  })
  return Object.fromEntries(entries)
}

/** A row that names a key should send one. */
function keyOptionalOf(entry: ProviderEntry, base: ProviderRow | undefined): { keyOptional?: boolean } {
  const optional = entry.keyOptional ?? (base ? base.keyOptional : entry.keyVariable === undefined)
  return optional === undefined ? {} : { keyOptional: optional }
}

function wiresOf(entry: ProviderEntry, base: ProviderRow | undefined, complain: Tell): ProviderWire[] {
  if (entry.wires) {
    for (const key of ['protocol', 'module', 'baseUrl', 'quirks', 'capabilities', 'caching', 'state'] as const) {
      if (entry[key] !== undefined) complain([key], 'belongs in each of `wires`, if those are given')
    }
    return entry.wires.flatMap((wire, index) =>
      wireOf(wire, base, (path, says) => complain(['wires', index, ...path], says)),
    )
  }
  const protocols = entry.protocol ? [entry.protocol] : (base?.wires.map((wire) => wire.protocol) ?? ['openai-chat'])
  return protocols.flatMap((protocol) => wireOf({ ...entry, protocol }, base, complain))
}

function wireOf(entry: WireEntry, base: ProviderRow | undefined, complain: Tell): ProviderWire[] {
  const like = base?.wires.find((wire) => wire.protocol === entry.protocol)
  if (base && !like && entry.baseUrl === undefined) {
    const supported = base.wires.map((wire) => wire.protocol).join(' and ')
    complain(
      ['protocol'],
      `${base.id} does not support ${entry.protocol}, only ${supported}; give a baseUrl for another wire`,
    )
    return []
  }
  const baseUrl = addressOf(entry.baseUrl, like)
  if (baseUrl === undefined) {
    complain(['baseUrl'], 'is missing')
    return []
  }
  const start = like ?? (entry.protocol === 'openai-chat' ? compatible('', '').wires[0] : undefined)
  const { state, compaction, counts, ...portable } = start ?? {
    quirks: {},
    capabilities: {},
    caching: 'prefix' as const,
  }
  const isSameHost = like !== undefined && new URL(baseUrl, 'http://here.invalid').host === hostOf(like.baseUrl)
  const quirks = { ...portable.quirks, ...entry.quirks }
  const { contextEdits, ...inherited } = portable.capabilities ?? {}
  const capabilities: Partial<Capabilities> = {
    ...inherited,
    ...(isSameHost && contextEdits && { contextEdits }),
    ...entry.capabilities,
  }
  return [
    {
      ...portable,
      protocol: entry.protocol,
      baseUrl,
      quirks,
      capabilities,
      caching: entry.caching ?? portable.caching,
      ...(entry.module !== undefined && { module: entry.module }),
      ...(entry.state ? { state: stateOf(entry.state) } : isSameHost && state && { state }),
      ...(isSameHost && compaction && { compaction }),
      ...(isSameHost && counts && { counts }),
    },
  ]
}

const day = 24 * 60 * 60 * 1000

/** Conservative by default: everything that may be needed is sent again, and an id is continued once. */
function stateOf(given: StateEntry): StateStrategy {
  return { idPath: 'id', lifetimeMs: day, resend: ['system', 'tools', 'options'], branches: false, ...given }
}

/** An address without a path gets the path of the built-in one, as in the environment. */
function addressOf(address: string | undefined, like: ProviderWire | undefined): string | undefined {
  if (address === undefined) return like?.baseUrl
  const url = new URL(address)
  if (url.pathname === '/' && like) url.pathname = URL.parse(like.baseUrl)?.pathname ?? like.baseUrl
  return url.href.replace(/\/+$/, '')
}

function hostOf(baseUrl: string): string | undefined {
  return URL.parse(baseUrl)?.host
}

function listOf(value: string | string[] | undefined): string[] | undefined {
  return value === undefined ? undefined : [value].flat()
}
