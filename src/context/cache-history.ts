// What is known about earlier requests, read from the log: when the same prefix was last sent to the same model,
// whether its cache can be warm, and how its token count compares with ours.

import type { Entry, Exchange, Overlay } from '../core/log.ts'
import { readForecast } from './forecast.ts'
import { alongPath, placesOf } from './along-path.ts'
import type { CachePrice, Gaps } from './price-ratio.ts'
import { overlaysOn } from './overlay-codec.ts'

export interface CacheHistory {
  /** How many requests this provider and model answered on this path. */
  requests: number
  /** The last of them, if it is among the given exchanges. */
  last?: Exchange
  /** Why the cache has nothing useful, if so. */
  cold?: 'first request' | 'the cache has expired' | 'something before has changed' | 'the last read found nothing'
  /** The provider's count of tokens, divided by ours. */
  ratio: number
  gaps: Gaps
}

export interface CacheHistoryQuery {
  entries: readonly Entry[]
  /** Newest first; some are enough. */
  exchanges: readonly Exchange[]
  overlays: readonly Overlay[]
  provider: string
  model: string
  /** A digest of system and tools as they will be sent. */
  head: string
  /** The properties of the cache, by the time to live requested for marks. */
  cacheFor: (ttl: '5m' | '1h' | undefined) => Pick<CachePrice, 'lifetimeMs' | 'minimum'>
}

/** Marks an exchange that was not part of the conversation, such as a request for a summary. */
export const asideRule = 'compaction-request'

export function readCacheHistory({
  entries,
  exchanges,
  overlays,
  provider,
  model,
  head,
  cacheFor,
}: CacheHistoryQuery): CacheHistory {
  const places = placesOf(entries)
  const { gaps, answers } = requestsOn(entries)
  const answered = answers.get(nameOf(provider, model))
  const last = exchanges.find(
    (one) =>
      one.provider === provider && one.model === model && one.usage && places.has(one.basedOn) && isOfConversation(one),
  )
  const past = { requests: answered?.count ?? 0, gaps: { ...gaps }, ...(last && { last }) }
  const startedAt = last?.startedAt ?? answered?.at
  if (!answered || startedAt === undefined) return { ...past, cold: 'first request', ratio: 1 }

  const forecast = last && readForecast(last)
  const cache = cacheFor(forecast?.ttl)
  const ratio = last?.usage && forecast ? ratioOf(last.usage.input, forecast.estimate) : 1
  const cold = coldness()
  return { ...past, ratio, ...(cold && { cold }) }

  function coldness(): CacheHistory['cold'] {
    const now = Date.parse(entries.at(-1)?.at ?? '')
    if (now - Date.parse(startedAt ?? '') >= cache.lifetimeMs) return 'the cache has expired'
    const changed = overlaysOn(entries, overlays).some((one) => views.has(one.kind) && one.at > (startedAt ?? ''))
    if (changed || (forecast && forecast.head !== head)) return 'something before has changed'
    if (!last?.usage || !forecast || forecast.cached < Math.max(1, cache.minimum)) return undefined
    const { cacheRead, cacheWrite } = last.usage
    return cacheRead + cacheWrite < forecast.cached / 10 ? 'the last read found nothing' : undefined
  }
}

/** Overlays that change what is sent before the newest messages. */
const views: ReadonlySet<string> = new Set(['fold', 'cut', 'compaction', 'plain'])

function isOfConversation({ notes }: Exchange): boolean {
  return !notes.some((note) => note.rule === asideRule)
}

/** A count that is far off says more about how the provider reports usage than about our estimate. */
function ratioOf(reported: number, estimated: number): number {
  if (reported <= 0 || estimated <= 0) return 1
  return Math.min(4, Math.max(0.5, reported / estimated))
}

interface Requests {
  gaps: Gaps
  /** When the last reply arrived that no user message has followed. */
  before: string | undefined
  /** By provider and model: how many answers, and when the last arrived. */
  answers: Map<string, { count: number; at: string }>
}

export const requestsOn = alongPath<Entry, Requests>(
  () => ({ gaps: { requests: 0, within: 0, beyond: 0 }, before: undefined, answers: new Map() }),
  (state, { message, at }) => {
    const { gaps, answers, before } = state
    if (message.role === 'assistant') {
      gaps.requests++
      state.before = at
      const name = nameOf(message.origin.provider, message.origin.model)
      answers.set(name, { count: (answers.get(name)?.count ?? 0) + 1, at })
    } else if (message.role === 'user' && before !== undefined) {
      const gap = Date.parse(at) - Date.parse(before)
      if (gap > 60 * minute) gaps.beyond++
      else if (gap > 5 * minute) gaps.within++
      state.before = undefined
    }
  },
)

function nameOf(provider: string, model: string): string {
  return `${provider}\n${model}`
}

const minute = 60_000
