// From a name to everything that a request needs: its address, its wire, the capabilities, the price.

import type { Authorizer, Env } from '../auth/authorizer.ts'
import type { Context } from '../core/context.ts'
import { badInput } from '../core/error.ts'
import type { ReplyEvent } from '../core/event.ts'
import { isObject, type Json, type JsonObject } from '../core/json.ts'
import type { Capabilities, Counting, Encoded, Quirks, Target, Wire } from '../wires/wire.ts'
import { baseUrlOf, parsedHome } from './base-url.ts'
import { findRow } from './find-row.ts'
import { type ModelPatch, patchFor } from './models.ts'
import { filledIn } from './places.ts'
import { type Catalogue, factsOf, type ModelFacts, type Price } from './price.ts'
import type { Caching, ProviderRow, ProviderWire, StateStrategy } from './provider.ts'
import { objectIn } from '../wires/shared/json-fields.ts'

export interface Wanted {
  provider: string
  /** Absent: the provider's default. */
  model?: string
  /** One of the provider's wires; absent: its first. */
  protocol?: string
  /** Absent: taken from the environment. */
  key?: string
  /** Keys that were stored on this machine, by provider, used if the environment has none. */
  storedKeys?: Readonly<Record<string, string>>
  /** Works without a key, for callers that only want to see the request. */
  keyless?: boolean
  baseUrl?: string
  env?: Env
  /** Wires in addition to the built-in ones. */
  wires?: readonly Wire[]
  /** Absent: the rows that are built in. */
  rows?: readonly ProviderRow[]
}

export interface Endpoint {
  provider: ProviderRow
  protocol: Wire
  model: string
  /** Without a trailing slash; the wire's path is appended. */
  baseUrl: string
  /** Contains the key. */
  headers: Record<string, string>
  /** Where the key came from. */
  keyVariable?: string
  /** What authorises each request without a key. */
  authorize?: Authorizer
  quirks: Quirks
  capabilities: Capabilities
  caching: Caching
  state?: StateStrategy
  compaction?: 'native'
  /** How to count the tokens of a request; absent: the provider does not support it. */
  counting?: Counting
  price?: Price
  /** The emulator answers in place of the provider, and nothing is billed. */
  offline?: true
}

/** Throws one sentence for the user if something is missing. */
export function resolveWith(
  wanted: Wanted & { rows: readonly ProviderRow[] },
  protocolOf: (id: string) => Wire,
  catalogue: Catalogue,
): Endpoint {
  const row = findRow(wanted.provider, wanted.rows)
  const wire = wireOf(row, wanted.protocol, wanted.model)
  const protocol = protocolOf(wire.protocol)
  const env = wanted.env ?? process.env
  const model = modelOf(row, wanted.model ?? (wanted.protocol === undefined ? undefined : wire.defaultModel))
  const rowModel = row.models && Object.hasOwn(row.models, model) ? row.models[model] : undefined
  const facts = { ...factsFor(catalogue, row, wire, model), ...rowModel }
  const patch = patchFor([wire.family ?? row.family ?? row.id, row.id], wire.protocol, plainModel(model))
  const { headers, keyVariable } = authOf(row, wire, wanted, env)
  const baseUrl = baseUrlOf(row, wire, wanted.baseUrl, env, wanted.keyless)
  const { state, compaction, counts } = wanted.baseUrl === undefined && isMoved(baseUrl, row, wire, env) ? {} : wire
  return {
    provider: row,
    protocol: state ? statefulWire(protocol, state) : protocol,
    model,
    baseUrl,
    headers: { ...headersOf(row, wire, wanted, env), ...headers },
    ...(keyVariable !== undefined && { keyVariable }),
    quirks: wire.quirks ?? {},
    capabilities: { ...mergeCapabilities(protocol, wire, facts, patch), ...rowModel?.capabilities },
    caching: mergeCaching(wire, patch),
    ...(state && { state }),
    ...(compaction && { compaction }),
    ...(counts && protocol.counting && { counting: protocol.counting }),
    ...(facts.price && { price: facts.price }),
  }
}

/** Selects the wire on which a provider stores conversations; its default one, if none does. */
export const statefulProtocol = 'stateful'

/** Whether the environment names another host: a gateway is not trusted to store, compact or count conversations. */
function isMoved(baseUrl: string, row: ProviderRow, wire: ProviderWire, env: Env): boolean {
  if (wire.baseUrl.includes('{')) return row.baseUrlVariables?.some((name) => env[name]?.trim()) ?? false
  const home = parsedHome(wire.baseUrl)
  return home !== null && home.host !== URL.parse(baseUrl)?.host
}

/** The named wire, otherwise the one that claims the model, otherwise the first. */
export function wireOf(row: ProviderRow, protocol: string | undefined, model: string | undefined): ProviderWire {
  if (protocol === statefulProtocol) return row.wires.find((candidate) => candidate.state) ?? row.wires[0]
  const name = model ?? row.defaultModel ?? ''
  const wire =
    protocol === undefined
      ? (row.wires.find(({ models }) => models?.test(name)) ?? row.wires.find(({ models }) => !models) ?? row.wires[0])
      : row.wires.find((candidate) => candidate.protocol === protocol)
  if (wire) return wire
  const spoken = row.wires.map((served) => served.protocol).join(' and ')
  throw badInput(`${row.id} does not support "${protocol}". It supports ${spoken}.`)
}

/** A cloud may have its own price for a model, but the context window is the maker's. */
export function factsFor(catalogue: Catalogue, row: ProviderRow, wire: ProviderWire, model: string): ModelFacts {
  const facts = factsOf(catalogue, row.catalogue ?? row.id, model)
  if (facts.contextWindow !== undefined || wire.catalogue === undefined) return facts
  const { contextWindow } = factsOf(catalogue, wire.catalogue, plainModel(model))
  return { ...facts, ...(contextWindow !== undefined && { contextWindow }) }
}

function headersOf(
  row: ProviderRow,
  { headers = {} }: ProviderWire,
  { baseUrl, keyless }: Wanted,
  env: Env,
): Record<string, string> {
  const fill = (value: string) => filledIn(value, row, env, keyless || baseUrl !== undefined)
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, fill(value)]))
}

function modelOf(row: ProviderRow, model: string | undefined): string {
  const name = model ?? row.defaultModel
  if (name) return name
  throw badInput(
    `Name a model for ${row.id}, such as ${row.id}/MODEL; "synapse models ${row.id} --live" lists those of your server.`,
  )
}

function authOf(
  row: ProviderRow,
  { auth = row.auth }: ProviderWire,
  { key: given, keyless }: Wanted,
  env: Env,
): Pick<Endpoint, 'headers' | 'keyVariable'> {
  const variable = row.keyVariables.find((name) => env[name]?.trim())
  const key = (given ?? (variable && env[variable]))?.trim()
  if (!key) {
    if (row.keyOptional || row.credentials || keyless) return { headers: {} }
    const names = row.keyVariables.join(' or ')
    throw badInput(`${row.name} needs a key: set ${names}${row.keysAt ? ` (keys are at ${row.keysAt})` : ''}.`)
  }
  const keyVariable = given === undefined ? variable : undefined
  if (!/^[\x21-\x7e]+$/.test(key)) {
    const which = keyVariable ? `The key in ${keyVariable}` : `The key for ${row.name}`
    throw badInput(`${which} has characters that no key has, such as spaces or line breaks; copy it again.`)
  }
  const headers = { [auth.header]: `${auth.prefix ?? ''}${key}` }
  return { headers, ...(keyVariable !== undefined && { keyVariable }) }
}

// The capabilities of a target: those of the wire, refined by the catalogue, the provider and the model, in this one
// place. A field that is absent in a later layer is not changed.

function mergeCapabilities(protocol: Wire, wire: ProviderWire, facts: ModelFacts, patch: ModelPatch): Capabilities {
  return {
    ...protocol.capabilities,
    ...(facts.contextWindow !== undefined && { contextWindow: facts.contextWindow }),
    ...wire.capabilities,
    ...patch.capabilities,
  }
}

function mergeCaching(wire: ProviderWire, patch: ModelPatch): Caching {
  return wire.caching === 'none' ? { kind: 'none' } : { kind: wire.caching, ...patch.cache }
}

// The maker's name of a model, from the cloud's name: `claude-opus-4-6` from `us.anthropic.claude-opus-4-6-v1:0`, from
// its ARN, or from `claude-opus-4-6@20260205`.

const makers =
  /^(?:(?:us-gov|us|eu|apac|jp|au|ca|in|global)\.)?(?:amazon|anthropic|cohere|deepseek|google|meta|minimax|mistral|moonshot|moonshotai|nvidia|openai|qwen|writer|xai|zai)\./

function plainModel(name: string): string {
  const id = name.startsWith('arn:') ? name.slice(name.lastIndexOf('/') + 1) : name
  if (!makers.test(id))
    return id.replace(/@(\d{8}|default|latest)$/, (_, mark: string) => (/^\d/.test(mark) ? `-${mark}` : ''))
  return id
    .replace(makers, '')
    .replace(/(-v\d+)?(:\d+\w*)?$/, '')
    .replace(/-\d:0$/, '')
}

/**
 * A wire at a host with its own kind of stored conversations: the request field that names the state, and the position
 * of its id in a reply, are in the provider's row (`state`). For wires whose own API has no such state.
 */
function statefulWire(wire: Wire, strategy: StateStrategy): Wire {
  if (wire.states?.includes(strategy.kind)) return wire
  return {
    ...wire,
    encode(context, target) {
      const { state, ...rest } = context
      return state ? encodeNew(wire, strategy, rest, target, state) : wire.encode(context, target)
    },
    decoder(origin, options) {
      const inner = wire.decoder(origin, options)
      let id: string | undefined
      const named = (events: ReplyEvent[]): ReplyEvent[] =>
        id === undefined ? events : events.map((event) => withId(event, id ?? ''))
      return {
        get done() {
          return inner.done
        },
        push(chunk) {
          const value = valueAt(chunk, strategy.idPath)
          if (typeof value === 'string') id = value
          return named(inner.push(chunk))
        },
        end: (cause) => named(inner.end(cause)),
      }
    },
  }
}

/** The whole request is encoded, so that ids of calls stay the same, and what the provider has stored is removed. */
function encodeNew(
  wire: Wire,
  { field, resend }: StateStrategy,
  context: Context,
  target: Target,
  { id, covers }: { id: string; covers: number },
): Encoded {
  const whole = wire.encode(context, target)
  const held = wire.encode({ ...context, messages: context.messages.slice(0, covers), cacheAfter: [] }, target)
  const { tools, ...others } = whole.body
  const list = Object.keys(others).find((key) => Array.isArray(others[key]))
  if (list === undefined) return whole
  const [all, before] = [others[list] as Json[], held.body[list] as Json[]]
  // A wire may add something after a prefix that ends with the assistant: only the identical part is stored there.
  const known = all.findIndex((element, i) => JSON.stringify(element) !== JSON.stringify(before[i]))
  const opening = resend.includes('system')
    ? all.slice(
        0,
        all.findIndex((element) => !isSystem(element)),
      )
    : []
  const body = {
    ...others,
    ...(tools !== undefined && resend.includes('tools') && { tools }),
    [list]: [...opening, ...all.slice(known < 0 ? all.length : known)],
  }
  return { ...whole, body: withValueAt(body, field.split('.'), id) }
}

function isSystem(element: Json): boolean {
  return isObject(element) && (element.role === 'system' || element.role === 'developer')
}

function withId(event: ReplyEvent, replyId: string): ReplyEvent {
  return event.type === 'reply-start' || event.type === 'reply-end'
    ? { ...event, origin: { ...event.origin, replyId } }
    : event
}

function valueAt(value: Json, path: string): Json | undefined {
  let current: Json | undefined = value
  for (const key of path.split('.')) current = isObject(current) ? current[key] : undefined
  return current
}

function withValueAt(body: JsonObject, [key = '', ...rest]: string[], value: string): JsonObject {
  const inner = body[key]
  return { ...body, [key]: rest.length === 0 ? value : withValueAt(objectIn(inner), rest, value) }
}
