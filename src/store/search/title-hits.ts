// A search also finds conversations by their titles: they come first, on the first page. Titles are few and short, so
// they are not in the index: each store returns those of the owner, and they are matched by the same rules as messages.

import { pageSize } from '../page.ts'
import { matchesAll, parseQuery, timeSpan } from './query.ts'
import { hitOf } from './snippet.ts'
import type { Hit, Search, SearchQuery } from '../store.ts'

/** A conversation with a title and at least one message that matches the filters of the query. */
export type TitleRow = {
  id: string
  title: string
  /** The head. */
  head: string
  at: string
}

const mostTitles = 10

export function withTitles(
  search: Search['search'],
  titles: (owner: string, query: SearchQuery & { after: string; before: string }) => Promise<TitleRow[]>,
): Search['search'] {
  return async (owner, query) => {
    if (query.kind === 'title') return { items: await findTitles(owner, query, pageSize(query)) }
    const isAboutMessages = query.kind ?? query.tool ?? query.provider ?? query.conversationId ?? query.cursor
    if (isAboutMessages !== undefined) return search(owner, query)
    const size = pageSize(query)
    const hits = await findTitles(owner, query, Math.min(mostTitles, Math.floor(size / 2)))
    const page = await search(owner, { ...query, limit: size - hits.length })
    // If a message was found as well, it is more useful than the title.
    const seen = new Set(page.items.map((hit) => hit.conversationId))
    return { ...page, items: [...hits.filter((hit) => !seen.has(hit.conversationId)), ...page.items] }
  }

  async function findTitles(owner: string, query: SearchQuery, limit: number): Promise<Hit[]> {
    const terms = parseQuery(query.text)
    if (terms.length === 0 || limit === 0) return []
    const hits: Hit[] = []
    for (const { id, title, head, at } of await titles(owner, { ...query, ...timeSpan(query) })) {
      if (hits.length === limit) break
      if (!matchesAll(terms, title)) continue
      hits.push(hitOf({ conversationId: id, title, entryId: head, at }, { kind: 'title', text: title }, terms))
    }
    return hits
  }
}
