// The prompt cache of each provider and model, as data (checked 2026-11). Undocumented lifetimes are assumed, and say
// so.

import type { CacheRules } from './cache.ts'

export function cacheRulesFor(provider: string, model: string): CacheRules {
  if (provider === 'openrouter') {
    const [vendor = '', ...name] = model.split('/')
    return cacheRulesFor(upstreams[vendor] ?? '', name.join('/').replaceAll('.', '-'))
  }
  const row = rows.find(
    (candidate) => candidate.providers.includes(provider) && (!candidate.model || candidate.model.test(model)),
  )
  return row?.rules ?? none
}

const upstreams: Record<string, string> = {
  anthropic: 'anthropic',
  openai: 'openai',
  google: 'google',
  deepseek: 'deepseek',
  mistralai: 'mistral',
  'x-ai': 'xai',
}

const none: CacheRules = { kind: 'none', minimum: 0, step: 0, lifetimeMs: 0 }
const minutes = 60_000
const hours = 60 * minutes

const marks = (minimum: number): CacheRules => ({ kind: 'marks', minimum, step: 0, lifetimeMs: 5 * minutes })
const prefix = (minimum: number, step: number, lifetimeMs: number): CacheRules => ({
  kind: 'prefix',
  minimum,
  step,
  lifetimeMs,
})

/** The first matching row applies. */
const rows: { providers: string[]; model?: RegExp; rules: CacheRules }[] = [
  { providers: ['anthropic'], model: /opus-5|sonnet-5-5|haiku-5-5|fable-5|mythos-5/, rules: marks(512) },
  { providers: ['anthropic'], model: /opus-4-[56]|haiku-4-5/, rules: marks(4096) },
  { providers: ['anthropic'], model: /opus-4-7|mythos/, rules: marks(2048) },
  { providers: ['anthropic'], rules: marks(1024) },
  {
    providers: ['openai', 'azure-openai'],
    model: /^gpt-(5[.-]([6-9]|\d\d)|[6-9]|\d\d)/,
    rules: { kind: 'breakpoints', minimum: 1024, step: 0, lifetimeMs: 30 * minutes },
  },
  // 5 to 10 idle minutes are usual; 10 assumed.
  { providers: ['openai', 'azure-openai', 'xai'], rules: prefix(1024, 128, 10 * minutes) },
  // Lifetime assumed: "hours to days".
  { providers: ['deepseek'], rules: { kind: 'units', minimum: 64, step: 64, lifetimeMs: 6 * hours } },
  // Lifetimes of Gemini and Mistral assumed.
  { providers: ['google'], model: /gemini-(1|2)/, rules: prefix(2048, 0, 10 * minutes) },
  { providers: ['google'], rules: prefix(4096, 0, 10 * minutes) },
  { providers: ['mistral'], rules: prefix(64, 64, 10 * minutes) },
  // Minimum and step assumed.
  { providers: ['groq'], rules: prefix(1024, 128, 2 * hours) },
  { providers: ['llama.cpp'], rules: prefix(1, 1, 24 * hours) },
]
