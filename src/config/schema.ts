// synapse.yaml, whole.

import * as z from 'zod'
import { described } from '../settings/rule.ts'
import type { Policy } from '../settings/policy.ts'
import { modelRef, sharedFields } from '../settings/schema.ts'
import { zodOf } from './zod-rule.ts'
import type { McpServerEntry } from './mcp-entry.ts'
import { mcpServersSchema } from './mcp-schema.ts'
import { providerSchema, type ProviderEntry } from './provider-schema.ts'

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
    model: z.exactOptional(zodOf(described(modelRef, 'The model that is used by default: provider/model.'))),
    policy: z.exactOptional(zodOf(sharedFields.policy)),
    providers: z
      .array(providerSchema)
      .describe('Providers beside the built-in ones, or changes to those.')
      .exactOptional(),
    mcpServers: mcpServersSchema.exactOptional(),
    agentsDir: z.string().describe('Where agents are; `agents` beside this file unless said.').exactOptional(),
  })
  .meta({ title: 'Synapse configuration' })
