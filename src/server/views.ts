// What is sent over HTTP, as types for the code and as schemas for the OpenAPI document.

import { z } from '@hono/zod-openapi'
import type { Note } from '../core/context.ts'
import type { Origins } from '../wires/wire.ts'
import type { ErrorKind, Failure } from '../core/error.ts'
import type { Json, JsonObject } from '../core/json.ts'
import type { Branch, Conversation, Entry, EntryOutline, Exchange } from '../core/log.ts'
import type { Usage } from '../core/usage.ts'

const id = z.string()

export interface ErrorBody {
  error: { kind: ErrorKind; message: string; code?: string }
}

type RunState = 'queued' | 'running' | 'parked' | 'ended'

/** A run as it is stored and shown. */
export interface RunView {
  id: string
  conversationId: string
  state: RunState
  model: string
  /** The entry that the run started from. */
  basedOn: string
  /** The user entry that it wrote, if it wrote one. */
  entryId?: string
  startedAt: string
  endedAt?: string
  outcome?: string
  usage?: Usage
  cost?: number
  failure?: Failure
}

export type ConversationView = Omit<Conversation, 'owner'> & { run?: Pick<RunView, 'id' | 'state'> }

export interface EntriesPage {
  items: Entry[]
  before: string | null
  after: string | null
}

export interface Tree {
  entries: EntryOutline[]
  /** With the newest entries only. */
  branches: Branch[]
  /** Where the page of older entries ends; null: there are none. */
  before: string | null
}

export interface PreparedView {
  model: string
  provider?: string
  protocol?: string
  url?: string
  headers?: Record<string, string>
  body?: JsonObject
  notes?: Note[]
  /** Which messages each element of the body came from. */
  origins?: Origins
  estimate?: { input: number }
  contextWindow?: number
  price?: Json
  messages?: PreparedMessage[]
  /** Of all messages, if only a part of them was requested. */
  counts?: { messages: number; sent: number }
  issues?: Json[]
  /** Its server can return the prompt that it makes of the request. */
  showsPrompt?: true
  error?: ErrorBody['error']
}

/** What happens to one message of the history. */
interface PreparedMessage {
  place: number
  entryId?: string
  role: string
  /** Its tokens in the log and in the request. */
  tokens: number
  sentTokens: number
  sent: boolean
  fate: 'sent' | 'converted' | 'folded' | 'summarised' | 'cut'
  /** What was done to it, each with its reason. */
  why: string[]
}

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

export interface ModelView {
  /** A value for `settings.model`. */
  model: string
  provider: string
  contextWindow?: number
  price?: Json
}

export const errorBody: z.ZodType<ErrorBody> = z
  .object({ error: z.object({ kind: z.string(), message: z.string(), code: z.string().optional() }) })
  .openapi('Error') as z.ZodType<ErrorBody>

const at = z.string().openapi({ format: 'date-time' })
const usage = z
  .looseObject({
    input: z.number(),
    output: z.number(),
    cacheRead: z.number(),
    cacheWrite: z.number(),
    reasoning: z.number(),
  })
  .openapi('Usage')
const failure = z.looseObject({ kind: z.string(), message: z.string() }).openapi('Failure')
const note = z
  .object({
    kind: z.enum(['dropped', 'changed', 'added']),
    what: z.string(),
    why: z.string(),
    at: z.string().optional(),
    rule: z.string().optional(),
    data: z.looseObject({}).optional(),
  })
  .openapi('Note')
const message = z
  .looseObject({
    role: z.enum(['system', 'user', 'tool', 'assistant']),
    parts: z.array(z.looseObject({ type: z.string() })),
  })
  .openapi('Message')

export const runView: z.ZodType<RunView> = z
  .object({
    id,
    conversationId: id,
    state: z.enum(['queued', 'running', 'parked', 'ended']),
    model: z.string(),
    basedOn: z.string(),
    entryId: id.optional(),
    startedAt: at,
    endedAt: at.optional(),
    outcome: z.string().optional(),
    usage: usage.optional(),
    cost: z.number().optional(),
    failure: failure.optional(),
  })
  .openapi('Run') as z.ZodType<RunView>

export const startedRun: z.ZodType<{ run: RunView }> = z.object({ run: runView }).openapi('StartedRun')

const conversationShape = {
  id,
  title: z.string().optional(),
  labels: z.array(z.string()),
  settings: z.record(z.string(), z.unknown()),
  createdAt: at,
  updatedAt: at,
  head: id.nullable(),
  branch: z.string().optional(),
  entries: z.number(),
  run: z.object({ id, state: z.string() }).optional(),
}
export const conversationView: z.ZodType<ConversationView> = z
  .object(conversationShape)
  .openapi('Conversation') as z.ZodType<ConversationView>

const entry = z
  .object({ id, conversationId: id, parentId: id.nullable(), depth: z.number(), at, message })
  .openapi('Entry')
export const entryView: z.ZodType<Entry> = entry as z.ZodType as z.ZodType<Entry>

export const entriesPage: z.ZodType = z
  .object({ items: z.array(entry), before: id.nullable(), after: id.nullable() })
  .openapi('EntriesPage')

export const treeView: z.ZodType = z
  .object({
    entries: z.array(z.object({ id, parentId: id.nullable(), depth: z.number(), role: z.string(), at })),
    branches: z.array(
      z.object({ name: z.string().optional(), entryId: id, depth: z.number(), at, current: z.boolean() }),
    ),
    before: id.nullable(),
  })
  .openapi('Tree')

export const exchangeView: z.ZodType<Exchange> = z
  .object({
    id,
    conversationId: id,
    basedOn: id,
    provider: z.string(),
    protocol: z.string(),
    model: z.string(),
    bodySha256: z.string(),
    notes: z.array(note),
    startedAt: at,
    endedAt: at.optional(),
    outcome: z.enum(['open', 'done', 'failed', 'cancelled', 'interrupted']),
    replyEntryId: id.optional(),
    attempts: z.number(),
    usage: usage.optional(),
    cost: z.number().optional(),
    failure: failure.optional(),
    clientRequest: z
      .object({ client: z.string().optional(), protocol: z.string(), path: z.string(), bodySha256: z.string() })
      .optional()
      .describe('The request of a client that uses another API; its body is at /api/exchanges/{id}/client-body.'),
  })
  .openapi('Exchange') as z.ZodType as z.ZodType<Exchange>

const diffLine = z.object({ sign: z.enum(['+', '-', ' ', '…']), text: z.string() })

export const approvalView: z.ZodType = z
  .object({
    call: z.looseObject({ callId: z.string(), name: z.string() }),
    argsHash: z.string(),
    expiresAt: at,
    source: z.string().optional(),
    diff: z.object({ path: z.string(), lines: z.array(diffLine) }).optional(),
  })
  .openapi('Approval')

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

export const overlayView: z.ZodType = z
  .object({
    id,
    conversationId: id,
    entryId: id,
    kind: z.string(),
    data: z.record(z.string(), z.unknown()),
    undone: z.boolean(),
    at,
  })
  .openapi('Overlay')

export const compactedView: z.ZodType = z.object({ overlay: overlayView.nullable() }).openapi('Compacted')

export const hitView: z.ZodType = z
  .object({
    conversationId: id,
    title: z.string().optional(),
    entryId: id,
    kind: z.enum(['title', 'user', 'reply', 'input', 'output']),
    tool: z.string().optional(),
    at,
    snippet: z.string(),
    marks: z.array(z.array(z.number())),
  })
  .openapi('Hit')

export const preparedView: z.ZodType = z
  .object({
    model: z.string(),
    provider: z.string().optional(),
    protocol: z.string().optional(),
    url: z.string().optional(),
    headers: z.record(z.string(), z.string()).optional(),
    body: z.record(z.string(), z.unknown()).optional(),
    notes: z.array(note).optional(),
    origins: z.object({ field: z.string(), from: z.array(z.array(z.string())) }).optional(),
    estimate: z.object({ input: z.number() }).optional(),
    contextWindow: z.number().optional(),
    price: z.looseObject({}).optional(),
    messages: z
      .array(
        z.object({
          place: z.number(),
          entryId: id.optional(),
          role: z.string(),
          tokens: z.number(),
          sentTokens: z.number(),
          sent: z.boolean(),
          fate: z.enum(['sent', 'converted', 'folded', 'summarised', 'cut']),
          why: z.array(z.string()),
        }),
      )
      .optional(),
    counts: z.object({ messages: z.number(), sent: z.number() }).optional(),
    issues: z.array(z.looseObject({ rule: z.string(), status: z.number(), message: z.string() })).optional(),
    showsPrompt: z.literal(true).optional(),
    error: z.looseObject({ kind: z.string(), message: z.string() }).optional(),
  })
  .openapi('Prepared')

export const modelPromptView: z.ZodType = z.object({ model: z.string(), prompt: z.string() }).openapi('ModelPrompt')

export const usageRow: z.ZodType = z
  .object({
    day: z.string(),
    provider: z.string(),
    model: z.string(),
    exchanges: z.number(),
    input: z.number(),
    output: z.number(),
    cacheRead: z.number(),
    cacheWrite: z.number(),
    reasoning: z.number(),
    cost: z.number(),
    unpriced: z.number(),
    offline: z.number(),
  })
  .openapi('UsageRow')

const spending = {
  input: z.number(),
  output: z.number(),
  cacheRead: z.number(),
  cacheWrite: z.number(),
  reasoning: z.number(),
  cost: z.number(),
  requests: z.number(),
  unpriced: z.number(),
}

export const conversationUsageView: z.ZodType = z
  .object({
    ...spending,
    saved: z.number(),
    recalls: z.number(),
    models: z.array(z.object({ provider: z.string(), model: z.string(), ...spending })),
  })
  .openapi('ConversationUsage')

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

/** A list, and how to request the next page. */
export function pageSchema(item: z.ZodType): z.ZodType {
  return z.object({ items: z.array(item), next: z.string().optional() })
}

/** What was imported, with what was lost. */
export interface ImportedView {
  items: { conversation: ConversationView; notes: Note[] }[]
}

export const importedView: z.ZodType = z
  .object({ items: z.array(z.object({ conversation: conversationView, notes: z.array(z.looseObject({})) })) })
  .openapi('Imported')

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

export const notedView: z.ZodType = z.object({ at, what: z.string(), to: id, by: id.optional() }).openapi('Noted')
