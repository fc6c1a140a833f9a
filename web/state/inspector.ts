// What the inspector shows: up to two requests, each the next one to some model, or one that was sent. They are
// prepared, or fetched, when the inspector is open, and again when the conversation or the draft has changed.

import { batch, computed, effect, signal } from '@preact/signals'
import { failureOf } from '../api/client.ts'
import { api } from '../api/routes.ts'
import type { EntryOutline, Exchange, JsonObject, Message, NextRequest, PreparedView, Price } from '../api/types.ts'
import { readForecast } from '../../src/context/forecast.ts'
import { placesIn, readOrigins } from '../../src/context/origins.ts'
import { cacheRulesFor } from '../../src/emulator/cache-rules.ts'
import { inspect, type Inspected } from '../inspector/request.ts'
import { attachments } from './attachments.ts'
import { current, entries, exchanges, keep, leaf, model, overlays, settings, tree, treeLoaded } from './conversation.ts'
import { live } from './run.ts'
import { priceOf } from './session.ts'
import { draft, inspectorOpen, opensByItself } from './surface.ts'
import { pathTo } from './tree.ts'

/** `next`, `next provider/model`, the id of an exchange, or `client ` and that id: what a client sent for it. */
export type Subject = string

export const subjects = signal<[Subject, Subject | undefined]>(['next', undefined])
export const tab = signal<'request' | 'usage'>('request')

export interface Shown {
  subject: Subject
  model: string
  protocol: string
  url?: string
  headers?: Record<string, string>
  /** The exact body, byte for byte if it was sent. */
  text: string
  inspected: Inspected
  /** By position in the history. */
  entryIds: (string | undefined)[]
  messages: (Message | undefined)[]
  contextWindow?: number
  exchange?: Exchange
  /** Expected and reported cached tokens. */
  predicted?: number
  reported?: number
  issues: string[]
  /** It is a client's request, not one to a provider. */
  isClient?: boolean
  /** Asks the server of the model for the prompt of the request; absent if it does not support that. */
  prompt?: () => Promise<string>
}

export const shown = signal<(Shown | { subject: Subject; trouble: string })[]>([])
export const looking = signal(false)

/** Of the next request, even while another one is shown. */
const estimated = signal<{ tokens: number; cost: number | undefined } | undefined>(undefined)
export const nextEstimate = computed(() => (live.value ? undefined : estimated.value))

export function inspectExchange(exchange: Exchange): void {
  inspectorOpen.value = true
  tab.value = 'request'
  subjects.value = [exchange.id, subjects.value[1]]
}

const pauseMs = 350
/** Messages, while the inspector is closed. */
const mostEstimated = 400
/** A long request is not prepared again at every keystroke. */
const longBody = 500_000

effect(() => {
  const id = current.value?.id
  const wanted = subjects.value
  const words = draft.value.trim()
  // Changes that require another update.
  const files = attachments.value
  const because = [leaf.value, model.value, settings.value, exchanges.value.length, overlays.value, files]
  const isBlank = id === undefined && words === '' && files.length === 0
  if (isBlank || live.value || because.length === 0) {
    if (isBlank) clear()
    return undefined
  }
  // When closed, only the estimate next to the message is needed, and a long body is not fetched for it.
  const isOpen = inspectorOpen.value
  const depth = leaf.value === null ? 0 : (tree.peek().byId.get(leaf.value)?.depth ?? 0)
  if (!isOpen && depth >= mostEstimated) {
    clear()
    return undefined
  }
  const isLong =
    files.some((file) => file.size > longBody) ||
    shown.peek().some((one) => 'text' in one && one.text.length > longBody)
  const stop = new AbortController()
  const timer = setTimeout(
    () => void look(id, isOpen ? wanted : ['next', undefined], words, stop.signal),
    isLong ? pauseMs * 5 : pauseMs,
  )
  return () => {
    clearTimeout(timer)
    stop.abort()
  }
})

effect(() => {
  if (opensByItself.value && exchanges.value.length > 0 && !live.value) inspectorOpen.value = true
})

effect(() => {
  // Another conversation has other requests.
  if (current.value === undefined || !exchanges.value.some((one) => subjects.peek().includes(one.id))) {
    const [a, b] = subjects.peek()
    if (!a.startsWith('next') || (b !== undefined && !b.startsWith('next'))) subjects.value = ['next', undefined]
  }
})

function clear(): void {
  shown.value = []
  estimated.value = undefined
}

async function look(
  id: string | undefined,
  wanted: [Subject, Subject | undefined],
  words: string,
  signal: AbortSignal,
): Promise<void> {
  looking.value = true
  try {
    const shownNow = wanted.filter((one) => one !== undefined)
    const all = [...new Set([...shownNow, 'next'])]
    const next = all.filter((one) => one.startsWith('next'))
    const entryId = leaf.value === current.value?.head ? undefined : leaf.value
    const request = { ...nextInput(words), ...(entryId && { entryId }) }
    const targets = next.map((one) => ({ model: one === 'next' ? model.value : one.slice('next '.length) }))
    const chosen = id === undefined ? { settings: settings.value } : {}
    const prepared = await api.prepare(id, { targets, ...chosen, ...request }, signal)
    const made = await Promise.all(
      all.map(async (subject) => {
        try {
          const at = next.indexOf(subject)
          if (at >= 0) return await showNext(id, subject, prepared[at], request)
          return subject.startsWith(clientOf) ? await showClient(subject) : await showSent(subject)
        } catch (error) {
          return { subject, trouble: failureOf(error).message }
        }
      }),
    )
    if (signal.aborted) return
    const following = made.find((one) => one.subject === 'next')
    const { tokens, price } = following && 'inspected' in following ? following.inspected : {}
    batch(() => {
      shown.value = made.filter((one) => shownNow.includes(one.subject))
      estimated.value = tokens === undefined ? undefined : { tokens, cost: price }
    })
  } catch (error) {
    if (!signal.aborted) shown.value = [{ subject: wanted[0], trouble: failureOf(error).message }]
  } finally {
    if (!signal.aborted) looking.value = false
  }
}

/** A placeholder for the user's next message, if nothing is written yet. */
const placeholder = '…'

/** The message to send now: the text, and the attached files. */
function nextInput(words: string): Pick<NextRequest, 'parts'> {
  const files = attachments.peek().map((file) => file.part)
  const text = words === '' && files.length === 0 && isAtRest() ? placeholder : words
  const parts = [...files, ...(text === '' ? [] : [{ type: 'text' as const, text }])]
  return parts.length > 0 ? { parts } : {}
}

/** The model is done: without a new message there is nothing to send. */
function isAtRest(): boolean {
  const last = leaf.value === null ? undefined : entries.value.get(leaf.value)?.message
  return last?.role === 'assistant' && last.stop.reason !== 'tool-calls'
}

/** The next request to a model and its cost, with the current cache. */
export async function previewNext(
  id: string,
  model: string,
  signal: AbortSignal,
): Promise<{ prepared: PreparedView; tokens: number; cached: number; cost: number | undefined }> {
  const request = nextInput(draft.peek().trim())
  const [prepared] = await api.prepare(id, { targets: [{ model }], ...request }, signal)
  const { inspected } = await showNext(id, 'next', prepared, request)
  if (!prepared) throw new Error('The server returned no request.')
  return { prepared, tokens: inspected.tokens, cached: inspected.cachedTokens, cost: inspected.price }
}

async function showNext(
  id: string | undefined,
  subject: Subject,
  item: PreparedView | undefined,
  request: NextRequest,
): Promise<Shown> {
  if (!item?.body) throw new Error(item?.error?.message ?? 'The server returned no request.')
  const { entryIds, messages } = await historyTo(id, leaf.value)
  if (request.parts !== undefined) {
    entryIds.push(undefined)
    messages.push({ role: 'user', parts: request.parts })
  }
  const before = exchanges.value.find((one) => one.provider === item.provider && one.protocol === item.protocol)
  const old = before && (await bodyOf(before))
  const isSameModel = before !== undefined && item.model === `${before.provider}/${before.model}`
  const warm = isSameModel ? warmSince(before, Date.now()) : undefined
  const price = item.price as Price | undefined
  const inspected = inspect({
    body: item.body,
    notes: item.notes ?? [],
    history: messages,
    ...(item.origins && { origins: { field: item.origins.field, places: placesIn(item.origins) } }),
    isSameModel: warm !== undefined,
    ...(warm && { leastCached: warm.minimum }),
    ...(item.estimate && { total: item.estimate.input }),
    ...(price && { price }),
    ...(old && { before: old.body }),
  })
  return {
    subject,
    model: item.model,
    protocol: item.protocol ?? '',
    text: JSON.stringify(item.body),
    inspected,
    entryIds,
    messages,
    issues: (item.issues ?? []).map((issue) => String((issue as { message?: string }).message)),
    ...(item.url !== undefined && { url: item.url }),
    ...(item.headers && { headers: item.headers }),
    ...(item.contextWindow !== undefined && { contextWindow: item.contextWindow }),
    ...(warm && { predicted: inspected.cachedTokens }),
    ...(item.showsPrompt &&
      id !== undefined && { prompt: () => api.prompt(id, { ...request, settings: { model: item.model } }) }),
  }
}

async function showSent(subject: Subject): Promise<Shown> {
  const at = exchanges.value.findIndex((one) => one.id === subject)
  const exchange = exchanges.value[at]
  if (!exchange) throw new Error('This request is not loaded.')
  const sent = await bodyOf(exchange)
  if (!sent) throw new Error('The body of this request is no longer stored.')
  const { entryIds, messages } = await historyTo(exchange.conversationId, exchange.basedOn)
  const before = exchanges.value
    .slice(at + 1)
    .find((one) => one.provider === exchange.provider && one.protocol === exchange.protocol)
  const old = before && (await bodyOf(before))
  const warm = before?.model === exchange.model ? warmSince(before, Date.parse(exchange.startedAt)) : undefined
  const origins = readOrigins(exchange)
  const price = priceOf(`${exchange.provider}/${exchange.model}`)
  const inspected = inspect({
    body: sent.body,
    notes: exchange.notes,
    history: messages,
    ...(origins && { origins }),
    isSameModel: warm !== undefined,
    ...(warm && { leastCached: warm.minimum }),
    ...(exchange.usage && { total: exchange.usage.input }),
    ...(price && { price }),
    ...(old && { before: old.body }),
  })
  return {
    subject,
    model: `${exchange.provider}/${exchange.model}`,
    protocol: exchange.protocol,
    text: sent.text,
    inspected,
    entryIds,
    messages,
    exchange,
    issues: [],
    predicted: readForecast(exchange)?.cached ?? inspected.cachedTokens,
    ...(exchange.usage && { reported: exchange.usage.cacheRead }),
  }
}

export const clientOf = 'client '

/** The request of a client of another API, unchanged. */
async function showClient(subject: Subject): Promise<Shown> {
  const exchange = exchanges.value.find((one) => one.id === subject.slice(clientOf.length))
  if (!exchange?.clientRequest) throw new Error('This request did not come from a client.')
  const { client, protocol, path } = exchange.clientRequest
  const text = await api.clientBody(exchange.id)
  const body = JSON.parse(text) as JsonObject
  const inspected = inspect({ body, notes: [], history: [], isSameModel: false })
  return {
    subject,
    model: client ?? 'A client',
    protocol: `${protocol}, ${path}`,
    text,
    inspected,
    entryIds: [],
    messages: [],
    issues: [],
    isClient: true,
  }
}

/** How the provider caches, if its cache of a request may still be valid at that time. */
function warmSince(before: Exchange, at: number): { minimum: number } | undefined {
  const rules = cacheRulesFor(before.provider, before.model)
  return rules.kind !== 'none' && at - Date.parse(before.startedAt) < rules.lifetimeMs ? rules : undefined
}

const bodies = new Map<string, { text: string; body: JsonObject }>()
const cachedBodies = 20

async function bodyOf(exchange: Exchange): Promise<{ text: string; body: JsonObject } | undefined> {
  const cached = bodies.get(exchange.id)
  if (cached) return cached
  const text = await api.body(exchange.id)
  const made = { text, body: JSON.parse(text) as JsonObject }
  bodies.set(exchange.id, made)
  for (const key of bodies.keys()) if (bodies.size > cachedBodies) bodies.delete(key)
  return made
}

/** How many messages of a path are loaded; of older ones only the role is shown. */
const mostLoaded = 2000

/** The complete path to an entry: missing parts are loaded. */
async function historyTo(
  id: string | undefined,
  last: string | null,
): Promise<{ entryIds: (string | undefined)[]; messages: (Message | undefined)[] }> {
  await treeLoaded()
  const path = pathTo(tree.value, last)
  const first = Math.max(0, path.length - mostLoaded)
  for (let at = path.length - 1; at >= first && inspectorOpen.value; at--) {
    const outline = path[at]
    if (id === undefined || !outline || entries.value.has(outline.id)) continue
    const page = await api.entries(id, { leaf: outline.id, limit: 500 })
    if (current.value?.id !== id || page.items.length === 0) break
    keep(page.items)
  }
  return {
    entryIds: path.map((outline) => outline.id),
    messages: path.map(
      (outline, at) => entries.value.get(outline.id)?.message ?? (at < first ? unread(outline) : undefined),
    ),
  }
}

/** In place of a message that is not loaded: of those that are not sent only the role matters. */
function unread({ role }: EntryOutline): Message {
  return { role, parts: [] } as unknown as Message
}
