// The server itself over HTTP: its providers and models, and what conversations can use.

import { z } from '@hono/zod-openapi'
import type { Json } from '../core/json.ts'
import { id, at } from './views.ts'

export interface StatusView {
  version: string
  owner: string
  access: 'read' | 'write'
  keysRequired: boolean
  /** The emulator answers in place of every provider. */
  offline: boolean
  whyOffline?: string
  defaultModel: string
  /** Sessions of coding agents on this machine can be listed and imported. */
  localSessions: boolean
  /** The folder of the file and command tools; included only if no key is needed. */
  folder?: string
  /** The folders that a conversation can choose from. */
  folders?: string[]
  tools: { name: string; description?: string }[]
}

export const statusView: z.ZodType<StatusView> = z
  .object({
    version: z.string(),
    owner: z.string(),
    access: z.enum(['read', 'write']),
    keysRequired: z.boolean(),
    offline: z.boolean(),
    whyOffline: z.string().optional(),
    defaultModel: z.string(),
    localSessions: z.boolean(),
    folder: z.string().optional(),
    folders: z.array(z.string()).optional(),
    tools: z.array(z.object({ name: z.string(), description: z.string().optional() })),
  })
  .openapi('Status') as z.ZodType<StatusView>

export interface ProviderView {
  id: string
  name: string
  key: 'found' | 'missing' | 'not-needed'
  /** The source of the key in use. */
  keyFrom?: 'environment' | 'stored'
  /** Whether a key can be stored from here (`POST /api/providers/{provider}/key`). */
  canStoreKey: boolean
  /** Where to get a key, and the variables that may contain it. */
  keysAt?: string
  keyVariables: string[]
  defaultModel?: string
  wires: { protocol: string; state: string; caching: string; compaction: string }[]
}

export const providerView: z.ZodType = z
  .object({
    id: z.string(),
    name: z.string(),
    key: z.enum(['found', 'missing', 'not-needed']),
    keyFrom: z.enum(['environment', 'stored']).optional(),
    canStoreKey: z.boolean(),
    keysAt: z.string().optional(),
    keyVariables: z.array(z.string()),
    defaultModel: z.string().optional(),
    wires: z.array(z.object({ protocol: z.string(), state: z.string(), caching: z.string(), compaction: z.string() })),
  })
  .openapi('Provider')

export interface ModelView {
  /** A value for `settings.model`. */
  model: string
  provider: string
  contextWindow?: number
  price?: Json
}

export const modelView: z.ZodType = z
  .object({
    model: z.string(),
    provider: z.string(),
    contextWindow: z.number().optional(),
    price: z.looseObject({}).optional(),
  })
  .openapi('Model')

export interface CapabilitiesView {
  model: string
  /** Media types that it accepts, such as `image/*`. Text files always work. */
  media: string[]
  tools: boolean
}

export const capabilitiesView: z.ZodType<CapabilitiesView> = z
  .object({ model: z.string(), media: z.array(z.string()), tools: z.boolean() })
  .openapi('Capabilities')

export const preferredView: z.ZodType = z
  .object({
    favourites: z.array(z.string()),
    recent: z.array(z.string()),
    aliases: z.record(z.string(), z.string()),
    local: z.array(z.object({ provider: z.string(), name: z.string(), models: z.array(z.string()) })),
  })
  .openapi('PreferredModels')

export const promptView: z.ZodType = z
  .object({
    name: z.string(),
    description: z.string().optional(),
    variables: z.array(z.object({ name: z.string(), otherwise: z.string().optional() })),
    text: z.string(),
  })
  .openapi('Prompt')

export const agentView: z.ZodType = z
  .object({
    name: z.string(),
    description: z.string().optional(),
    model: z.string().optional(),
    problem: z.string().optional(),
  })
  .openapi('Agent')

export const toolView: z.ZodType = z
  .object({
    name: z.string(),
    description: z.string().optional(),
    source: z.enum(['built-in', 'mcp']),
    server: z.string().optional(),
    usual: z.boolean().openapi({ description: 'Offered by default.' }),
    asks: z.boolean().openapi({ description: 'Its calls need approval.' }),
  })
  .openapi('Tool')

export const mcpServerView: z.ZodType = z
  .object({
    name: z.string(),
    state: z.enum(['idle', 'connecting', 'connected', 'away']),
    problem: z.string().optional(),
    tools: z.array(z.string()),
    waiting: z.array(
      z.object({
        name: z.string(),
        before: z.string().optional(),
        now: z.string(),
        added: z.boolean().optional(),
      }),
    ),
  })
  .openapi('McpServer')

export const grantView: z.ZodType = z
  .object({ id, tool: z.string(), source: z.string(), conversationId: id.optional(), at })
  .openapi('Grant')

export interface SessionsView {
  items: {
    agent: string
    id: string
    title: string
    cwd?: string
    changedAt: string
    messages: number
    model?: string
  }[]
  agents: { id: string; name: string }[]
  /** The command that carries a conversation to an agent, before its id. */
  carry: string[]
}

export const sessionsView: z.ZodType = z
  .object({
    items: z.array(
      z.object({
        agent: z.string(),
        id: z.string(),
        title: z.string(),
        cwd: z.string().optional(),
        changedAt: at,
        messages: z.number(),
        model: z.string().optional(),
      }),
    ),
    agents: z.array(z.object({ id: z.string(), name: z.string() })),
    carry: z.array(z.string()),
  })
  .openapi('Sessions')

export const auditEventView: z.ZodType = z
  .object({ at, what: z.string(), to: id, by: id.optional() })
  .openapi('AuditEvent')
