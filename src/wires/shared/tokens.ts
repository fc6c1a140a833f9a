// How many tokens something is, for the emulator: the one place that decides it. An estimate that is exact about
// itself matters more here than one near a real tokenizer, because tests add, subtract and compare its numbers.

/** A picture has no readable size on the wire; providers charge about this much for one (checked 2026-11). */
export const mediaTokens = 1600

export type CountTokens = (text: string) => number

export function estimateTokens(text: string): number {
  return Math.ceil(Buffer.byteLength(text) / 4)
}
