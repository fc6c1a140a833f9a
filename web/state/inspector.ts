// What the inspector looks at: up to two requests, each the next one to some model, or one that was sent. They are
// prepared, or fetched, when the inspector is open, and again when the conversation or the draft has changed.

import { computed, effect, signal } from '@preact/signals'
import { failureOf } from '../api/client.ts'
import { api } from '../api/routes.ts'
import type { Exchange, JsonObject, Message, PreparedView, Price } from '../api/types.ts'
import { readForecast } from '../../src/context/forecast.ts'
import { cacheRulesFor } from '../../src/emulator/cache-rules.ts'
import { inspect, type Inspected } from '../inspector/request.ts'
import { current, entries, exchanges, keep, leaf, model, settings, tree } from './conversation.ts'
import { live } from './run.ts'
import { priceOf } from './session.ts'
import { draft, inspectorOpen } from './surface.ts'
import { pathTo } from './tree.ts'

/** `next`, `next provider/model`, or the id of an exchange. */
export type Subject = string

export const subjects = signal<[Subject, Subject | undefined]>(['next', undefined])
export const tab = signal<'request' | 'usage'>('request')

export interface Shown {
  subject: Subject
  model: string
  protocol: string
  url?: string
  headers?: Record<string, string>
  /** The body as it is sent, to the byte where it was sent. */
  text: string
  inspected: Inspected
  /** By place in the history. */
  entryIds: (string | undefined)[]
  messages: (Message | undefined)[]
  contextWindow?: number
  exchange?: Exchange
  /** Cached tokens that were expected when it was sent, and that were reported. */
  predicted?: number
  reported?: number
  issues: string[]
}

export const shown = signal<(Shown | { subject: Subject; trouble: string })[]>([])
export const looking = signal(false)

export const nextEstimate = computed(() => {
  const next = shown.value.find((one) => one.subject === 'next')
  if (!next || 'trouble' in next || live.value) return undefined
  return { tokens: next.inspected.tokens, cost: next.inspected.price }
})

export function inspectExchange(exchange: Exchange): void {
  inspectorOpen.value = true
  tab.value = 'request'
  subjects.value = [exchange.id, subjects.value[1]]
}

const pauseMs = 350
/** A long request is not prepared again at every keystroke. */
const longBody = 500_000

effect(() => {
  const id = current.value?.id
  const wanted = subjects.value
  const words = draft.value.trim()
  // What a change of which asks for another look.
  const because = [leaf.value, model.value, settings.value, exchanges.value.length]
  if (!inspectorOpen.value || id === undefined || live.value || because.length === 0) {
    if (id === undefined) shown.value = []
    return undefined
  }
  const isLong = shown.peek().some((one) => 'text' in one && one.text.length > longBody)
  const stop = new AbortController()
  const timer = setTimeout(() => void look(id, wanted, words, stop.signal), isLong ? pauseMs * 5 : pauseMs)
  return () => {
    clearTimeout(timer)
    stop.abort()
  }
})

effect(() => {
  // Another conversation has other requests.
  if (current.value === undefined || !exchanges.value.some((one) => subjects.peek().includes(one.id))) {
    const [a, b] = subjects.peek()
    if (!a.startsWith('next') || (b !== undefined && !b.startsWith('next'))) subjects.value = ['next', undefined]
  }
})

async function look(
  id: string,
  wanted: [Subject, Subject | undefined],
  words: string,
  signal: AbortSignal,
): Promise<void> {
  looking.value = true
  try {
    const all = wanted.filter((one) => one !== undefined)
    const next = all.filter((one) => one.startsWith('next'))
    const text = words === '' && isAtRest() ? placeholder : words
    const entryId = leaf.value === current.value?.head ? undefined : leaf.value
    const prepared =
      next.length === 0
        ? []
        : await api.prepare(
            id,
            {
              targets: next.map((one) => ({ model: one === 'next' ? model.value : one.slice('next '.length) })),
              ...(text !== '' && { text }),
              ...(entryId && { entryId }),
            },
            signal,
          )
    const made = await Promise.all(
      all.map(async (subject) => {
        try {
          const at = next.indexOf(subject)
          return at >= 0 ? await showNext(id, subject, prepared[at], text) : await showSent(id, subject)
        } catch (error) {
          return { subject, trouble: failureOf(error).message }
        }
      }),
    )
    if (!signal.aborted) shown.value = made
  } catch (error) {
    if (!signal.aborted) shown.value = [{ subject: wanted[0], trouble: failureOf(error).message }]
  } finally {
    if (!signal.aborted) looking.value = false
  }
}

/** Stands for what the user will say, where nothing is written yet. */
const placeholder = '…'

/** The model has said all it wanted: without something new there is nothing to ask it. */
function isAtRest(): boolean {
  const last = leaf.value === null ? undefined : entries.value.get(leaf.value)?.message
  return last?.role === 'assistant' && last.stop.reason !== 'tool-calls'
}

/** The next request to a model and what it would cost there, with what its cache still has. */
export async function previewNext(
  id: string,
  model: string,
  signal: AbortSignal,
): Promise<{ prepared: PreparedView; tokens: number; cached: number; cost: number | undefined }> {
  const words = draft.peek().trim()
  const text = words === '' && isAtRest() ? placeholder : words
  const [prepared] = await api.prepare(id, { targets: [{ model }], ...(text !== '' && { text }) }, signal)
  const { inspected } = await showNext(id, 'next', prepared, text)
  if (!prepared) throw new Error('The server prepared nothing.')
  return { prepared, tokens: inspected.tokens, cached: inspected.cachedTokens, cost: inspected.price }
}

async function showNext(id: string, subject: Subject, item: PreparedView | undefined, words: string): Promise<Shown> {
  if (!item?.body) throw new Error(item?.error?.message ?? 'The server prepared nothing.')
  const { entryIds, messages } = await historyTo(id, leaf.value)
  if (words !== '') {
    entryIds.push(undefined)
    messages.push({ role: 'user', parts: [{ type: 'text', text: words }] })
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
  }
}

async function showSent(id: string, subject: Subject): Promise<Shown> {
  const at = exchanges.value.findIndex((one) => one.id === subject)
  const exchange = exchanges.value[at]
  if (!exchange) throw new Error('This request is not among those that are loaded.')
  const sent = await bodyOf(exchange)
  if (!sent) throw new Error('The body of this request is no longer kept.')
  const { entryIds, messages } = await historyTo(id, exchange.basedOn)
  const before = exchanges.value
    .slice(at + 1)
    .find((one) => one.provider === exchange.provider && one.protocol === exchange.protocol)
  const old = before && (await bodyOf(before))
  const warm = before?.model === exchange.model ? warmSince(before, Date.parse(exchange.startedAt)) : undefined
  const price = priceOf(`${exchange.provider}/${exchange.model}`)
  const inspected = inspect({
    body: sent.body,
    notes: exchange.notes,
    history: messages,
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

/** How the provider caches, if what it kept of a request may still be there at that time. */
function warmSince(before: Exchange, at: number): { minimum: number } | undefined {
  const rules = cacheRulesFor(before.provider, before.model)
  return rules.kind !== 'none' && at - Date.parse(before.startedAt) < rules.lifetimeMs ? rules : undefined
}

const bodies = new Map<string, { text: string; body: JsonObject }>()
const keptBodies = 20

async function bodyOf(exchange: Exchange): Promise<{ text: string; body: JsonObject } | undefined> {
  const kept = bodies.get(exchange.id)
  if (kept) return kept
  const text = await api.body(exchange.id)
  const made = { text, body: JSON.parse(text) as JsonObject }
  bodies.set(exchange.id, made)
  for (const key of bodies.keys()) if (bodies.size > keptBodies) bodies.delete(key)
  return made
}

/** The whole way to an entry: what is not loaded yet is. */
async function historyTo(
  id: string,
  last: string | null,
): Promise<{ entryIds: (string | undefined)[]; messages: (Message | undefined)[] }> {
  const path = pathTo(tree.value, last)
  for (let at = path.length - 1; at >= 0; at--) {
    const outline = path[at]
    if (!outline || entries.value.has(outline.id)) continue
    const page = await api.entries(id, { leaf: outline.id, limit: 500 })
    if (current.value?.id !== id || page.items.length === 0) break
    keep(page.items)
  }
  return {
    entryIds: path.map((outline) => outline.id),
    messages: path.map((outline) => entries.value.get(outline.id)?.message),
  }
}
