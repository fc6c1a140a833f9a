// The price and context window of a model, from the catalogue. In US dollars per million tokens.

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
