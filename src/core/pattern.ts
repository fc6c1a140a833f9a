// Names with `*` for any text, as in lists of models that a key may use.

export function matchesPattern(pattern: string, name: string): boolean {
  const pieces = pattern.split('*')
  const [first = ''] = pieces
  const last = pieces.at(-1) ?? ''
  if (pieces.length === 1) return pattern === name
  if (!name.startsWith(first) || !name.endsWith(last) || name.length < first.length + last.length) return false
  let at = first.length
  for (const piece of pieces.slice(1, -1)) {
    const index = name.indexOf(piece, at)
    if (index < 0 || index + piece.length > name.length - last.length) return false
    at = index + piece.length
  }
  return true
}
