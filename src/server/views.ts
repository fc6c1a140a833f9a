// What is sent over HTTP, as types for the code and as schemas for the OpenAPI document: conversations, their entries and
// runs. Requests to models: request-views.ts; the server itself: server-views.ts.

import { z } from '@hono/zod-openapi'
import type { Note } from '../core/context.ts'
import type { ErrorKind, Failure } from '../core/error.ts'
import type { Branch, Conversation, Entry, EntryOutline } from '../core/log.ts'
import type { Usage } from '../core/usage.ts'

export const id = z.string()

export const at = z.string().openapi({ format: 'date-time' })

export const usage = z
  .looseObject({
    input: z.number(),
    output: z.number(),
    cacheRead: z.number(),
    cacheWrite: z.number(),
    reasoning: z.number(),
  })
  .openapi('Usage')

export const failure = z.looseObject({ kind: z.string(), message: z.string() }).openapi('Failure')

export const note = z
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

/** A list, and how to request the next page. */
export function pageSchema(item: z.ZodType): z.ZodType {
  return z.object({ items: z.array(item), next: z.string().optional() })
}

export interface ErrorBody {
  error: { kind: ErrorKind; message: string; code?: string }
}

export const errorBody: z.ZodType<ErrorBody> = z
  .object({ error: z.object({ kind: z.string(), message: z.string(), code: z.string().optional() }) })
  .openapi('Error') as z.ZodType<ErrorBody>

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

export type ConversationView = Omit<Conversation, 'owner'> & { run?: Pick<RunView, 'id' | 'state'> }

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

export interface EntriesPage {
  items: Entry[]
  before: string | null
  after: string | null
}

const entry = z
  .object({ id, conversationId: id, parentId: id.nullable(), depth: z.number(), at, message })
  .openapi('Entry')

export const entryView: z.ZodType<Entry> = entry as z.ZodType as z.ZodType<Entry>

export const entriesPage: z.ZodType = z
  .object({ items: z.array(entry), before: id.nullable(), after: id.nullable() })
  .openapi('EntriesPage')

export interface Tree {
  entries: EntryOutline[]
  /** Only on the page with the newest entries; empty on the others. */
  branches: Branch[]
  /** Where the page of older entries ends; null: there are none. */
  before: string | null
}

export const treeView: z.ZodType = z
  .object({
    entries: z.array(z.object({ id, parentId: id.nullable(), depth: z.number(), role: z.string(), at })),
    branches: z.array(
      z.object({ name: z.string().optional(), entryId: id, depth: z.number(), at, current: z.boolean() }),
    ),
    before: id.nullable(),
  })
  .openapi('Tree')

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

/** The imported conversations, each with notes about what was lost. */
export interface ImportedView {
  items: { conversation: ConversationView; notes: Note[] }[]
}

export const importedView: z.ZodType = z
  .object({ items: z.array(z.object({ conversation: conversationView, notes: z.array(z.looseObject({})) })) })
  .openapi('Imported')
