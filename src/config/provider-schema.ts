// A provider as synapse.yaml says it: the same row as the built-in ones (providers/rows), with short forms for the usual
// case of one wire. Every field of Quirks and Capabilities is here; the compiler sees to that.

import * as z from 'zod'
import { wireIds } from '../wires/list.ts'
import type { Capabilities, ImageLimits, ImageTokens, Quirks } from '../wires/wire.ts'
import { answerDialects, toolDialects } from '../wires/tool-schema/dialect.ts'
import type { Price } from '../providers/price.ts'
import type { Auth, OwnModel, ProviderWire } from '../providers/provider.ts'

/** One provider of synapse.yaml; the short forms are not unfolded yet. */
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

export interface WireEntry extends Partial<Pick<ProviderWire, 'quirks' | 'capabilities' | 'caching'>> {
  protocol: string
  baseUrl?: string
}

function keysOf<T extends object>(table: T): (keyof T & string)[] {
  return Object.keys(table) as (keyof T & string)[]
}

const flag = z.boolean().exactOptional()
const count = z.int().min(1).exactOptional()
const types = z.array(z.string().regex(/^[a-z]+\/[a-z0-9.+*-]+$/, 'is no media type; write it like image/png'))
const answers = z.enum(['schema', 'json', 'none'])
const efforts = z.enum(['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'])

const quirks = z
  .strictObject({
    reasoningField: z.enum(['reasoning_content', 'reasoning', 'reasoning_details']).exactOptional(),
    echoReasoning: z.enum(['always', 'tool-turns']).exactOptional(),
    stringContent: flag,
    alternate: flag,
    noToolChoice: flag,
    noStreamOptions: flag,
    flattenToolHistory: flag,
    bridgeAfterTool: flag,
    thinkingSwitch: flag,
    noParallelTools: flag,
    cacheControl: flag,
    cacheKey: flag,
    noStore: flag,
    systemInInput: flag,
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
      } satisfies Record<keyof ImageTokens, z.ZodType>)
      .exactOptional(),
    tools: flag,
    maxTools: count,
    sampling: flag,
    answer: answers.exactOptional(),
    answerWithTools: answers.exactOptional(),
    forcedTool: flag,
    prefill: flag,
    midSystem: flag,
    alternation: flag,
    efforts: z.array(efforts).exactOptional(),
    effortWithTools: z.enum(['none', 'omitted']).exactOptional(),
    thinking: z.array(z.enum(['enabled', 'adaptive', 'disabled'])).exactOptional(),
    boundReasoning: flag,
    signedCalls: flag,
    systemRole: z.enum(['system', 'developer']).exactOptional(),
    outputField: z.enum(['max_tokens', 'max_completion_tokens']).exactOptional(),
    cacheMarks: flag,
    contextEdits: flag,
    toolKinds: flag,
  } satisfies Record<keyof Capabilities, z.ZodType>)
  .describe('What can be asked of it, over what the protocol says.')

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

const protocol = z.string().refine((id) => wireIds.includes(id), {
  error: ({ input }) => `unknown protocol ${JSON.stringify(input)}; known are ${wireIds.join(', ')}`,
})
const baseUrl = z
  .string()
  .refine(isAddress, 'is no address that can be asked; write it like https://host/v1, without key or query')
const variable = z
  .string()
  .regex(/^[A-Z_][A-Z0-9_]*$/i, 'is no name of an environment variable, such as MY_SERVER_API_KEY')
  .refine((name) => !/^npm_/i.test(name), 'is set by npm from the .npmrc of any folder, so it is not read')
const variables = z.union([variable, z.array(variable).min(1)])

const wireFields = {
  quirks: quirks.exactOptional(),
  capabilities: capabilities.exactOptional(),
  caching: z
    .enum(['marks', 'key', 'prefix', 'none'])
    .describe('How it caches prompts; `prefix` unless said.')
    .exactOptional(),
}

const wire = z.strictObject({
  protocol: protocol.meta({ enum: [...wireIds] }),
  baseUrl: baseUrl.exactOptional(),
  ...wireFields,
})

export const providerSchema: z.ZodType<ProviderEntry> = z.strictObject({
  id: z
    .string()
    .regex(/^[a-z0-9][a-z0-9._-]*$/, 'may have small letters, digits, dots, underscores and hyphens')
    .describe('How a model is asked for: id/model. The id of a built-in provider changes that one.'),
  extends: z.string().describe('A built-in provider that this one is like.').exactOptional(),
  name: z.string().min(1).exactOptional(),
  protocol: protocol.meta({ enum: [...wireIds], description: 'Its wire; `openai-chat` unless said.' }).exactOptional(),
  baseUrl: baseUrl.describe('Its address up to where the path of the wire begins.').exactOptional(),
  wires: z
    .array(wire)
    .min(1)
    .describe('Instead of `protocol` and `baseUrl`, for several; the first is the default.')
    .exactOptional(),
  ...wireFields,
  keyVariable: variables.describe('The environment variable that holds the key, never the key itself.').exactOptional(),
  keyOptional: flag.describe('It can be asked without a key.'),
  keysAt: z.string().describe('Where a person gets a key.').exactOptional(),
  auth: z
    .strictObject({
      header: z.enum(['authorization', 'x-api-key', 'x-goog-api-key', 'api-key']),
      prefix: z.string().max(20).exactOptional(),
    })
    .describe('How the key is sent; `authorization` with `Bearer ` unless said.')
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
})

function isAddress(text: string): boolean {
  const url = URL.parse(text)
  if (!url || !/^https?:$/.test(url.protocol)) return false
  return url.username === '' && url.password === '' && url.search === '' && url.hash === ''
}
