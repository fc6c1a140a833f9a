// What was expected of a request, and what the provider reported. Both are stored with the exchange: their ratio is the
// error of our estimate for this model, and a cache miss where a hit was expected means a cold cache, whatever the
// clock says.

import type { Note } from '../core/context.ts'
import type { Exchange } from '../core/log.ts'
import type { Usage } from '../core/usage.ts'

export interface Forecast {
  /** Tokens of the prompt, by our own estimate. */
  estimate: number
  /** Tokens that the provider should find in its cache, as counted by the provider. */
  cached: number
  /** A digest of system and tools. */
  head: string
  /** The time to live requested for cache marks. */
  ttl: '5m' | '1h'
  /** Tokens of the prompt if nothing were left out of the history, by our own estimate; 0 in old records. */
  whole: number
  /** Of those, the tokens that were in the previous request and would be in the provider's cache. */
  wholeCached: number
}

const rule = 'forecast'

/** A note of the exchange: readable text, and the numbers in `data`. */
export function forecastNote(
  { estimate, cached, head, ttl, ...rest }: Forecast,
  usage: Usage | undefined,
  saved?: number,
): Note {
  const reported = usage ? `${usage.input} tokens, ${usage.cacheRead} of them from the cache` : 'nothing'
  const whole = `the whole history has ${rest.whole}, ${rest.wholeCached} of them from the cache`
  const money = saved === undefined ? '' : `, and $${saved.toFixed(8)} were saved`
  const what = `expected an estimate of ${estimate} tokens, ${cached} from the cache; reported ${reported}; ${whole}${money}`
  const data = { estimate, cached, head, ttl, ...rest, ...(saved !== undefined && { saved }) }
  return { kind: 'added', what, why: `system and tools ${head}, marks for ${ttl}`, rule, data }
}

export function readForecast({ notes }: Pick<Exchange, 'notes'>): Forecast | undefined {
  const note = notes.findLast((one) => one.rule === rule)
  const { estimate, cached, head, ttl, whole, wholeCached } = note?.data ?? {}
  if (note?.data === undefined) return note && readWords(note)
  if (typeof head !== 'string') return undefined
  return {
    estimate: Number(estimate),
    cached: Number(cached),
    head,
    ttl: ttl === '1h' ? '1h' : '5m',
    whole: Number(whole ?? 0),
    wholeCached: Number(wholeCached ?? 0),
  }
}

/** Exchanges up to 0.1.0 have the numbers only in the text. */
function readWords(note: Note): Forecast | undefined {
  const numbers = /an estimate of (\d+) tokens, (\d+) from the cache/.exec(note.what)
  const about = /^system and tools (\w+), marks for (5m|1h)$/.exec(note.why)
  const all = /whole history has (\d+), (\d+) of them/.exec(note.what)
  const [, head, ttl] = about ?? []
  if (!numbers || head === undefined) return undefined
  return {
    estimate: Number(numbers[1]),
    cached: Number(numbers[2]),
    head,
    ttl: ttl === '1h' ? '1h' : '5m',
    whole: Number(all?.[1] ?? 0),
    wholeCached: Number(all?.[2] ?? 0),
  }
}

/** In US dollars, the savings compared with the whole history; negative if a fold was paid for. */
export function readSaved({ notes }: Pick<Exchange, 'notes'>): number {
  const note = notes.findLast((one) => one.rule === rule)
  if (note?.data) return Number(note.data.saved ?? 0)
  return Number(/\$(-?[\d.]+) were saved$/.exec(note?.what ?? '')?.[1] ?? 0)
}
