// Prompt caches as the providers account for them: how much of a prompt was read from the cache, and how much was
// written to it. Everything compares exact prefixes; what differs is where an entry may end.
//
// - prefix: every position is an entry; a hit is rounded down to a step (OpenAI before GPT-5.6, xAI, Gemini, Mistral).
// - units: only whole persisted units hit: the end of a prompt, the end of an answer, or a common prefix that was
//   noticed once (DeepSeek). A+B, then A+C misses; A+D then hits A.
// - breakpoints: entries end at marks and at the newest user or tool message (OpenAI from GPT-5.6 on).
// - marks: entries end at marks only, and are looked up at most 20 blocks before a mark (Anthropic).

import { createHash } from 'node:crypto'
import type { Charge } from '../wires/service.ts'
import { segmentTokens, type Prompt, type Segment, estimateTokens, type CountTokens } from '../wires/shared/prompt.ts'

export interface CacheRules {
  kind: 'none' | 'prefix' | 'units' | 'breakpoints' | 'marks'
  /** Prompts with fewer tokens are never cached. */
  minimum: number
  /** Hits are rounded down to a multiple of this; 0: they are exact. */
  step: number
  /** How long an entry lives after it was last written or read. */
  lifetimeMs: number
}

export interface PromptCache {
  /** Accounts for one request and stores its prompt. `scope` separates models, keys and cache keys. */
  charge(scope: string, prompt: Prompt, rules: CacheRules, now: number): Charge
  /** Stores the end of an answer, given the prompt followed by the answer. */
  answered(scope: string, prompt: Prompt, rules: CacheRules, now: number): void
  clear(): void
}

interface Entry {
  expires: number
  lifetimeMs: number
  /** Noticed, but not usable for a hit yet. */
  unripe?: boolean
}

interface Position {
  /** Identifies everything up to and including this piece. */
  key: string
  /** Tokens up to and including this piece. */
  tokens: number
  /** The segment that ends here. */
  segment?: Segment
}

const lifetimes: Record<string, number> = { '5m': 300_000, '1h': 3_600_000, '30m': 1_800_000, '12h': 43_200_000 }

export function createPromptCache(count: CountTokens = estimateTokens): PromptCache {
  const scopes = new Map<string, Map<string, Entry>>()

  return {
    charge(scope, prompt, rules, now) {
      const positions = positionsOf(prompt, rules, count)
      const input = positions.at(-1)?.tokens ?? 0
      if (rules.kind === 'none') return { input, read: 0, written: {} }
      const entries = entriesOf(scope, now)
      const { read, written } = methods[rules.kind]({ positions, entries, rules, now, prompt })
      return { input, read, written }
    },
    answered(scope, prompt, rules, now) {
      if (rules.kind !== 'units') return
      const end = positionsOf(prompt, rules, count).at(-1)
      if (end && end.tokens >= rules.minimum) entriesOf(scope, now).set(end.key, entry(now, rules.lifetimeMs))
    },
    clear() {
      scopes.clear()
    },
  }

  function entriesOf(scope: string, now: number): Map<string, Entry> {
    const entries = scopes.get(scope) ?? new Map<string, Entry>()
    scopes.set(scope, entries)
    if (entries.size > 100_000) for (const [key, entry] of entries) if (entry.expires <= now) entries.delete(key)
    return entries
  }
}

/** The prompt as a chain: each position is identified by a digest of everything before it. */
function positionsOf(prompt: Prompt, rules: CacheRules, count: CountTokens): Position[] {
  const positions: Position[] = []
  let key = digest(prompt.settings)
  let tokens = 0
  let inMessages = false
  for (const segment of prompt.segments) {
    if (segment.place === 'messages' && !inMessages) {
      inMessages = true
      if (prompt.messageSettings !== '') key = digest(key + prompt.messageSettings)
    }
    // A long text that changes at its end still shares its beginning, if hits need not end with a block.
    const pieces = rules.kind === 'prefix' ? piecesOf(segment.text) : [segment.text]
    const end = tokens + segmentTokens(segment, count)
    for (const [i, text] of pieces.entries()) {
      const last = i === pieces.length - 1
      key = digest(key + text)
      tokens = last ? end : Math.min(end, tokens + count(text))
      positions.push({ key, tokens, ...(last && { segment }) })
    }
  }
  return positions
}

function piecesOf(text: string): string[] {
  const pieces: string[] = []
  for (let start = 0; start < text.length; start += 512) pieces.push(text.slice(start, start + 512))
  return pieces
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('base64url')
}

interface Lookup {
  positions: readonly Position[]
  entries: Map<string, Entry>
  rules: CacheRules
  now: number
  prompt: Prompt
}

type Method = (lookup: Lookup) => Omit<Charge, 'input'>

const methods: Record<Exclude<CacheRules['kind'], 'none'>, Method> = {
  prefix({ positions, entries, rules, now }) {
    if ((positions.at(-1)?.tokens ?? 0) < rules.minimum) return { read: 0, written: {} }
    const hit = positions.findLast((position) => isLive(entries.get(position.key), now))
    for (const position of positions) entries.set(position.key, entry(now, rules.lifetimeMs))
    return { read: roundDown(hit?.tokens ?? 0, rules), written: {} }
  },

  units({ positions, entries, rules, now }) {
    const end = positions.at(-1)
    if (!end || end.tokens < rules.minimum) return { read: 0, written: {} }
    const hit = positions.findLast((position) => isRipe(entries.get(position.key), now))
    const common = positions.findLast((position) => isLive(entries.get(position.key), now))
    for (const position of positions) {
      const unripe = !isRipe(entries.get(position.key), now) && position !== common && position !== end
      entries.set(position.key, { ...entry(now, rules.lifetimeMs), ...(unripe && { unripe }) })
    }
    return { read: roundDown(hit?.tokens ?? 0, rules), written: {} }
  },

  // Checked 2026-11: 1 implicit and the latest 3 explicit breakpoints are written, or the latest 4 explicit ones; the
  // latest 80 are looked up.
  breakpoints(lookup) {
    const { minimum } = lookup.rules
    const implicit = lookup.prompt.explicitOnly !== true
    const ends = lookup.positions.filter(
      (position) => position.tokens >= minimum && (position.segment?.mark || (implicit && endsInput(position))),
    )
    const newest = implicit ? ends.findLast(endsInput) : undefined
    const marked = ends.filter((position) => position.segment?.mark && position !== newest)
    const write = newest ? [...marked.slice(-3), newest] : marked.slice(-4)
    write.sort((a, b) => a.tokens - b.tokens)
    return readAndWrite(lookup, ends.slice(-80), write, '30m')
  },

  // Checked 2026-11: at most 20 blocks are checked from each mark, the marked one being the first.
  marks(lookup) {
    const { positions, rules } = lookup
    const reach = new Set<Position>()
    for (const [i, position] of positions.entries()) {
      if (position.segment?.mark) for (const seen of positions.slice(Math.max(0, i - 19), i + 1)) reach.add(seen)
    }
    const large = (position: Position) => position.tokens >= rules.minimum
    const marked = positions.filter((position) => position.segment?.mark && large(position))
    return readAndWrite(lookup, [...reach].filter(large), marked, '5m')
  },
}

/** Reads the longest entry among the candidates, and writes what is between it and the last position to write. */
function readAndWrite(
  { entries, now, prompt }: Lookup,
  candidates: readonly Position[],
  write: readonly Position[],
  usualTtl: string,
): Omit<Charge, 'input'> {
  const hit = candidates.findLast((position) => isLive(entries.get(position.key), now))
  const cached = hit && entries.get(hit.key)
  if (cached) cached.expires = now + cached.lifetimeMs
  const read = hit?.tokens ?? 0
  const written: Record<string, number> = {}
  let done = read
  for (const position of write) {
    const ttl = position.segment?.mark?.ttl ?? prompt.ttl ?? usualTtl
    const lifetimeMs = lifetimes[ttl] ?? lifetimes[usualTtl] ?? 0
    const old = entries.get(position.key)
    if (old && isLive(old, now) && old.lifetimeMs >= lifetimeMs) old.expires = now + old.lifetimeMs
    else entries.set(position.key, entry(now, lifetimeMs))
    if (position.tokens <= done) continue
    written[ttl] = (written[ttl] ?? 0) + position.tokens - done
    done = position.tokens
  }
  return { read, written }
}

function entry(now: number, lifetimeMs: number): Entry {
  return { expires: now + lifetimeMs, lifetimeMs }
}

function endsInput(position: Position): boolean {
  const { segment } = position
  return segment?.last === true && segment.place === 'messages' && segment.role !== 'assistant'
}

function isLive(entry: Entry | undefined, now: number): boolean {
  return entry !== undefined && entry.expires > now
}

function isRipe(entry: Entry | undefined, now: number): boolean {
  return isLive(entry, now) && entry?.unripe !== true
}

function roundDown(tokens: number, rules: CacheRules): number {
  const read = rules.step > 0 ? Math.floor(tokens / rules.step) * rules.step : tokens
  return read >= rules.minimum ? read : 0
}
