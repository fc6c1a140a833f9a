// A provider in synapse.yaml: the same row as the built-in ones (providers/rows), with short forms for the usual case
// of one wire. Every field of Quirks and Capabilities is here, which the compiler checks.

import * as z from 'zod'
import { efforts } from '../settings/options.ts'
import { wireIds } from '../wires/list.ts'
import type { Capabilities, ImageLimits, ImageTokens, Quirks } from '../wires/wire.ts'
import { answerDialects, toolDialects } from '../wires/tool-schema/dialect.ts'
import type { Price } from '../providers/price.ts'
import type { Auth, OwnModel, ProviderWire, StateStrategy } from '../providers/provider.ts'

/** One provider of synapse.yaml, before its short forms are expanded. */
export interface ProviderEntry extends Partial<WireEntry> {
  id: string
  extends?: string
  name?: string
  wires?: WireEntry[]
  keyVariable?: string | string[]
  keyOptional?: boolean
  keysAt?: string
  auth?: Auth
  baseUrlVariable?: string | string[]
  defaultModel?: string
  models?: Record<string, OwnModel>
}

export interface WireEntry extends Partial<Pick<ProviderWire, 'quirks' | 'capabilities' | 'caching' | 'module'>> {
  protocol: string
  state?: StateEntry
  baseUrl?: string
}

/** How a host stores conversations; the defaults are as for most of them. */
export type StateEntry = Pick<StateStrategy, 'kind' | 'field'> & Partial<StateStrategy>

function keysOf<T extends object>(table: T): (keyof T & string)[] {
  return Object.keys(table) as (keyof T & string)[]
}

const flag = z.boolean().exactOptional()
const count = z.int().min(1).exactOptional()
const types = z.array(z.string().regex(/^[a-z]+\/[a-z0-9.+*-]+$/, 'is not a media type; write it like image/png'))
const answers = z.enum(['schema', 'json', 'none'])

const quirks = z
  .strictObject({
    reasoningField: z.enum(['reasoning_content', 'reasoning', 'reasoning_details']).exactOptional(),
    echoReasoning: z.enum(['always', 'tool-turns']).exactOptional(),
    stringContent: flag,
    alternate: flag,
    noToolChoice: flag,
    noStreamOptions: flag,
    toolMessages: z
      .enum(['text'])
      .describe('`text`: the host refuses tool messages; calls and results are written as text.')
      .exactOptional(),
    separateCalls: flag,
    oneCallPerTurn: flag,
    noSystem: flag,
    shortCallIds: flag,
    flatArguments: flag,
    bridgeAfterTool: flag,
    thinkingSwitch: flag,
    noParallelTools: flag,
    cacheControl: flag,
    cacheKey: flag,
    noStore: flag,
    systemInInput: flag,
    cloud: z.enum(['bedrock', 'vertex']).exactOptional(),
    toolSchema: z.enum(keysOf(toolDialects)).exactOptional(),
    answerSchema: z.enum(keysOf(answerDialects)).exactOptional(),
  } satisfies Record<keyof Quirks, z.ZodType>)
  .describe('Named differences from the protocol.')

const capabilities = z
  .strictObject({
    contextWindow: count,
    maxOutput: count,
    media: types.exactOptional(),
    mediaUrls: flag,
    resultMedia: types.exactOptional(),
    maxImages: z.int().min(0).exactOptional(),
    imageLimits: z
      .strictObject({
        side: count,
        many: z.strictObject({ over: z.int().min(0), side: z.int().min(1) }).exactOptional(),
        size: count,
      } satisfies Record<keyof ImageLimits, z.ZodType>)
      .exactOptional(),
    imageTokens: z
      .strictObject({
        base: count,
        pixels: z.number().gt(0).exactOptional(),
        tile: z.strictObject({ side: z.int().min(1), tokens: z.int().min(1) }).exactOptional(),
        longer: count,
        shorter: count,
        most: count,
        page: count,
      } satisfies Record<keyof ImageTokens, z.ZodType>)
      .exactOptional(),
    tools: flag,
    maxTools: count,
    sampling: flag,
    topK: flag,
    penalties: flag,
    seed: flag,
    answer: answers.exactOptional(),
    answerWithTools: answers.exactOptional(),
    forcedTool: flag,
    prefill: flag,
    midSystem: flag,
    alternation: flag,
    efforts: z.array(z.enum(efforts)).exactOptional(),
    effortWithTools: z.enum(['none', 'omitted']).exactOptional(),
    thinking: z.array(z.enum(['enabled', 'adaptive', 'disabled'])).exactOptional(),
    boundReasoning: flag,
    signedCalls: flag,
    callIds: flag,
    callIdLength: count,
    toolsInStream: flag,
    effortField: z.enum(['reasoning_effort', 'output_config', 'reasoningConfig']).exactOptional(),
    systemRole: z.enum(['system', 'developer']).exactOptional(),
    outputField: z.enum(['max_tokens', 'max_completion_tokens']).exactOptional(),
    cacheMarks: flag,
    contextEdits: flag,
    toolKinds: flag,
  } satisfies Record<keyof Capabilities, z.ZodType>)
  .describe('Its capabilities, if they differ from those of the protocol.')

const dollars = z.number().min(0)
const price = z
  .strictObject({
    input: dollars,
    output: dollars,
    cacheRead: dollars.exactOptional(),
    cacheWrite: dollars.exactOptional(),
    cacheWriteLong: dollars.exactOptional(),
  } satisfies Record<Exclude<keyof Price, 'beyond'>, z.ZodType>)
  .describe('US dollars per million tokens.')

const protocol = z.string().min(1)
const modulePath = z
  .string()
  .regex(/^\.\.?\//, 'is not the path of a module; write it relative to this file, such as ./my-wire.ts')
  .describe('The module that exports the wire named by `protocol`, if it is not a built-in one.')
const baseUrl = z.string().refine(isAddress, 'is not a valid URL; write it like https://host/v1, without key or query')
const variable = z
  .string()
  .regex(/^[A-Z_][A-Z0-9_]*$/i, 'is not the name of an environment variable, such as MY_SERVER_API_KEY')
  .refine((name) => !/^npm_/i.test(name), 'is set by npm from the .npmrc of any folder, so it is not read')
const variables = z.union([variable, z.array(variable).min(1)])

const state = z
  .strictObject({
    kind: z.enum(['response-chain', 'conversation', 'interaction', 'thread']),
    field: z.string().min(1).describe('The field of a request that carries the id, such as `conversation_id`.'),
    idPath: z.string().min(1).describe('Where a reply has the id; by default `id`.').exactOptional(),
    lifetimeMs: count.describe('How long the host stores it; by default a day.'),
    resend: z
      .array(z.enum(['system', 'tools', 'options']))
      .describe('What is sent with every request all the same; by default all of it.')
      .exactOptional(),
    branches: flag.describe('One id can be continued more than once; false by default.'),
  } satisfies Record<keyof StateStrategy, z.ZodType>)
  .describe('The host remembers conversations, so that only what is new is sent (with `policy: { state: auto }`).')

const wireFields = {
  state: state.exactOptional(),
  module: modulePath.exactOptional(),
  quirks: quirks.exactOptional(),
  capabilities: capabilities.exactOptional(),
  caching: z
    .enum(['marks', 'key', 'prefix', 'none'])
    .describe('How it caches prompts; by default `prefix`.')
    .exactOptional(),
}

const wire = ofKnownWire(
  z.strictObject({
    protocol: protocol,
    baseUrl: baseUrl.exactOptional(),
    ...wireFields,
  }),
)

export const providerSchema: z.ZodType<ProviderEntry> = ofKnownWire(
  z.strictObject({
    id: z
      .string()
      .regex(/^[a-z0-9][a-z0-9._-]*$/, 'may have lower-case letters, digits, dots, underscores and hyphens')
      .describe('Its models are named id/model. The id of a built-in provider changes that one.'),
    extends: z.string().describe('A built-in provider that this one is like.').exactOptional(),
    name: z.string().min(1).exactOptional(),
    protocol: protocol
      .meta({ examples: [...wireIds], description: 'Its wire; by default `openai-chat`.' })
      .exactOptional(),
    baseUrl: baseUrl.describe('Its address up to where the path of the wire begins.').exactOptional(),
    wires: z
      .array(wire)
      .min(1)
      .describe('Instead of `protocol` and `baseUrl`, for several; the first is the default.')
      .exactOptional(),
    ...wireFields,
    keyVariable: variables
      .describe('The environment variable that holds the key, never the key itself.')
      .exactOptional(),
    keyOptional: flag.describe('It needs no key.'),
    keysAt: z.string().describe('Where to get a key.').exactOptional(),
    auth: z
      .strictObject({
        header: z.enum(['authorization', 'x-api-key', 'x-goog-api-key', 'api-key']),
        prefix: z.string().max(20).exactOptional(),
      })
      .describe('How the key is sent; by default `authorization` with `Bearer `.')
      .exactOptional(),
    baseUrlVariable: variables.describe('An environment variable that may hold another address.').exactOptional(),
    defaultModel: z.string().min(1).exactOptional(),
    models: z
      .record(
        z.string().min(1),
        z.strictObject({
          contextWindow: count,
          price: price.exactOptional(),
          capabilities: capabilities.exactOptional(),
        }),
      )
      .describe('What is known of single models.')
      .exactOptional(),
  }),
)

/** A wire that is not built in needs its module. Reported with all other problems. */
function ofKnownWire<S extends z.ZodType>(schema: S): S {
  const isKnown = (value: unknown) => {
    if (typeof value !== 'object' || value === null || 'module' in value || !('protocol' in value)) return true
    return typeof value.protocol !== 'string' || wireIds.includes(value.protocol)
  }
  const known = wireIds.join(', ')
  return schema
    .refine(isKnown, {
      path: ['protocol'],
      when: () => true,
      error: ({ input }) =>
        `unknown protocol ${JSON.stringify((input as { protocol: string }).protocol)}; known are ${known}`,
    })
    .meta({ anyOf: [{ required: ['module'] }, { properties: { protocol: { enum: [...wireIds] } } }] })
}

function isAddress(text: string): boolean {
  const url = URL.parse(text)
  if (!url || !/^https?:$/.test(url.protocol)) return false
  return url.username === '' && url.password === '' && url.search === '' && url.hash === ''
}
