// Requests as the inspector shows them: the next one to some model, one that was sent, or one that a client sent. The
// totals of each, and their pieces side by side, line by line. A long request has as many lines as messages: they are
// sent in pages, and so is the exact body.

import { readForecast } from '../../context/forecast.ts'
import { placesIn, readOrigins } from '../../context/origins.ts'
import type { Note } from '../../core/context.ts'
import { isObject, type JsonObject } from '../../core/json.ts'
import type { Entry, Exchange, Overlay } from '../../core/log.ts'
import { cacheRulesFor } from '../../emulator/cache-rules.ts'
import type { Price } from '../../providers/price.ts'
import type { Store } from '../../store/store.ts'
import { answerFor } from '../answer.ts'
import { clientRequestOf } from '../doors/client-request.ts'
import {
  endpointOf,
  historyAt,
  prepareRequest,
  type KnownProviders,
  type NextPlace,
  type PrepareTarget,
} from '../prepared-request.ts'
import { missing } from '../route.ts'
import type { BodyPart, LinesPart } from '../schema.ts'
import { bandsOf, type Band } from './bands.ts'
import { linesIn, noteView, type History } from './line-view.ts'
import { inspect, type Inspected } from './request.ts'
import type { Inspection, RequestView } from './view.ts'

export interface InspectTask {
  do: 'inspect'
  place: NextPlace
  requests: readonly (PrepareTarget | SentRequest)[]
  known: KnownProviders
  lines: LinesPart
  body?: BodyPart
}

/** An exchange, or what a client sent for it. */
interface SentRequest {
  exchangeId: string
  client?: boolean
}

export async function inspectRequests(store: Store, task: InspectTask): Promise<Inspection> {
  const { place, requests, lines, body } = task
  const key = JSON.stringify([place, requests])
  // The next page is one of the same requests.
  const isNext = lines.before !== undefined || body !== undefined
  const all = (isNext && recent.get(key)) || (await inspectAll(store, task))
  remember(key, all)
  const inspectable = all.requests.filter((request) => 'inspected' in request)
  const part = linesIn(lines.onlyChanges ? all.bands.filter(hasChanged) : all.bands, lines, inspectable)
  return {
    items: all.requests.map((request) => request.view),
    ...part,
    ...(body && { body: bodyPart(all.requests[body.of], body) }),
  }
}

interface Made {
  requests: (Whole | { view: RequestView })[]
  bands: Band[]
}

/** A request, with everything that is not sent at once. */
interface Whole {
  view: RequestView
  inspected: Inspected
  history: History
  text: () => string
}

/** What was made last, for its next pages: what is shown, and the estimate of the next request. */
const recent = new Map<string, Made>()
const mostRecent = 2
const recentMs = 60_000
let forgetting: NodeJS.Timeout | undefined

function remember(key: string, all: Made): void {
  recent.delete(key)
  recent.set(key, all)
  for (const old of recent.keys()) if (recent.size > mostRecent) recent.delete(old)
  clearTimeout(forgetting)
  forgetting = setTimeout(() => recent.clear(), recentMs).unref()
}

async function inspectAll(store: Store, task: InspectTask): Promise<Made> {
  const { owner, conversationId } = task.place
  const overlays = task.place.head === null ? [] : await store.overlays(owner, conversationId)
  const requests: Made['requests'] = []
  for (const request of task.requests) {
    try {
      if (!('exchangeId' in request)) requests.push(await nextRequest(store, task, request, overlays))
      else if (request.client) requests.push(await clientRequest(store, owner, request.exchangeId))
      else requests.push(await sentRequest(store, task, request.exchangeId, overlays))
    } catch (error) {
      requests.push({ view: { model: 'model' in request ? request.model : '', ...answerFor(error).body } })
    }
  }
  return {
    requests,
    bands: bandsOf(requests.flatMap((request) => ('inspected' in request ? [request.inspected] : []))),
  }
}

async function nextRequest(
  store: Store,
  { place, known }: InspectTask,
  target: PrepareTarget,
  overlays: readonly Overlay[],
): Promise<Whole | { view: RequestView }> {
  const entries = await historyAt(store, place)
  const view = await prepareRequest(known, place.conversationId, { history: entries, overlays }, target)
  const { body, notes = [], origins, messages = [], issues = [], price, estimate, ...rest } = view
  if (!body) return { view: rest }
  const before = await exchangeBefore(store, place, view)
  const old = before && (await bodyOf(store, place.owner, before.bodySha256))
  const isSameModel = before !== undefined && view.model === `${before.provider}/${before.model}`
  const warm = isSameModel ? warmSince(before, Date.now()) : undefined
  const inspectedBody = inspect({
    body,
    notes,
    history: entries.map((entry) => entry.message),
    ...(origins && { origins: { field: origins.field, places: placesIn(origins) } }),
    isSameModel: warm !== undefined,
    ...(warm && { leastCached: warm.minimum }),
    ...(estimate && { total: estimate.input }),
    ...(price && { price: price as unknown as Price }),
    ...(old && { before: old.body }),
  })
  const counts = { messages: messages.length, sent: messages.filter(({ sent }) => sent).length }
  return whole({
    view: {
      ...rest,
      counts,
      noteGroups: groupNotes(notes),
      ...(warm && { predicted: inspectedBody.cachedTokens }),
      issues: issues.map((issue) => String((issue as { message?: string }).message)),
    },
    inspected: inspectedBody,
    history: historyOf(entries, overlays),
    text: JSON.stringify(body),
  })
}

async function sentRequest(
  store: Store,
  { place, known }: InspectTask,
  exchangeId: string,
  overlays: readonly Overlay[],
): Promise<Whole> {
  const { owner, conversationId } = place
  const exchange = await store.exchange(owner, exchangeId)
  if (exchange?.conversationId !== conversationId) throw missing('exchange', exchangeId)
  const sent = await bodyOf(store, owner, exchange.bodySha256)
  if (!sent) throw missing('body of the exchange', exchangeId)
  const entries = await store.history(owner, exchange.basedOn)
  const before = await exchangeBefore(store, place, exchange, exchange.id)
  const old = before && (await bodyOf(store, owner, before.bodySha256))
  const warm = before?.model === exchange.model ? warmSince(before, Date.parse(exchange.startedAt)) : undefined
  const origins = readOrigins(exchange)
  const model = `${exchange.provider}/${exchange.model}`
  const price = await endpointOf(known, model, exchange.protocol).then(
    (endpoint) => endpoint.price,
    // A provider that is no longer configured has no price.
    () => undefined,
  )
  const inspectedBody = inspect({
    body: sent.body,
    notes: exchange.notes,
    history: entries.map((entry) => entry.message),
    ...(origins && { origins }),
    isSameModel: warm !== undefined,
    ...(warm && { leastCached: warm.minimum }),
    ...(exchange.usage && { total: exchange.usage.input }),
    ...(price && { price }),
    ...(old && { before: old.body }),
  })
  return whole({
    view: {
      model,
      provider: exchange.provider,
      protocol: exchange.protocol,
      predicted: readForecast(exchange)?.cached ?? inspectedBody.cachedTokens,
    },
    inspected: inspectedBody,
    history: historyOf(entries, overlays),
    text: sent.text,
  })
}

/** The request of a client of another API, unchanged. */
async function clientRequest(store: Store, owner: string, exchangeId: string): Promise<Whole> {
  const request = await clientRequestOf(store, owner, exchangeId)
  const sent = request && (await bodyOf(store, owner, request.bodySha256))
  if (!sent) throw missing('request of a client for the exchange', exchangeId)
  return whole({
    view: { model: request.client ?? 'A client', protocol: `${request.protocol}, ${request.path}` },
    inspected: inspect({ body: sent.body, notes: [], history: [], isSameModel: false }),
    history: historyOf([], []),
    text: sent.text,
  })
}

/** With the totals. */
function whole(made: Omit<Whole, 'text'> & { text: string }): Whole {
  const { view, inspected: of, history, text } = made
  return {
    ...made,
    view: {
      ...view,
      tokens: of.tokens,
      cachedTokens: of.cachedTokens,
      ...(of.price !== undefined && { cost: of.price }),
      ...(of.changes && { changes: of.changes }),
      notes: of.notes.map((note) => noteView(note, history)),
      bytes: Buffer.byteLength(text),
    },
    text: () => text,
  }
}

function historyOf(entries: readonly Entry[], overlays: readonly Overlay[]): History {
  return { entries, overlays, places: new Map(entries.map((entry, place) => [entry.id, place])) }
}

/** The newest request on the same wire of the provider, before another one. */
async function exchangeBefore(
  store: Store,
  { owner, conversationId, head }: NextPlace,
  { provider, protocol }: { provider?: string; protocol?: string },
  exchangeId?: string,
): Promise<Exchange | undefined> {
  let isBefore = exchangeId === undefined
  let cursor: string | undefined
  if (head === null) return undefined
  do {
    const page = await store.exchanges(owner, conversationId, { limit: 100, ...(cursor !== undefined && { cursor }) })
    for (const exchange of page.items) {
      if (isBefore && exchange.provider === provider && exchange.protocol === protocol) return exchange
      isBefore ||= exchange.id === exchangeId
    }
    cursor = page.next
  } while (cursor !== undefined)
  return undefined
}

async function bodyOf(
  store: Store,
  owner: string,
  sha256: string,
): Promise<{ text: string; body: JsonObject } | undefined> {
  const bytes = await store.blob(owner, sha256)
  if (!bytes) return undefined
  const text = new TextDecoder().decode(bytes)
  const body: unknown = JSON.parse(text)
  return isObject(body) ? { text, body } : undefined
}

/** How the provider caches, if its cache of a request may still be valid at that time. */
function warmSince(before: Exchange, at: number): { minimum: number } | undefined {
  const rules = cacheRulesFor(before.provider, before.model)
  return rules.kind !== 'none' && at - Date.parse(before.startedAt) < rules.lifetimeMs ? rules : undefined
}

function hasChanged(band: Band): boolean {
  return band.sides.some((side) => side.pieces.some((piece) => piece.change !== 'same'))
}

/** A history of thousands of messages can have as many different notes. */
const mostGroups = 100

function groupNotes(notes: readonly Note[]): NonNullable<RequestView['noteGroups']> {
  const groups = new Map<string, { kind: string; what: string; why: string; times: number }>()
  for (const { kind, what, why } of notes) {
    if (kind === 'added') continue
    const key = `${kind} ${what} ${why}`
    const group = groups.get(key)
    if (group) group.times++
    else if (groups.size < mostGroups) groups.set(key, { kind, what, why, times: 1 })
  }
  return [...groups.values()]
}

function bodyPart(
  request: Made['requests'][number] | undefined,
  { from, limit }: BodyPart,
): NonNullable<Inspection['body']> {
  const text = request && 'text' in request ? request.text() : ''
  return { text: text.slice(from, from + limit), length: text.length }
}
