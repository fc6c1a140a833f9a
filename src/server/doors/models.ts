// Which model a client means, and which it may choose from. A client of one provider knows the names of that provider's
// models only, so a bare name is one of those; every other model is `provider/model`.

import { SynapseError } from '../../core/error.ts'
import type { Json } from '../../core/json.ts'
import { catalogue } from '../../providers/catalogue.ts'
import type { ProviderRow } from '../../providers/provider.ts'
import type { ServerContext } from '../context.ts'
import type { Door, DoorWire } from './door.ts'

export interface DoorModel {
  model: string
  /** The wire of the door, where the provider has it and its replies come back whole over it. */
  protocol?: string
}

export function modelFor({ provider, operation }: Door, name: string, server: ServerContext): DoorModel {
  const bare = name.replace(/^models\//, '')
  const { rows, doorModel } = server
  const row = rows.find(({ id }) => bare.startsWith(`${id}/`))
  if (row) return withWire(bare, row, operation.wire)
  if (doorModel?.always) return withWire(doorModel.model, rowOf(rows, doorModel.model), operation.wire)
  const home = rows.find(({ id }) => id === provider)
  if (home && modelsOf(home).includes(bare)) return withWire(`${home.id}/${bare}`, home, operation.wire)
  if (doorModel) return withWire(doorModel.model, rowOf(rows, doorModel.model), operation.wire)
  throw noSuchModel(bare)
}

export function noSuchModel(name: string): SynapseError {
  const shown = name.slice(0, 200)
  const message = `The model "${shown}" is not known here. Write provider/model, such as anthropic/claude-opus-5.`
  return new SynapseError({ kind: 'not-found', code: 'model_not_found', message })
}

function rowOf(rows: readonly ProviderRow[], model: string): ProviderRow | undefined {
  return rows.find(({ id }) => model === id || model.startsWith(`${id}/`))
}

/** Chat completions have no place for what a provider wants back, so a better wire of the provider is preferred. */
function withWire(model: string, row: ProviderRow | undefined, wire: DoorWire): DoorModel {
  const has = wire !== 'openai-chat' && row?.wires.some(({ protocol }) => protocol === wire)
  return { model, ...(has && { protocol: wire }) }
}

/** The names of the models of a provider that are known. */
function modelsOf(row: ProviderRow): string[] {
  const known = Object.keys(catalogue.models[row.catalogue ?? row.id] ?? {})
  const own = Object.keys(row.models ?? {})
  return [...new Set([...(row.defaultModel === undefined ? [] : [row.defaultModel]), ...own, ...known])]
}

/** The models of providers that can be asked now. */
export async function modelNames(server: ServerContext, provider: string): Promise<string[]> {
  const names: string[] = []
  for (const row of server.rows) {
    const models = modelsOf(row)
    const [first] = models
    if (first === undefined || !(await canAsk(server, `${row.id}/${first}`))) continue
    if (row.id === provider) names.unshift(...models)
    names.push(...models.map((model) => `${row.id}/${model}`))
  }
  return names
}

async function canAsk({ endpoint }: ServerContext, model: string): Promise<boolean> {
  try {
    await endpoint(model, undefined)
    return true
  } catch {
    return false
  }
}

/** When a model came out is not known here; a date that is plainly none. */
const epoch = '1970-01-01T00:00:00Z'

export function modelList(wire: DoorWire, names: readonly string[]): Json {
  const models = names.map((name) => modelEntry(wire, name))
  switch (wire) {
    case 'anthropic-messages':
      return { data: models, has_more: false, first_id: names[0] ?? null, last_id: names.at(-1) ?? null }
    case 'gemini-generate':
      return { models }
    default:
      return { object: 'list', data: models }
  }
}

export function modelEntry(wire: DoorWire, name: string): Json {
  switch (wire) {
    case 'anthropic-messages':
      return { type: 'model', id: name, display_name: name, created_at: epoch }
    case 'gemini-generate': {
      const supportedGenerationMethods = ['generateContent', 'streamGenerateContent', 'countTokens']
      return { name: `models/${name}`, displayName: name, supportedGenerationMethods }
    }
    default:
      return { id: name, object: 'model', created: 0, owned_by: name.split('/', 1)[0] ?? '' }
  }
}
