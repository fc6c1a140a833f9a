// A line-by-line diff. Both texts are long and nearly the same, so the common beginning and end are removed before the
// lines in between are compared.

export type DiffLine = { sign: ' ' | '+' | '-'; text: string } | { sign: '…'; text: string }

/** Unchanged lines that are shown before and after a change. */
const contextLines = 3
/** Above this many pairs of lines the middle is shown as removed and added: a finer diff would take too long. */
const mostPairs = 4_000_000

/** Empty if both are the same. */
export function lineDiff(old: readonly string[], next: readonly string[]): DiffLine[] {
  let start = 0
  while (start < old.length && start < next.length && old[start] === next[start]) start++
  let ends = 0
  while (ends < Math.min(old.length, next.length) - start && old.at(-1 - ends) === next.at(-1 - ends)) ends++
  const [removed, added] = [old.slice(start, old.length - ends), next.slice(start, next.length - ends)]
  if (removed.length === 0 && added.length === 0) return []

  const lines: DiffLine[] = []
  const shared = next.slice(0, start)
  if (shared.length > contextLines) lines.push({ sign: '…', text: `${shared.length - contextLines} unchanged lines` })
  for (const text of shared.slice(-contextLines)) lines.push({ sign: ' ', text })
  lines.push(...foldUnchanged(middle(removed, added)))
  const after = next.slice(next.length - ends)
  for (const text of after.slice(0, contextLines)) lines.push({ sign: ' ', text })
  if (after.length > contextLines) lines.push({ sign: '…', text: `${after.length - contextLines} unchanged lines` })
  return lines
}

/** The longest common subsequence stays; the rest was removed or added. */
function middle(old: readonly string[], next: readonly string[]): DiffLine[] {
  if (old.length * next.length > mostPairs) {
    return [...old.map((text) => ({ sign: '-' as const, text })), ...next.map((text) => ({ sign: '+' as const, text }))]
  }
  const width = next.length + 1
  const longest = new Uint32Array((old.length + 1) * width)
  for (let i = old.length - 1; i >= 0; i--) {
    for (let j = next.length - 1; j >= 0; j--) {
      const [down, right] = [longest[(i + 1) * width + j] ?? 0, longest[i * width + j + 1] ?? 0]
      longest[i * width + j] = old[i] === next[j] ? (longest[(i + 1) * width + j + 1] ?? 0) + 1 : Math.max(down, right)
    }
  }
  const lines: DiffLine[] = []
  let [i, j] = [0, 0]
  while (i < old.length || j < next.length) {
    const [before, now] = [old[i], next[j]]
    if (before !== undefined && before === now) {
      lines.push({ sign: ' ', text: before })
      i++
      j++
    } else if (
      now === undefined ||
      (before !== undefined && (longest[(i + 1) * width + j] ?? 0) >= (longest[i * width + j + 1] ?? 0))
    ) {
      lines.push({ sign: '-', text: before ?? '' })
      i++
    } else {
      lines.push({ sign: '+', text: now })
      j++
    }
  }
  return lines
}

/** Shows only the ends of long unchanged stretches. */
function foldUnchanged(lines: readonly DiffLine[]): DiffLine[] {
  const shown: DiffLine[] = []
  let same: DiffLine[] = []
  for (const line of lines) {
    if (line.sign === ' ') {
      same.push(line)
      continue
    }
    flush()
    shown.push(line)
  }
  flush()
  return shown

  function flush(): void {
    if (same.length <= 2 * contextLines + 1) shown.push(...same)
    else {
      shown.push(...same.slice(0, contextLines))
      shown.push({ sign: '…', text: `${same.length - 2 * contextLines} unchanged lines` })
      shown.push(...same.slice(-contextLines))
    }
    same = []
  }
}
