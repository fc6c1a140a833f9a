// Newest first: the entries that wait to be indexed, which are few and newer than all others, then the index.

import { filterWord, queryFilters } from '../search/filter-words.ts'
import { pageOfHits, waitingHits, type HitRow, type Wanted } from '../search/hits.ts'
import { cursorNumber, pageSize } from '../page.ts'
import { parseQuery, timeSpan, type Term } from '../search/query.ts'
import { maxDocuments } from '../search/search-text.ts'
import type { Search, SearchQuery } from '../store.ts'
import { withTitles, type TitleRow } from '../search/title-hits.ts'
import type { Connection } from './connection.ts'
import { indexSoon, mostAtOnce, uptoOf } from './search-index.ts'

export function searchMethods(db: Connection): Search {
  const search: Search['search'] = async (owner, query) => {
    const size = pageSize(query)
    const terms = parseQuery(query.text)
    if (terms.length === 0) return { items: [] }
    const below = cursorNumber(query.cursor)
    const wanted: Wanted = { owner, query, terms, below, most: size + 1, ...timeSpan(query) }
    const rows = await db.read(() => {
      // In this order: what another process indexes in between is then found as waiting, and not twice.
      const upto = uptoOf(db)
      const unindexed = waitingRows(db, upto, wanted)
      // They are left over if a process ended after it had appended them, and the next search would read all of them again.
      if (unindexed.length > mostAtOnce) indexSoon(db)
      const waiting = waitingHits(unindexed, wanted)
      const rest = { ...wanted, below: Math.min(below, (upto + 1) * maxDocuments), most: size + 1 - waiting.length }
      return rest.most > 0 ? [...waiting, ...indexedHits(db, rest)] : waiting
    })
    return pageOfHits(rows, size, terms)
  }
  return {
    search: withTitles(search, (owner, { label = null, after, before }) =>
      db.read(() => db.all<TitleRow>(selectTitles, owner, after, before, label, label)),
    ),
  }
}

const selectTitles = `
  SELECT c.id, c.title, h.id AS head, c.updated_at AS at FROM conversations c JOIN entries h ON h.n = c.head
  WHERE c.owner = ? AND c.title IS NOT NULL AND c.updated_at >= ? AND c.updated_at < ?
    AND (? IS NULL OR EXISTS (SELECT 1 FROM labels l WHERE l.conversation = c.n AND l.label = ?))
  ORDER BY c.updated_at DESC, c.id DESC`

const columns = 'e.id, e.at, e.checksum, e.message, c.id AS conversation_id, c.title'

const condition = `c.owner = ? AND e.at >= ? AND e.at < ?
  AND (? IS NULL OR EXISTS (SELECT 1 FROM labels l WHERE l.conversation = c.n AND l.label = ?))`

function conditionValues({ owner, query, after, before }: Wanted): (string | null)[] {
  return [owner, after, before, query.label ?? null, query.label ?? null]
}

/** CROSS JOIN makes the last entries the outer table: otherwise all conversations of the owner would be scanned. */
function waitingRows(db: Connection, upto: number, wanted: Wanted): HitRow[] {
  return db.all<HitRow>(
    `SELECT e.n * ${maxDocuments} AS document, ${columns} FROM entries e CROSS JOIN conversations c ON c.n = e.conversation
     WHERE e.n > ? AND ${condition} ORDER BY e.n DESC`,
    upto,
    ...conditionValues(wanted),
  )
}

function indexedHits(db: Connection, wanted: Wanted): HitRow[] {
  const { owner, query, terms, below, most } = wanted
  const filters = [...queryFilters(owner, query), ...labelFilter(db, owner, query)]
  // CROSS JOIN makes the index the outer table: it returns the newest first, and the rest is read for hits only.
  return db.all<HitRow>(
    `SELECT s.rowid AS document, ${columns} FROM search s CROSS JOIN entries e ON e.n = s.rowid / ${maxDocuments}
     CROSS JOIN conversations c ON c.n = e.conversation
     WHERE search MATCH ? AND s.rowid < ? AND ${condition} ORDER BY s.rowid DESC LIMIT ? + 0`,
    `filters : (${filters.join(' AND ')}) AND text : (${matchText(terms)})`,
    below,
    ...conditionValues(wanted),
    most,
  )
}

/** A label on few conversations is also searched inside the index; one on many is common enough to be found soon. */
function labelFilter(db: Connection, owner: string, query: SearchQuery): string[] {
  if (query.label === undefined) return []
  const rows = db.all<{ id: string }>(
    `SELECT c.id FROM labels l JOIN conversations c ON c.n = l.conversation WHERE l.label = ? AND c.owner = ? LIMIT ? + 0`,
    query.label,
    owner,
    mostNamed + 1,
  )
  if (rows.length > mostNamed) return []
  return [`(${rows.map(({ id }) => filterWord('conversation', id)).join(' OR ') || 'nothing'})`]
}

const mostNamed = 200

/** The words come from `wordsOf`: letters and digits only, so nothing in them is syntax. */
function matchText(terms: readonly Term[]): string {
  return terms.map(({ words, prefix }) => `"${words.join(' ')}"${prefix ? ' *' : ''}`).join(' AND ')
}
