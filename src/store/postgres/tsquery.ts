// The words of a query as a PostgreSQL tsquery. Built from words that are split here, because PostgreSQL's parsers
// split addresses, paths and hyphens differently.

import type { Term } from '../search/query.ts'

/** As the text of a tsquery. `anyOf`: at least one of these filters, if there are any. */
export function wordQuery(terms: readonly Term[], filters: readonly string[], anyOf: readonly string[] = []): string {
  const parts = [
    ...filters.map(quoted),
    ...(anyOf.length > 0 ? [`(${anyOf.map(quoted).join(' | ')})`] : []),
    ...terms.map(({ words, prefix }) => {
      const lexemes = words.map((word, i) => `'${word}'${prefix && i === words.length - 1 ? ':*' : ''}`)
      return `(${lexemes.join(' <-> ')})`
    }),
  ]
  return parts.join(' & ')
}

/** No word can be confused with it. */
export function filterLexeme(filter: string): string {
  return `@${filter}`
}

function quoted(filter: string): string {
  return `'${filterLexeme(filter)}'`
}
