// The distance between two words, for suggestions after a typo.

/** Words whose lengths differ by more are not compared letter by letter: they are no typos of each other. */
const mostDifferent = 20

/**
 * How many letters must be added, removed, replaced, or swapped with their neighbour (optimal string alignment); at least
 * that many, if one of them is much longer.
 */
export function editDistance(a: string, b: string): number {
  const difference = Math.abs(a.length - b.length)
  if (difference > mostDifferent) return difference
  const rows: number[][] = [Array.from({ length: b.length + 1 }, (_, index) => index)]
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    for (let j = 1; j <= b.length; j++) {
      const isSame = a[i - 1] === b[j - 1]
      const isSwapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]
      row[j] = Math.min(
        (rows[i - 1]?.[j] ?? 0) + 1,
        (row[j - 1] ?? 0) + 1,
        (rows[i - 1]?.[j - 1] ?? 0) + (isSame ? 0 : 1),
        isSwapped ? (rows[i - 2]?.[j - 2] ?? 0) + 1 : Infinity,
      )
    }
    rows.push(row)
  }
  return rows[a.length]?.[b.length] ?? 0
}

/** The name that a mistyped word was probably meant to be. */
export function nearestName(word: string, names: readonly string[]): string | undefined {
  const limit = Math.min(2, Math.floor(word.length / 2))
  const [nearest] = names.toSorted((a, b) => editDistance(word, a) - editDistance(word, b))
  return nearest !== undefined && editDistance(word, nearest) <= limit ? nearest : undefined
}
