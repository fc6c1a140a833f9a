// Search in memory: every entry of the owner is matched.

import { filteredDocuments, queryFilters, searchableOf } from '../search/filter-words.ts'
import { pageOf, pageSize, cursorNumber } from '../page.ts'
import { matchesAll, parseQuery, timeSpan } from '../search/query.ts'
import type { SearchDocument } from '../search/search-text.ts'
import { hitOf } from '../search/snippet.ts'
import type { Search, SearchQuery } from '../store.ts'
import { withTitles, type TitleRow } from '../search/title-hits.ts'
import type { StoredEntry, MemoryState } from './state.ts'

export function searchMethods(state: MemoryState): Search {
  const search: Search['search'] = async (owner, query) => {
    const size = pageSize(query)
    const skip = cursorNumber(query.cursor, 0)
    const terms = parseQuery(query.text)
    const rows: { n: number; entry: StoredEntry; document: SearchDocument }[] = []
    let n = 0
    for (const candidate of terms.length === 0 ? [] : candidates(state, owner, query)) {
      if (rows.length > size) break
      if (matchesAll(terms, candidate.document.text) && ++n > skip) rows.push({ n, ...candidate })
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
  }
  return { search: withTitles(search, async (owner, query) => titlesOf(state, owner, query)) }
}

/** Most recently changed first. */
function titlesOf(
  state: MemoryState,
  owner: string,
  query: SearchQuery & { after: string; before: string },
): TitleRow[] {
  const { label, after, before } = query
  const rows: TitleRow[] = []
  for (const { about } of state.conversations.values()) {
    const { id, title, head, updatedAt: at, labels } = about
    if (about.owner !== owner || title === undefined || head === null || at < after || at >= before) continue
    if (label === undefined || labels.includes(label)) rows.push({ id, title, head, at })
  }
  return rows.sort((a, b) => (a.at < b.at ? 1 : a.at > b.at ? -1 : a.id < b.id ? 1 : -1))
}

/** What the filters allow, newest first. */
function* candidates(
  state: MemoryState,
  owner: string,
  query: SearchQuery,
): Generator<{ entry: StoredEntry; document: SearchDocument }> {
  const filters = queryFilters(owner, query)
  const { after, before } = timeSpan(query)
  for (const entry of [...state.entries.values()].toReversed()) {
    const { about } = entry.conversation
    if (about.owner !== owner) continue
    if (entry.at < after || entry.at >= before) continue
    if (query.label !== undefined && !about.labels.includes(query.label)) continue
    const documents = filteredDocuments(about.owner, about.id, searchableOf(entry.message))
    for (const document of documents.toReversed()) {
      if (filters.every((filter) => document.filters.includes(filter))) yield { entry, document }
    }
  }
}
