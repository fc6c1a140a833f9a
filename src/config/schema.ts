// The schema of synapse.yaml.

import * as z from 'zod'
import { withDescription } from '../settings/rule.ts'
import type { Policy } from '../settings/policy.ts'
import type { Fallback } from '../settings/run.ts'
import { modelRef, sharedFields } from '../settings/schema.ts'
import { zodOf } from './zod-problems.ts'
import type { McpServerEntry } from './mcp-entry.ts'
import { mcpServersSchema } from './mcp-schema.ts'
import { providerSchema, type ProviderEntry } from './provider-schema.ts'

/** The models for clients of other APIs, by model name. */
export interface ModelRoute {
  /** `*` matches any text. */
  match: string
  model: string
  /** The fallback models if it fails before it has sent anything. */
  fallback?: readonly Fallback[]
  policy?: Policy
}

/** The names of tools, by what they take the place of. */
export type ServedToolNames = Partial<Record<'web-search' | 'code-execution' | 'file-search', string>>

export interface ConfigEntry {
  model?: string
  policy?: Policy
  providers?: ProviderEntry[]
  aliases?: Record<string, string>
  routes?: ModelRoute[]
  serverTools?: ServedToolNames
  mcpServers?: Record<string, McpServerEntry>
  agentsDir?: string
}

const servedTool = z
  .string()
  .regex(/^[A-Za-z0-9_-]{1,64}__[A-Za-z0-9_-]{1,128}$/, 'is a tool of an MCP server: server__tool')
  .describe('The tool of an MCP server, `server__tool`. Its calls need no approval.')

export const configSchema: z.ZodType<ConfigEntry> = z
  .strictObject({
    $schema: z.string().exactOptional(),
    model: z.exactOptional(zodOf(withDescription(modelRef, 'The default model: provider/model.'))),
    aliases: z
      .record(
        z.string().regex(/^[a-z0-9][\w.-]{0,63}$/i, 'may have letters, digits, dots, hyphens and underscores'),
        zodOf(modelRef),
      )
      .describe('Own names for models: `fast: groq/llama-4`.')
      .exactOptional(),
    routes: z
      .array(
        z.strictObject({
          match: z
            .string()
            .regex(/^[^\s/]{1,200}$/, 'is the name of a model without its provider; * matches any text')
            .describe('The name that a client gives, with `*` for any text: `claude-*`.'),
          model: zodOf(withDescription(modelRef, 'The model that answers: provider/model, or an alias.')),
          fallback: z.exactOptional(zodOf(sharedFields.fallback)),
          policy: z.exactOptional(zodOf(sharedFields.policy)),
        }),
      )
      .describe(
        'The models that answer clients of other APIs, by the name that a client gives: the first match applies.',
      )
      .exactOptional(),
    serverTools: z
      .strictObject({
        'web-search': servedTool.exactOptional(),
        'code-execution': servedTool.exactOptional(),
        'file-search': servedTool.exactOptional(),
      })
      .describe('For clients of other APIs: tools in place of those that the provider of the API would run itself.')
      .exactOptional(),
    policy: z.exactOptional(zodOf(sharedFields.policy)),
    providers: z
      .array(providerSchema)
      .describe('Providers in addition to the built-in ones, or changes to those.')
      .exactOptional(),
    mcpServers: mcpServersSchema.exactOptional(),
    agentsDir: z.string().describe('Where agents are; by default `agents` next to this file.').exactOptional(),
  })
  .meta({ title: 'Synapse configuration' })
