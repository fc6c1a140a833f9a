// What the inspector gets.

import { z } from '@hono/zod-openapi'
import type { Json } from '../../core/json.ts'
import { requestFields } from '../request-views.ts'
import type { Inspected } from './request.ts'

export interface Inspection {
  /** One per request, in the order of the question. */
  items: RequestView[]
  /** A page of the lines of all requests that could be shown. */
  lines: LineView[]
  /** The number of lines before these, and of all. */
  first: number
  total: number
  /** A part of the exact body of one request, and its length, in UTF-16 code units. */
  body?: { text: string; length: number }
}

export interface RequestView {
  model: string
  provider?: string
  protocol?: string
  url?: string
  headers?: Record<string, string>
  contextWindow?: number
  /** Input tokens by estimate, those of them that should be cached, and what they cost in US dollars. */
  tokens?: number
  cachedTokens?: number
  cost?: number
  /** Cached tokens that are expected; absent: the cache is cold. */
  predicted?: number
  changes?: NonNullable<Inspected['changes']>
  /** Notes about the whole request; those about messages are in the lines. */
  notes?: NoteView[]
  /** What differs from the log, counted. */
  noteGroups?: { kind: string; what: string; why: string; times: number }[]
  counts?: { messages: number; sent: number }
  /** What the provider would refuse. */
  issues?: string[]
  showsPrompt?: true
  /** Of the exact body. */
  bytes?: number
  error?: { kind: string; message: string }
}

/** What came from the same messages, one side per request. */
export interface LineView {
  key: string
  title: string
  sides: { pieces: PieceView[]; absent: AbsentView[] }[]
}

/** `length`: the value is longer, and only the beginning of its JSON is here. */
export interface Shortened {
  value: Json
  length?: number
}

export interface PieceView extends Shortened {
  kind: 'settings' | 'tool' | 'system' | 'message'
  path: string
  tokens: number
  sources: Source[]
  moreSources: number
  notes: NoteView[]
  change?: 'same' | 'changed' | 'new'
  before?: Shortened
  cached: boolean
  price?: number
}

export interface Source {
  place: number
  role: string
  entryId?: string
}

/** A message of the log that is in no piece. */
export interface AbsentView extends Source {
  words: string
  notes: NoteView[]
}

/** `decision`: the overlay to undo. */
export interface NoteView {
  kind: string
  what: string
  why: string
  rule?: string
  decision?: string
}

const noteView = z
  .object({
    kind: z.string(),
    what: z.string(),
    why: z.string(),
    rule: z.string().optional(),
    decision: z.string().optional(),
  })
  .openapi('InspectedNote')

const shortened = { value: z.unknown(), length: z.number().optional() }
const source = { place: z.number(), role: z.string(), entryId: z.string().optional() }

const piece = z.object({
  kind: z.enum(['settings', 'tool', 'system', 'message']),
  path: z.string(),
  ...shortened,
  tokens: z.number(),
  sources: z.array(z.object(source)),
  moreSources: z.number(),
  notes: z.array(noteView),
  change: z.enum(['same', 'changed', 'new']).optional(),
  before: z.object(shortened).optional(),
  cached: z.boolean(),
  price: z.number().optional(),
})

const requestView = z
  .object({
    ...requestFields,
    contextWindow: z.number().optional(),
    tokens: z.number().optional(),
    cachedTokens: z.number().optional(),
    cost: z.number().optional(),
    predicted: z.number().optional(),
    changes: z
      .object({ same: z.number(), changed: z.number(), added: z.number(), gone: z.number() })
      .optional()
      .openapi({ description: 'Pieces, compared with the previous request on the same wire.' }),
    notes: z.array(noteView).optional(),
    noteGroups: z
      .array(z.object({ kind: z.string(), what: z.string(), why: z.string(), times: z.number() }))
      .optional(),
    counts: z.object({ messages: z.number(), sent: z.number() }).optional(),
    issues: z.array(z.string()).optional(),
    showsPrompt: z.literal(true).optional(),
    bytes: z.number().optional(),
    error: z.looseObject({ kind: z.string(), message: z.string() }).optional(),
  })
  .openapi('InspectedRequest')

export const inspectionView: z.ZodType = z
  .object({
    items: z.array(requestView),
    lines: z.array(
      z.object({
        key: z.string(),
        title: z.string(),
        sides: z.array(
          z.object({
            pieces: z.array(piece),
            absent: z.array(z.object({ ...source, words: z.string(), notes: z.array(noteView) })),
          }),
        ),
      }),
    ),
    first: z.number(),
    total: z.number(),
    body: z.object({ text: z.string(), length: z.number() }).optional(),
  })
  .openapi('Inspection')
