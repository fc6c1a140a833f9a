// Requests to models over HTTP: those that were sent, the next one, and decisions about what is sent.

import { z } from '@hono/zod-openapi'
import type { Note } from '../core/context.ts'
import type { Origins } from '../wires/wire.ts'
import type { Json, JsonObject } from '../core/json.ts'
import type { Exchange } from '../core/log.ts'
import { id, at, usage, failure, note, type ErrorBody } from './views.ts'

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
  /** The totals of all messages, if only a page of them was requested. */
  counts?: { messages: number; sent: number }
  issues?: Json[]
  /** The model's server can return the prompt that it renders from the request. */
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

/** What identifies a request, sent or not. */
export const requestFields = {
  model: z.string(),
  provider: z.string().optional(),
  protocol: z.string().optional(),
  url: z.string().optional(),
  headers: z.record(z.string(), z.string()).optional(),
}

export const preparedView: z.ZodType = z
  .object({
    ...requestFields,
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

export const compactionView: z.ZodType = z.object({ overlay: overlayView.nullable() }).openapi('Compaction')
