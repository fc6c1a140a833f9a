// The words of a document and of a query in PostgreSQL's own forms. Built here from words that are cut here, because
// its parsers cut addresses, paths and hyphens in ways of their own.

import type { Term } from '../query.ts'
import { wordList } from '../words.ts'

/** As the text of a tsvector: words with their positions, and filters, which no word can be taken for. */
export function wordVector(text: string, filters: readonly string[]): string {
  const positions = new Map<string, number[]>()
  for (const [i, word] of wordList(text).entries()) {
    const known = positions.get(word)
    if (known) known.push(i + 1)
    else positions.set(word, [i + 1])
  }
  const words = Array.from(positions, ([word, places]) => `'${word}':${places.slice(0, 255).join(',')}`)
  return [...filters.map(filterLexeme), ...words].join(' ')
}

/** As the text of a tsquery. `anyOf`: at least one of these filters, if there are any. */
export function wordQuery(terms: readonly Term[], filters: readonly string[], anyOf: readonly string[] = []): string {
  const parts = [
    ...filters.map(filterLexeme),
    ...(anyOf.length > 0 ? [`(${anyOf.map(filterLexeme).join(' | ')})`] : []),
    ...terms.map(({ words, prefix }) => {
      const lexemes = words.map((word, i) => `'${word}'${prefix && i === words.length - 1 ? ':*' : ''}`)
      return `(${lexemes.join(' <-> ')})`
    }),
  ]
  return parts.join(' & ')
}

function filterLexeme(filter: string): string {
  return `'@${filter}'`
}
