// When to fold, by money. As long as old tool turns stay in the view, every request pays for them: the price of a
// cached read. Folding them means that everything after the break is written to the cache again. So: keep and append
// while the cache is warm, until the rent paid has reached the price of rewriting what is kept; and fold for free
// whenever the cache is cold. The resulting interval is the square-root law of economic lot sizes.
//
// Only ratios of sizes and prices matter here, so a uniform error of the token estimate cancels out. The decision
// depends on the clock, and is therefore recorded as an overlay; the view is a function of log and overlays (P4).

/** A tool turn that may be folded: older than the floor, and worth it. */
export interface Removable {
  /** Tokens that folding it removes. */
  saves: number
  /** Tokens of the view before it. */
  at: number
  /** Of these, the tokens that the cache still has if the view breaks here; all of them by default. */
  found?: number
  /** The number of the request at which it could first be folded. */
  since: number
}

export interface EconomyState {
  /** Prices of a cached read and a cache write, relative to uncached input. */
  read: number
  write: number
  /** Oldest first. */
  items: readonly Removable[]
  /** Tokens of the view as it would be sent now. */
  size: number
  /** The model's limit. */
  limit: number
  /** Below this size nothing is cached. */
  cacheMin: number
  /** First request, time to live expired, other model, changed system or tools. */
  cold: boolean
  /** Requests made so far with this view. */
  requests: number
  /** Tokens of it in the provider's cache. */
  cachedEnd: number
  /** Tokens before the oldest turn that must stay. */
  floorAt: number
}

export type EconomyDecision =
  | { fold: false; why: 'nothing to fold' | 'the rent has not reached the price of rewriting' | 'would not pay back' }
  | {
      fold: true
      /** Index of the first item to fold; all later ones are folded too. */
      from: number
      why:
        | 'over the limit'
        | 'the cache is cold'
        | 'nothing is cached at this size'
        | 'the price has no cache discount'
        | 'the rent has reached the price of rewriting'
      rent?: number
      rewriting?: number
      gain?: number
    }

export function decideFold(state: EconomyState): EconomyDecision {
  const { read, write, items } = state
  if (items.length === 0) return { fold: false, why: 'nothing to fold' }
  if (state.size > state.limit) return { fold: true, from: 0, why: 'over the limit' }
  if (state.cold) return { fold: true, from: 0, why: 'the cache is cold' }
  if (state.size < state.cacheMin) return { fold: true, from: 0, why: 'nothing is cached at this size' }
  if (read >= write) return { fold: true, from: 0, why: 'the price has no cache discount' }

  let saved = 0
  let rent = 0
  let best: { from: number; gain: number; rent: number; lost: number } | undefined
  for (let from = items.length - 1; from >= 0; from--) {
    const item = items[from] as Removable
    saved += item.saves
    rent += read * item.saves * (state.requests - item.since)
    const lost = item.at - (item.found ?? item.at)
    const rewritten = state.cachedEnd - item.at + lost - saved
    // The number of future requests is assumed to equal the number so far.
    const gain = read * saved * (1 + state.requests) - (write - read) * rewritten
    if (!best || gain > best.gain) best = { from, gain, rent, lost }
  }
  if (!best || best.gain <= 0) return { fold: false, why: 'would not pay back' }
  const { lost, ...chosen } = best
  const rewriting = (write - read) * (state.cachedEnd - state.floorAt + lost)
  if (best.rent < rewriting) return { fold: false, why: 'the rent has not reached the price of rewriting' }
  return { fold: true, ...chosen, rewriting, why: 'the rent has reached the price of rewriting' }
}
