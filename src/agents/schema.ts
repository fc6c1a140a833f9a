// An agent as a file says it: who answers, what it is told, what it may do, and what that may cost.

import * as z from 'zod'
import { policySchema } from '../config/policy-schema.ts'
import { modelRef } from '../config/schema.ts'
import type { ErrorKind } from '../core/error.ts'
import type { Effort, Options } from '../core/options.ts'
import type { Budget, Spend } from '../run/budget.ts'
import type { RunSettings } from '../run/conversation.ts'

export interface AgentEntry extends Omit<RunSettings, 'model' | 'tools' | 'route' | 'signal'> {
  $schema?: string
  name: string
  description?: string
  provider?: string
  model?: string
  tools?: ToolEntry[]
  route?: { tools?: string; answer?: string }
}

/** A module's path, or where tools come from and which of them. */
export type ToolEntry = string | (({ module: string } | { mcp: string }) & { only?: string[]; ask?: boolean })

const efforts = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'] as const satisfies readonly Effort[]

/** What a provider or the way to it can do; the rest goes wrong locally, and no one else could help. */
const kinds = [
  'auth',
  'permission',
  'quota',
  'rate-limit',
  'overloaded',
  'context-overflow',
  'too-large',
  'invalid-request',
  'not-found',
  'refused',
  'timeout',
  'network',
  'malformed-reply',
] as const satisfies readonly ErrorKind[]

const only = z.array(z.string().min(1)).min(1).describe('Only these of its tools.').exactOptional()
const ask = z.boolean().describe('A person must allow each call.').exactOptional()
const modulePath = z
  .string()
  .regex(/^\.\.?\//, 'is no path of a module; write it relative to this file, such as ./tools.ts')

const tool = z.union([
  modulePath,
  z.strictObject({ module: modulePath, only, ask }),
  z.strictObject({ mcp: z.string().min(1).describe('The name of a server in synapse.yaml.'), only, ask }),
])

const options = z.strictObject({
  maxOutput: z.int().min(1).exactOptional(),
  temperature: z.number().min(0).max(2).exactOptional(),
  topP: z.number().min(0).max(1).exactOptional(),
  stop: z.array(z.string().min(1)).exactOptional(),
  effort: z.enum(efforts).exactOptional(),
  parallelTools: z.boolean().exactOptional(),
  cacheTtl: z.enum(['5m', '1h']).exactOptional(),
} satisfies Partial<Record<keyof Options, z.ZodType>>)

const spend = z.strictObject({
  usd: z.number().gt(0).exactOptional(),
  tokens: z.int().min(1).exactOptional(),
} satisfies Record<keyof Spend, z.ZodType>)

const budget = z.strictObject({
  run: spend.exactOptional(),
  conversation: spend.exactOptional(),
} satisfies Record<keyof Budget, z.ZodType>)

const guards = z.strictObject({
  repeats: z.union([z.int().min(1), z.literal(false)]).exactOptional(),
  timeMs: z.int().min(1).exactOptional(),
  outputSize: z.int().min(1).exactOptional(),
  callsPerReply: z.int().min(1).exactOptional(),
  concurrentTools: z.int().min(1).exactOptional(),
  resultSize: z.int().min(1).exactOptional(),
  replySize: z.int().min(1).exactOptional(),
} satisfies Record<keyof NonNullable<RunSettings['guards']>, z.ZodType>)

export const agentSchema: z.ZodType<AgentEntry> = z
  .strictObject({
    $schema: z.string().exactOptional(),
    name: z
      .string()
      .regex(/^[a-z0-9][a-z0-9_-]*$/, 'may have small letters, digits, hyphens and underscores')
      .describe('How it is called: synapse agent run NAME.'),
    description: z.string().exactOptional(),
    provider: z.string().min(1).describe('Who answers, if `model` is a bare name of a model.').exactOptional(),
    model: z.string().min(1).describe('provider/model; the model of synapse.yaml unless said.').exactOptional(),
    protocol: z.string().describe("One of the provider's wires; its usual one unless said.").exactOptional(),
    system: z.string().describe('What it is told before everything else.').exactOptional(),
    tools: z.array(tool).describe('Modules that export tools, and MCP servers of synapse.yaml.').exactOptional(),
    policy: policySchema.exactOptional(),
    options: options.describe('How replies are asked for.').exactOptional(),
    maxSteps: z.int().min(1).describe('The most requests in one run; 50 unless said.').exactOptional(),
    guards: guards.describe('When a run that goes wrong is stopped.').exactOptional(),
    budget: budget.describe('What a run or a conversation may cost.').exactOptional(),
    route: z
      .strictObject({
        tools: modelRef.describe('Asked as long as there are tools to call.').exactOptional(),
        answer: modelRef.describe('Composes the final answer from the tool results.').exactOptional(),
      })
      .describe('Another model for some steps.')
      .exactOptional(),
    fallback: z
      .array(
        z.union([modelRef, z.strictObject({ model: modelRef, on: z.array(z.enum(kinds)).min(1).exactOptional() })]),
      )
      .describe('Whom to ask when a model fails before it has said anything, in this order.')
      .exactOptional(),
  })
  .meta({ title: 'Synapse agent' })
