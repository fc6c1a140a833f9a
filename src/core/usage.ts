// Tokens, counted the same way for every provider: `input` is the whole prompt, including what was read from and
// written to a cache, `output` is everything the model produced, including reasoning. The other three are shares of
// those.

import type { Json } from './json.ts'

export interface Usage {
  input: number
  output: number
  cacheRead: number
  cacheWrite: number
  reasoning: number
  /** Counted by the emulator that answered in place of the provider: nothing is billed. */
  offline?: true
  /** The provider's own numbers. */
  raw?: Json
}

type Tokens = Omit<Usage, 'offline' | 'raw'>

export function addUsage(a: Tokens, b: Tokens): Usage {
  return {
    input: a.input + b.input,
    output: a.output + b.output,
    cacheRead: a.cacheRead + b.cacheRead,
    cacheWrite: a.cacheWrite + b.cacheWrite,
    reasoning: a.reasoning + b.reasoning,
  }
}

export const noUsage: Usage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, reasoning: 0 }
