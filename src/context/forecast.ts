// What was expected of a request, beside what the provider reported of it. Both are kept with the exchange: the one to
// the other is how far our estimate is off for this model, and a cache that gave nothing where a hit was expected is a
// cold one, whatever the clock says.

import type { Note } from '../core/context.ts'
import type { Exchange } from '../core/log.ts'
import type { Usage } from '../core/usage.ts'

export interface Forecast {
  /** Tokens of the prompt, by our own estimate. */
  estimate: number
  /** Tokens that the provider should find in its cache, in its own count. */
  cached: number
  /** A digest of system and tools. */
  head: string
  /** How long marks were asked to live. */
  ttl: '5m' | '1h'
  /** Tokens of the prompt if nothing of the history were left out, by our own estimate; 0 in old records. */
  whole: number
  /** Of those, the ones that were there at the request before and would be in the provider's cache. */
  wholeCached: number
}

const rule = 'forecast'

/** Kept as a note, because that is where an exchange says what it was about. */
export function forecastNote(
  { estimate, cached, head, ttl, ...rest }: Forecast,
  usage: Usage | undefined,
  saved?: number,
): Note {
  const reported = usage ? `${usage.input} tokens, ${usage.cacheRead} of them from the cache` : 'nothing'
  const whole = `the whole history has ${rest.whole}, ${rest.wholeCached} of them from the cache`
  const money = saved === undefined ? '' : `, and $${saved.toFixed(8)} were saved`
  const what = `expected an estimate of ${estimate} tokens, ${cached} from the cache; reported ${reported}; ${whole}${money}`
  return { kind: 'added', what, why: `system and tools ${head}, marks for ${ttl}`, rule }
}

export function readForecast({ notes }: Pick<Exchange, 'notes'>): Forecast | undefined {
  const note = notes.findLast((one) => one.rule === rule)
  const numbers = note && /an estimate of (\d+) tokens, (\d+) from the cache/.exec(note.what)
  const about = note && /^system and tools (\w+), marks for (5m|1h)$/.exec(note.why)
  const all = note && /whole history has (\d+), (\d+) of them/.exec(note.what)
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

/** In US dollars, what the request cost less than it would have with the whole history; negative where a fold was paid. */
export function readSaved({ notes }: Pick<Exchange, 'notes'>): number {
  const note = notes.findLast((one) => one.rule === rule)
  return Number(/\$(-?[\d.]+) were saved$/.exec(note?.what ?? '')?.[1] ?? 0)
}
