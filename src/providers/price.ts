// The price and context window of a model, from the catalogue. In US dollars per million tokens.

import type { Usage } from '../core/usage.ts'
import { billedIn, billedTokensIn, longWritesIn } from '../wires/shared/billing.ts'

export interface Price {
  input: number
  output: number
  /** Absent: same as input. */
  cacheRead?: number
  cacheWrite?: number
  /** A write with a lifetime of an hour. */
  cacheWriteLong?: number
  /** The prices once the prompt is longer than this many tokens. */
  beyond?: { tokens: number } & Omit<Price, 'beyond'>
}

/** The prices for a request whose prompt has this many tokens. */
export function ratesFor(price: Price, promptTokens: number): Omit<Price, 'beyond'> {
  return price.beyond && promptTokens > price.beyond.tokens ? price.beyond : price
}

export interface ModelFacts {
  contextWindow?: number
  price?: Price
}

export interface Catalogue {
  generatedAt: string
  sources: string[]
  /** By provider, then by model. */
  models: Record<string, Record<string, ModelFacts>>
}

/** The facts of a model; a dated or otherwise suffixed name counts as the plain one, if that is known. */
export function factsOf(catalogue: Catalogue, provider: string, model: string): ModelFacts {
  const models = catalogue.models[provider] ?? {}
  for (const name of namesOf(model)) {
    const facts = Object.hasOwn(models, name) ? models[name] : undefined
    if (facts) return facts
  }
  return {}
}

function namesOf(model: string): string[] {
  const bare = model.replace(/^models\//, '')
  const undated = bare.replace(/-(\d{8}|\d{4}-\d{2}-\d{2})$/, '')
  const unmarked = undated.replace(/:(?!free$)[a-z]+$/, '')
  return [bare, undated, unmarked, `${undated}-latest`, undated.replace(/-latest$/, '')]
}

// Tokens to dollars. `usage.input` is the whole prompt; cache reads and writes are shares of it with their own prices.

/** Undefined if the price is unknown. `cacheTtl` is the requested time to live, if the provider does not report it. */
export function costOf(usage: Usage, price: Price | undefined, cacheTtl?: '5m' | '1h'): number | undefined {
  if (usage.offline) return 0
  const billed = billedIn(usage.raw)
  if (billed !== undefined) return billed
  if (!price) return undefined
  const { input, output, cacheRead, cacheWrite, cacheWriteLong } = ratesFor(price, usage.input)
  const paid = billedTokensIn(usage.raw)
  if (paid) return (paid.input * input + paid.output * output) / 1_000_000
  const write = cacheWrite ?? input
  const long = Math.min(usage.cacheWrite, longWritesIn(usage.raw) ?? (cacheTtl === '1h' ? usage.cacheWrite : 0))
  const fresh = Math.max(0, usage.input - usage.cacheRead - usage.cacheWrite)
  const millionths =
    fresh * input +
    usage.cacheRead * (cacheRead ?? input) +
    (usage.cacheWrite - long) * write +
    long * (cacheWriteLong ?? write) +
    usage.output * output
  return millionths / 1_000_000
}
