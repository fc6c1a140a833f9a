// The distance between two words, for suggestions after a typo.

/** How many letters must be added, removed or replaced. */
export function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      const change = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1)
      next[j] = Math.min(change, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1)
    }
    row = next
  }
  return row[b.length] ?? 0
}

/** The name that a mistyped word was probably meant to be. */
export function nearestName(word: string, names: readonly string[]): string | undefined {
  const most = Math.min(2, Math.floor(word.length / 2))
  const [nearest] = names.toSorted((a, b) => editDistance(word, a) - editDistance(word, b))
  return nearest !== undefined && editDistance(word, nearest) <= most ? nearest : undefined
}
