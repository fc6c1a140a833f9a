// What a prompt cache costs and how long it lives, by class of provider (checked 2026-11): `read` and `write` are prices
// relative to input that is not cached.

import type { CacheRules } from '../../src/emulator/cache.ts'

export interface PriceClass {
  name: string
  from: string
  read: number
  write: number
  rules: CacheRules
  /** The life that marks ask for. */
  ttl?: '1h'
  /** The end of an answer is a whole unit of the cache, so what comes after it finds the answer there too. */
  keepsAnswers?: boolean
}

const minute = 60_000

export const classes: readonly PriceClass[] = [
  { name: 'A 5m', from: 'Anthropic', read: 0.1, write: 1.25, rules: rules('marks', 1024, 0, 5) },
  { name: 'A 1h', from: 'Anthropic', read: 0.1, write: 2, rules: rules('marks', 1024, 0, 60), ttl: '1h' },
  { name: 'O 5.6', from: 'OpenAI GPT-5.6', read: 0.1, write: 1.25, rules: rules('breakpoints', 1024, 0, 30) },
  { name: 'O .25', from: 'older OpenAI, xAI', read: 0.25, write: 1, rules: rules('prefix', 1024, 128, 10) },
  { name: 'O .5', from: 'older OpenAI', read: 0.5, write: 1, rules: rules('prefix', 1024, 128, 10) },
  { name: 'DS', from: 'DeepSeek', read: 1 / 30, write: 1, rules: rules('units', 64, 64, 360), keepsAnswers: true },
  { name: 'G', from: 'Gemini, Mistral', read: 0.1, write: 1, rules: rules('prefix', 2048, 0, 10) },
  { name: 'none', from: 'no caching', read: 1, write: 1, rules: rules('none', 0, 0, 0) },
]

/** A local server that keeps the last prefix: what counts is the work of reading the rest. */
export const localCache: PriceClass = {
  name: 'local-kv',
  from: 'a local server',
  read: 0,
  write: 1,
  rules: { kind: 'prefix', minimum: 1, step: 1, lifetimeMs: Number.MAX_SAFE_INTEGER },
}

function rules(kind: CacheRules['kind'], minimum: number, step: number, minutes: number): CacheRules {
  return { kind, minimum, step, lifetimeMs: minutes * minute }
}
