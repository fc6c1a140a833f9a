import { queryFilters } from '../filter-words.ts'
import { pageOf, pageSize, readCursor } from '../page.ts'
import { matchesAll, parseQuery, timeSpan } from '../query.ts'
import type { SearchDocument } from '../search-text.ts'
import { hitOf } from '../snippet.ts'
import type { Search, SearchQuery } from '../store.ts'
import type { StoredEntry, MemoryState } from './state.ts'

export function searchMethods(state: MemoryState): Search {
  return {
    async search(owner, query) {
      const size = pageSize(query)
      const skip = query.cursor === undefined ? 0 : Number(readCursor(query.cursor, ['number'])[0])
      const terms = parseQuery(query.text)
      const rows: { n: number; entry: StoredEntry; document: SearchDocument }[] = []
      let n = 0
      for (const found of terms.length === 0 ? [] : candidates(state, owner, query)) {
        if (rows.length > size) break
        if (matchesAll(terms, found.document.text) && ++n > skip) rows.push({ n, ...found })
      }
      return pageOf(
        rows,
        size,
        (row) => [row.n],
        ({ entry, document }) => {
          const { id, title } = entry.conversation.about
          return hitOf({ conversationId: id, title, entryId: entry.id, at: entry.at }, document, terms)
        },
      )
    },
  }
}

/** What the filters let through, the last written first. */
function* candidates(
  state: MemoryState,
  owner: string,
  query: SearchQuery,
): Generator<{ entry: StoredEntry; document: SearchDocument }> {
  const wanted = queryFilters(owner, query)
  const { after, before } = timeSpan(query)
  for (const entry of [...state.entries.values()].toReversed()) {
    const { labels } = entry.conversation.about
    if (entry.at < after || entry.at >= before) continue
    if (query.label !== undefined && !labels.includes(query.label)) continue
    for (const document of entry.documents.toReversed()) {
      if (wanted.every((filter) => document.filters.includes(filter))) yield { entry, document }
    }
  }
}
