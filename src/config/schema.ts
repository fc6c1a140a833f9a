// synapse.yaml, whole.

import * as z from 'zod'
import type { Policy } from '../settings/policy.ts'
import type { McpServerEntry } from './mcp-entry.ts'
import { mcpServersSchema } from './mcp-schema.ts'
import { policySchema } from './policy-schema.ts'
import { providerSchema, type ProviderEntry } from './provider-schema.ts'

/** `provider/model`, or a provider alone for its default. */
export const modelRef: z.ZodType<string> = z
  .string()
  .regex(/^\s*[^/\s]+(\/\S+)?\s*$/, 'is no model; write provider/model, such as anthropic/claude-opus-5')

export interface ConfigEntry {
  model?: string
  policy?: Policy
  providers?: ProviderEntry[]
  mcpServers?: Record<string, McpServerEntry>
  agentsDir?: string
}

export const configSchema: z.ZodType<ConfigEntry> = z
  .strictObject({
    $schema: z.string().exactOptional(),
    model: modelRef.describe('Who answers where nothing else is said: provider/model.').exactOptional(),
    policy: policySchema.exactOptional(),
    providers: z
      .array(providerSchema)
      .describe('Providers beside the built-in ones, or changes to those.')
      .exactOptional(),
    mcpServers: mcpServersSchema.exactOptional(),
    agentsDir: z.string().describe('Where agents are; `agents` beside this file unless said.').exactOptional(),
  })
  .meta({ title: 'Synapse configuration' })
