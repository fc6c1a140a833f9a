// The input over HTTP: the validation of every request, and the requests of the OpenAPI document. It is strict, so that
// an unknown field (an address, a key, a header) is refused and can have no effect. Output: views.ts and the other views.
//
// JSON has no undefined: an optional field is there or it is not, which is what the casts to the exact types say.

import { z } from '@hono/zod-openapi'
import { zodOf } from '../config/zod-problems.ts'
import type { Json } from '../core/json.ts'
import type { MediaPart, TextPart } from '../core/message.ts'
import type { ApprovalScope } from '../run/tools/grants.ts'
import type { Options } from '../settings/options.ts'
import { jsonSchemaOf, object } from '../settings/rule.ts'
import { mostCandidates, type RunSettings } from '../settings/run.ts'
import { httpFields, type RouteTable } from '../settings/schema.ts'

/** Settings of a run; of the conversation, or for one run. */
export interface Settings extends Partial<Omit<RunSettings, 'tools' | 'options' | 'route' | 'signal'>> {
  agent?: string
  tools?: string[]
  folder?: string
  options?: Omit<Options, 'extra' | 'cacheKey'>
  route?: RouteTable
}

const name = z.string().min(1).max(200)
const id = z.string().regex(/^[A-Za-z0-9._:-]{1,100}$/, 'not an id')
const title = z.string().max(500)
const labels = z.array(z.string().min(1).max(100)).max(50)

const settingsRule = object(httpFields)

/** The same settings as everywhere else (settings/), with the same error messages. */
export const settings: z.ZodType<Settings> = zodOf(settingsRule).openapi('Settings', jsonSchemaOf(settingsRule))

const textPart = z.strictObject({ type: z.literal('text'), text: z.string() })
const mediaPart = z.strictObject({
  type: z.literal('media'),
  mediaType: z.string().regex(/^[a-z]+\/[A-Za-z0-9.+-]+$/, 'not a media type'),
  name: name.optional(),
  data: z.union([
    z.strictObject({ kind: z.literal('base64'), base64: z.base64() }),
    z.strictObject({ kind: z.literal('blob'), sha256: z.string().regex(/^[0-9a-f]{64}$/) }),
    z.strictObject({ kind: z.literal('url'), url: z.url({ protocol: /^https$/ }) }),
  ]),
})
const messageInput = {
  text: z.string().min(1).optional(),
  parts: z
    .array(z.union([textPart, mediaPart]))
    .min(1)
    .max(200)
    .optional(),
}
const once = (body: { text?: unknown; parts?: unknown }) => (body.text === undefined) !== (body.parts === undefined)

/** A user message: one of both. */
export interface MessageInput {
  text?: string
  parts?: (TextPart | MediaPart)[]
}

export interface NewMessage extends MessageInput {
  parentId?: string | null
  settings?: Settings
}

export const newMessage: z.ZodType<NewMessage> = z
  .strictObject({ ...messageInput, parentId: id.nullable().optional(), settings: settings.optional() })
  .refine(once, { error: 'give either text or parts' })
  .openapi('NewMessage') as z.ZodType<NewMessage>

export const editedMessage: z.ZodType<MessageInput & { settings?: Settings }> = z
  .strictObject({ ...messageInput, settings: settings.optional() })
  .refine(once, { error: 'give either text or parts' })
  .openapi('EditedMessage') as z.ZodType<MessageInput & { settings?: Settings }>

export interface CompareBody extends MessageInput {
  models: string[]
  settings?: Settings
}

export const compareRequest: z.ZodType<CompareBody> = z
  .strictObject({ ...messageInput, models: z.array(name).min(1).max(mostCandidates), settings: settings.optional() })
  .refine((body) => body.text === undefined || body.parts === undefined, { error: 'give either text or parts' })
  .openapi('CompareRequest') as z.ZodType<CompareBody>

export const resumeRequest: z.ZodType<{ settings?: Settings }> = z
  .strictObject({ settings: settings.optional() })
  .openapi('ResumeRequest') as z.ZodType<{ settings?: Settings }>

export interface NewConversation {
  title?: string
  labels?: string[]
  settings?: Settings
  from?: { conversationId: string; entryId?: string }
}

export const newConversation: z.ZodType<NewConversation> = z
  .strictObject({
    title: title.optional(),
    labels: labels.optional(),
    settings: settings.optional(),
    from: z.strictObject({ conversationId: id, entryId: id.optional() }).optional(),
  })
  .openapi('NewConversation') as z.ZodType<NewConversation>

export interface ImportRequest {
  content: Json
  format?: string
  labels?: string[]
}

export const importRequest: z.ZodType<ImportRequest> = z
  .strictObject({
    content: z
      .unknown()
      .refine((given) => given !== undefined, { error: 'is missing' })
      .openapi({ description: 'The JSON of the file, or its text if it is JSON Lines.' }),
    format: name.optional(),
    labels: labels.optional(),
  })
  .openapi('ImportRequest') as z.ZodType<ImportRequest>

export const importSession: z.ZodType<{ agent: string; id: string }> = z
  .strictObject({ agent: name, id: name })
  .openapi('ImportSession')

export interface ConversationChange {
  title?: string | null
  labels?: string[]
  settings?: Settings
  head?: string
}

export const conversationChange: z.ZodType<ConversationChange> = z
  .strictObject({
    title: title.nullable().optional(),
    labels: labels.optional(),
    settings: settings.optional(),
    head: id.optional(),
  })
  .openapi('ConversationChange') as z.ZodType<ConversationChange>

export interface Fork {
  entryId: string
  name?: string
}

export const fork: z.ZodType<Fork> = z
  .strictObject({ entryId: id, name: z.string().min(1).max(100).optional() })
  .openapi('Fork') as z.ZodType<Fork>

export interface Verdict {
  allowed: boolean
  argsHash?: string
  reason?: string
  /** How long it is valid. */
  scope?: ApprovalScope
}

export const verdict: z.ZodType<Verdict> = z
  .strictObject({
    allowed: z.boolean(),
    argsHash: z.string().max(100).optional(),
    reason: z.string().max(10_000).optional(),
    scope: z
      .enum(['once', 'conversation', 'always'])
      .optional()
      .openapi({ description: 'For this call, for this conversation, or always for this tool. Default: once.' }),
  })
  .openapi('ApprovalAnswer') as z.ZodType<Verdict>

export const favouriteChange: z.ZodType<{ model: string; favourite: boolean }> = z
  .strictObject({ model: name, favourite: z.boolean() })
  .openapi('FavouriteChange')

export const newProviderKey: z.ZodType<{ key: string }> = z
  .strictObject({ key: z.string().min(1).max(4096).openapi({ format: 'password' }) })
  .openapi('NewProviderKey')

export const overlayChange: z.ZodType<{ undone: boolean }> = z
  .strictObject({ undone: z.boolean() })
  .openapi('OverlayChange')

/** The next request. */
export interface NextRequest extends MessageInput {
  entryId?: string
  settings?: Settings
}

export interface PrepareRequest extends NextRequest {
  targets: { model: string; protocol?: string }[]
  messages?: MessagesPart
}

/** The last `limit` messages, of all or of those before a place. */
export interface MessagesPart {
  limit: number
  before?: number
}

export interface InspectRequest extends NextRequest {
  requests: InspectedSubject[]
  lines: LinesPart
  body?: BodyPart
}

/** The next request to a model, an exchange, or what a client sent for it. */
type InspectedSubject = { model: string; protocol?: string } | { exchangeId: string; client?: boolean }

/** The last `limit` lines, of all or of those before one. */
export interface LinesPart {
  limit: number
  before?: number
  onlyChanges?: boolean
}

/** A part of the exact body of one of the requests. */
export interface BodyPart {
  of: number
  from: number
  limit: number
}

const nextRequest = { ...messageInput, entryId: id.optional(), settings: settings.optional() }
const eitherTextOrParts = { error: 'give either text or parts' }

function saysOneThing(body: { text?: unknown; parts?: unknown }): boolean {
  return body.text === undefined || body.parts === undefined
}

export const prepareRequest: z.ZodType<PrepareRequest> = z
  .strictObject({
    targets: z
      .array(z.strictObject({ model: name, protocol: name.optional() }))
      .min(1)
      .max(8),
    messages: z
      .strictObject({ limit: z.number().int().min(0).max(10_000), before: z.number().int().min(0).optional() })
      .optional()
      .openapi({ description: 'Which of `messages` to return: the last ones, or those before a place.' }),
    ...nextRequest,
  })
  .refine(saysOneThing, eitherTextOrParts)
  .openapi('PrepareRequest') as z.ZodType<PrepareRequest>

const place = z.number().int().min(0)

export const inspectRequest: z.ZodType<InspectRequest> = z
  .strictObject({
    requests: z
      .array(
        z.union([
          z.strictObject({ model: name, protocol: name.optional() }),
          z.strictObject({ exchangeId: id, client: z.boolean().optional() }),
        ]),
      )
      .min(1)
      .max(3),
    lines: z
      .strictObject({ limit: place.max(500), before: place.optional(), onlyChanges: z.boolean().optional() })
      .openapi({ description: 'Which lines to return: the last ones, or those before a number.' }),
    body: z
      .strictObject({ of: place.max(2), from: place, limit: place.max(1_000_000) })
      .optional()
      .openapi({ description: 'Which part of the exact body of which request to return, in characters.' }),
    ...nextRequest,
  })
  .refine(saysOneThing, eitherTextOrParts)
  .openapi('InspectRequest') as z.ZodType<InspectRequest>

export const promptRequest: z.ZodType<NextRequest> = z
  .strictObject(nextRequest)
  .refine(saysOneThing, eitherTextOrParts)
  .openapi('PromptRequest') as z.ZodType<NextRequest>

const limit = z.coerce.number().int().min(1).max(500).optional()
const cursor = z.string().max(1000).optional()
const time = z.string().max(40).optional()

export interface PageQuery {
  limit?: number
  cursor?: string
}

export const pageQuery: z.ZodType<PageQuery> = z.strictObject({ limit, cursor }) as z.ZodType<PageQuery>

export const conversationsQuery: z.ZodType<PageQuery & { label?: string }> = z.strictObject({
  limit,
  cursor,
  label: z.string().min(1).max(100).optional(),
}) as z.ZodType<PageQuery & { label?: string }>

export interface EntriesQuery {
  limit?: number
  leaf?: string
  before?: string
  after?: string
  around?: string
}

export const entriesQuery: z.ZodType<EntriesQuery> = z
  .strictObject({
    limit,
    leaf: id.optional(),
    before: id.optional(),
    after: id.optional(),
    around: id.optional(),
  })
  .refine((query) => [query.before, query.after, query.around].filter((given) => given !== undefined).length < 2, {
    error: 'give only one of before, after and around',
  }) as z.ZodType<EntriesQuery>

export interface TreeQuery {
  limit?: number
  before?: string
}

export const treeQuery: z.ZodType<TreeQuery> = z
  .strictObject({ limit: z.coerce.number().int().min(1).max(10_000).optional(), before: id.optional() })
  .refine((query) => query.before === undefined || query.limit !== undefined, {
    error: 'before needs a limit',
  }) as z.ZodType<TreeQuery>

export interface SearchRequest extends PageQuery {
  text: string
  conversation?: string
  provider?: string
  tool?: string
  kind?: 'title' | 'user' | 'reply' | 'input' | 'output'
  label?: string
  after?: string
  before?: string
}

export const searchQuery: z.ZodType<SearchRequest> = z.strictObject({
  text: z.string().min(1).max(1000),
  limit,
  cursor,
  conversation: id.optional(),
  provider: name.optional(),
  tool: name.optional(),
  kind: z.enum(['title', 'user', 'reply', 'input', 'output']).optional(),
  label: z.string().min(1).max(100).optional(),
  after: time,
  before: time,
}) as z.ZodType<SearchRequest>

export interface UsageRequest {
  from?: string
  to?: string
  conversation?: string
}

export const usageQuery: z.ZodType<UsageRequest> = z.strictObject({
  from: time,
  to: time,
  conversation: id.optional(),
}) as z.ZodType<UsageRequest>

export const exportQuery: z.ZodType<{ format?: string }> = z.strictObject({
  format: name.optional(),
}) as z.ZodType<{ format?: string }>

export const modelsQuery: z.ZodType<{ provider?: string }> = z.strictObject({
  provider: name.optional(),
}) as z.ZodType<{ provider?: string }>

export const capabilitiesQuery: z.ZodType<{ model: string }> = z.strictObject({ model: name })

export const eventsQuery: z.ZodType<{ after?: number }> = z.strictObject({
  after: z.coerce.number().int().min(0).optional(),
}) as z.ZodType<{ after?: number }>
