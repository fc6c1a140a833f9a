// Token counts of the emulator, in one place. A consistent estimate matters more here than one near a real tokenizer,
// because tests add, subtract and compare its numbers.

/** The size of an image is not on the wire; providers charge about this much for one (checked 2026-11). */
export const mediaTokens = 1600

export type CountTokens = (text: string) => number

export function estimateTokens(text: string): number {
  return Math.ceil(Buffer.byteLength(text) / 4)
}
