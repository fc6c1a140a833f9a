// What the inspector shows: up to two requests, each the next one to some model, or one that was sent. The server makes
// them, when the inspector is open, and again when the conversation or the draft has changed. Of a long request only
// the lines that are shown are loaded.

import { batch, computed, effect, signal } from '@preact/signals'
import { failureOf } from '../api/client.ts'
import { api } from '../api/routes.ts'
import type {
  BodyPart,
  Exchange,
  Inspection,
  InspectRequest,
  LineView,
  LinesPart,
  NextRequest,
  RequestView,
} from '../api/types.ts'
import { attachments } from './attachments.ts'
import { current, entries, exchanges, leaf, model, overlays, settings, tree } from './conversation.ts'
import { live } from './run.ts'
import { attempt } from './session.ts'
import { draft, inspectorOpen, opensByItself } from './surface.ts'

/** `next`, `next provider/model`, the id of an exchange, or `client ` and that id: what a client sent for it. */
export type Subject = string

export const subjects = signal<[Subject, Subject | undefined]>(['next', undefined])
export const tab = signal<'request' | 'usage'>('request')

export interface Shown extends RequestView {
  subject: Subject
  exchange?: Exchange
  /** Cached tokens, as the provider reported. */
  reported?: number
  /** It is a client's request, not one to a provider. */
  isClient: boolean
  /** A part of the exact body. */
  bodyPart: (from: number, limit: number) => Promise<{ text: string; length: number }>
  /** Asks the server of the model for the prompt of the request; absent if it does not support that. */
  prompt?: () => Promise<string>
}

/** The lines of all shown requests: the first ones and the last ones, and how many are hidden between them. */
interface Lines {
  start: LineView[]
  hidden: number
  end: LineView[]
  total: number
}

const noLines: Lines = { start: [], hidden: 0, end: [], total: 0 }

export const shown = signal<(Shown | { subject: Subject; trouble: string })[]>([])
export const lines = signal<Lines>(noLines)
export const onlyChanges = signal(false)
export const looking = signal(false)

/** The estimate for the next request, even while another request is shown. */
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
  const because = [
    leaf.value,
    model.value,
    settings.value,
    exchanges.value.length,
    overlays.value,
    files,
    onlyChanges.value,
  ]
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
    shown.peek().some((one) => 'bytes' in one && (one.bytes ?? 0) > longBody)
  const stop = new AbortController()
  const timer = setTimeout(
    () => void loadInspection(id, isOpen ? wanted : ['next', undefined], words, stop.signal),
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
  lines.value = noLines
  estimated.value = undefined
}

/** Lines at the beginning of a long request, at its end, and in each further page. */
const atStart = 14
const atEnd = 106
const perPage = 200

/** Asks for another page of the lines that are shown. */
let askShown: ((part: LinesPart) => Promise<Inspection>) | undefined

async function loadInspection(
  id: string | undefined,
  wanted: [Subject, Subject | undefined],
  words: string,
  signal: AbortSignal,
): Promise<void> {
  looking.value = true
  try {
    const subjectsNow = wanted.filter((one) => one !== undefined)
    const request = nextPlace(id, words)
    const ask = (of: Subject[], part: LinesPart, more: { body?: BodyPart; signal?: AbortSignal } = {}) => {
      const body = { ...request, requests: of.map(asRequest), lines: part, ...(more.body && { body: more.body }) }
      return api.inspect(id, body, more.signal)
    }
    const changes = onlyChanges.peek()
    const askLines = (part: LinesPart, until?: AbortSignal) =>
      ask(subjectsNow, { ...part, onlyChanges: changes }, until && { signal: until })
    const found = await askLines({ limit: inspectorOpen.value ? atEnd : 0 }, signal)
    const start = await beginning(found, (part) => askLines(part, signal))
    const next = subjectsNow.indexOf('next')
    const following = next < 0 ? (await ask(['next'], { limit: 0 }, { signal })).items[0] : found.items[next]
    if (signal.aborted) return
    batch(() => {
      askShown = askLines
      shown.value = found.items.map((item, i) => {
        const subject = subjectsNow[i] ?? 'next'
        if (item.error) return { subject, trouble: item.error.message }
        const part = async (from: number, limit: number) => {
          const { body } = await ask(subjectsNow, { limit: 0 }, { body: { of: i, from, limit } })
          return body ?? { text: '', length: 0 }
        }
        return shownAs(id, subject, item, request, part)
      })
      lines.value = { start, hidden: found.first - start.length, end: found.lines, total: found.total }
      const { tokens, cost } = following ?? {}
      estimated.value = tokens === undefined ? undefined : { tokens, cost }
    })
  } catch (error) {
    if (signal.aborted) return
    shown.value = [{ subject: wanted[0], trouble: failureOf(error).message }]
    lines.value = noLines
  } finally {
    if (!signal.aborted) looking.value = false
  }
}

/** The first lines, if the last ones are not all. A page of long lines has fewer than were asked for. */
async function beginning(
  { first, lines: end }: Inspection,
  ask: (part: LinesPart) => Promise<Inspection>,
): Promise<LineView[]> {
  const start: LineView[] = []
  if (end.length === 0) return start
  for (let before = Math.min(atStart, first); before > 0;) {
    const page = await ask({ limit: before, before })
    start.unshift(...page.lines)
    before = page.lines.length === 0 ? 0 : page.first
  }
  return start
}

/** The lines before the last ones. */
export async function loadMoreLines(): Promise<void> {
  const known = lines.value
  const ask = askShown
  if (!ask || known.hidden === 0) return
  await attempt(async () => {
    const from = known.start.length + known.hidden
    const page = await ask({ limit: Math.min(perPage, known.hidden), before: from })
    if (lines.value !== known) return
    lines.value = { ...known, hidden: known.hidden - page.lines.length, end: [...page.lines, ...known.end] }
  })
}

/** Where the next request continues, and with which message. */
function nextPlace(id: string | undefined, words: string): NextRequest {
  const entryId = leaf.value === current.value?.head ? undefined : leaf.value
  const chosen = id === undefined ? { settings: settings.value } : {}
  return { ...chosen, ...nextInput(words), ...(entryId && { entryId }) }
}

export const clientOf = 'client '

function asRequest(subject: Subject): InspectRequest['requests'][number] {
  if (subject === 'next') return { model: model.value }
  if (subject.startsWith('next ')) return { model: subject.slice('next '.length) }
  return subject.startsWith(clientOf)
    ? { exchangeId: subject.slice(clientOf.length), client: true }
    : { exchangeId: subject }
}

function shownAs(
  id: string | undefined,
  subject: Subject,
  item: RequestView,
  request: NextRequest,
  bodyPart: Shown['bodyPart'],
): Shown {
  const exchange = exchanges.value.find((one) => one.id === subject)
  const prompts = item.showsPrompt && id !== undefined
  return {
    ...item,
    subject,
    bodyPart,
    isClient: subject.startsWith(clientOf),
    ...(exchange && { exchange }),
    ...(exchange?.usage && { reported: exchange.usage.cacheRead }),
    ...(prompts && { prompt: () => api.prompt(id, { ...request, settings: { model: item.model } }) }),
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
export async function previewNext(id: string, wanted: string, signal: AbortSignal): Promise<RequestView> {
  const request = nextInput(draft.peek().trim())
  const { items } = await api.inspect(id, { ...request, requests: [{ model: wanted }], lines: { limit: 0 } }, signal)
  const [item] = items
  if (!item || item.error) throw new Error(item?.error?.message ?? 'The server returned no request.')
  return item
}
