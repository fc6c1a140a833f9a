// The model that a client means, and the models it may choose from. A client of one provider knows the names of that
// provider's models only, so a bare name is one of those, unless an alias or a route of the configuration says
// otherwise; every other model is `provider/model`.

import { SynapseError } from '../../core/error.ts'
import { matchesPattern } from '../../core/pattern.ts'
import { catalogue } from '../../providers/catalogue.ts'
import { loadService } from '../../wires/list.ts'
import { findModel } from '../../providers/find-model.ts'
import { checkNameLength } from '../../providers/model-ref.ts'
import type { ProviderRow } from '../../providers/provider.ts'
import type { WireDoor } from '../../wires/service.ts'
import type { Policy } from '../../settings/policy.ts'
import type { Fallback } from '../../settings/run.ts'
import type { ServerContext } from '../context.ts'
import { mayUse, type Principal } from '../principal.ts'
import type { Door } from './door.ts'

export interface DoorModel {
  model: string
  /** The wire of the door, if the provider supports it and its replies are complete on it. */
  protocol?: string
  /** The provider supports the wire of the door. */
  hasWire: boolean
  /** The fallback models if it fails before it has sent anything. */
  fallback?: readonly Fallback[]
  /** The context policy; absent: none is set. */
  policy?: Policy
}

/**
 * The first match: `provider/model`, the model of `synapse run -m`, an alias, a route, a model of the API's provider.
 */
export async function modelFor(door: Door, name: string, server: ServerContext, asker: Principal): Promise<DoorModel> {
  const { wire, provider } = door
  // Also of a name in whose place another model is used: it is repeated in the answer.
  checkNameLength(name)
  const bare = name.replace(/^models\//, '')
  const { rows, doorModel, aliases = {}, routes = [] } = server
  const found = await chosen()
  const policy = asker.policy ?? found.policy ?? doorModel?.policy
  return { ...found, ...(policy !== undefined && { policy }) }

  async function chosen(): Promise<DoorModel> {
    if (rows.some(({ id }) => bare.startsWith(`${id}/`))) return at(bare)
    if (doorModel?.always) return at(doorModel.model)
    const alias = Object.hasOwn(aliases, bare) ? aliases[bare] : undefined
    if (alias !== undefined) return at(alias)
    const route = routes.find(({ match }) => matchesPattern(match, bare))
    if (route) {
      const { fallback, policy: own } = route
      return { ...(await at(route.model)), ...(fallback && { fallback }), ...(own !== undefined && { policy: own }) }
    }
    const home = rows.find(({ id }) => id === provider)
    const own = home && `${home.id}/${bare}`
    const full = home && modelsOf(home).includes(bare) ? own : undefined
    const usual = asker.defaultModel ?? doorModel?.model
    if (full !== undefined && (usual === undefined || (await isUsable(full)))) return at(full)
    if (usual !== undefined) return at(usual)
    if (home && own !== undefined && isReal(home) && isNewName() && (await isUsable(own))) return at(own)
    throw noSuchModel(bare, (await loadService(wire)).door)
  }

  /** Newer than the catalogue, or the user's own, such as a fine-tuned or a local model: its provider knows. */
  function isNewName(): boolean {
    return !bare.includes('/') && !rows.some((row) => modelsOf(row).includes(bare))
  }

  /** Without keys the emulator answers, unless it was not requested and the model is that of a local server. */
  function isReal({ keyOptional }: ProviderRow): boolean {
    return !server.offline || (keyOptional === true && server.whyOffline !== undefined)
  }

  async function isUsable(model: string): Promise<boolean> {
    return mayUse(asker, model) && (await canAsk(server, model))
  }

  async function at(model: string): Promise<DoorModel> {
    const { full, row } = await fullName(model, server)
    const { door: wireDoor } = await loadService(wire)
    if (full === undefined) throw noSuchModel(model, wireDoor)
    return withWire(full, row, { wire, isLast: wireDoor?.losesReasoning })
  }
}

/** `provider/model` of a name in the configuration; `full` is undefined if there is no such provider or no model. */
async function fullName(
  model: string,
  { rows, env, aliases }: ServerContext,
): Promise<{ full?: string; row: ProviderRow | undefined }> {
  const ref = await findModel(model, { rows, env, aliases })
  const row = rows.find(({ id }) => id === ref.provider)
  const own = row && (ref.model ?? row.defaultModel)
  return { ...(own !== undefined && { full: `${ref.provider}/${own}` }), row }
}

export function noSuchModel(name: string, door: WireDoor | undefined): SynapseError {
  const shown = name.slice(0, 200)
  const unknown = door?.models.unknown?.(shown) ?? `The model "${shown}" is unknown`
  const message = `${unknown}. Use provider/model, such as anthropic/claude-opus-5.`
  return new SynapseError({ kind: 'not-found', code: 'model_not_found', message })
}

/** `isLast`: a better wire of the provider is preferred. */
function withWire(
  model: string,
  row: ProviderRow | undefined,
  { wire, isLast = false }: { wire: string; isLast: boolean | undefined },
): DoorModel {
  const hasWire = row?.wires.some(({ protocol }) => protocol === wire) ?? false
  return { model, hasWire, ...(hasWire && !isLast && { protocol: wire }) }
}

/** The names of the models of a provider that are known. */
function modelsOf(row: ProviderRow): string[] {
  const known = Object.keys(catalogue.models[row.catalogue ?? row.id] ?? {})
  const own = Object.keys(row.models ?? {})
  return [...new Set([...(row.defaultModel === undefined ? [] : [row.defaultModel]), ...own, ...known])]
}

/** The models that this key may use of available providers, and their names in the configuration. */
export async function modelNames(server: ServerContext, provider: string, asker: Principal): Promise<string[]> {
  const { aliases = {}, routes = [] } = server
  const own: string[] = []
  const named = [...Object.entries(aliases), ...routes.map(({ match, model }) => [match, model] as const)]
  for (const [name, model] of named) {
    if (!name.includes('*') && (await mayUseNamed(model, server, asker))) own.push(name)
  }
  const names: string[] = []
  for (const row of server.rows) {
    const models = modelsOf(row)
    const [first] = models
    if (first === undefined || !(await canAsk(server, `${row.id}/${first}`))) continue
    const usable = models.filter((model) => mayUse(asker, `${row.id}/${model}`))
    if (row.id === provider) names.unshift(...usable)
    names.push(...usable.map((model) => `${row.id}/${model}`))
  }
  return [...new Set([...own, ...names])]
}

async function mayUseNamed(model: string, server: ServerContext, asker: Principal): Promise<boolean> {
  if (!asker.models) return true
  const found = await fullName(model, server).catch(() => undefined)
  return found?.full !== undefined && mayUse(asker, found.full)
}

async function canAsk({ endpoint }: ServerContext, model: string): Promise<boolean> {
  try {
    await endpoint(model, undefined)
    return true
  } catch {
    return false
  }
}
