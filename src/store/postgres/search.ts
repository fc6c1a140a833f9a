// Newest first, over an index without order. A common word is found soon when walking from the newest document
// backward; a rare one has few matches, which can all be fetched and sorted. Either way alone takes seconds on the
// other kind of word, and the planner cannot distinguish them: so the walk comes first, and it is short. A phrase is
// looked up in every document that has its words, because the index has no positions: so the newest ones come first.

import { filterWord, queryFilters } from '../search/filter-words.ts'
import { pageOfHits, waitingHits, type HitRow, type Wanted } from '../search/hits.ts'
import { cursorNumber, pageSize } from '../page.ts'
import { parseQuery, timeSpan } from '../search/query.ts'
import { maxDocuments } from '../search/search-text.ts'
import type { Search, SearchQuery } from '../store.ts'
import { withTitles, type TitleRow } from '../search/title-hits.ts'
import type { Database } from './database.ts'
import { wordQuery } from './tsquery.ts'

export function searchMethods(db: Database): Search {
  const search: Search['search'] = async (owner, query) => {
    const size = pageSize(query)
    const terms = parseQuery(query.text)
    const below = cursorNumber(query.cursor)
    const wanted: Wanted = { owner, query, terms, below, most: size + 1, ...timeSpan(query) }
    if (terms.length === 0) return { items: [] }
    const narrow = await labelled(db, owner, query)
    if (narrow?.length === 0) return { items: [] }
    // In this order: what is indexed in between is then found twice instead of missed.
    const waiting = waitingHits(await waitingRows(db, wanted), wanted)
    const indexed = await indexedHits(db, wanted, wordQuery(terms, queryFilters(owner, query), narrow))
    const byDocument = new Map([...waiting, ...indexed].map((row) => [row.document, row]))
    const newestFirst = [...byDocument.values()].sort((a, b) => b.document - a.document)
    return pageOfHits(newestFirst, size, terms)
  }
  return {
    search: withTitles(search, (owner, { label = null, after, before }) =>
      db.all<TitleRow>(selectTitles, [owner, after, before, label]),
    ),
  }
}

const selectTitles = `
  SELECT c.id, c.title, h.id AS head, c.updated_at AS at
  FROM synapse.conversations c JOIN synapse.entries h ON h.n = c.head
  WHERE c.owner = $1 AND c.title IS NOT NULL AND c.updated_at >= $2 AND c.updated_at < $3
    AND ($4::text IS NULL OR EXISTS (SELECT 1 FROM synapse.labels l WHERE l.conversation = c.n AND l.label = $4::text))
  ORDER BY c.updated_at DESC, c.id DESC`

const columns = 'e.id, e.at, e.checksum, e.message, c.id AS conversation_id, c.title'

const condition = `c.owner = $1 AND e.at >= $2 AND e.at < $3 AND ($4::text IS NULL OR EXISTS (
  SELECT 1 FROM synapse.labels l WHERE l.conversation = c.n AND l.label = $4::text))`

function conditionValues({ owner, query, after, before }: Wanted): unknown[] {
  return [owner, after, before, query.label ?? null]
}

async function waitingRows(db: Database, wanted: Wanted): Promise<HitRow[]> {
  return db.plan<HitRow>(
    `SELECT e.n * ${maxDocuments} AS document, ${columns} FROM synapse.waiting w
     JOIN synapse.entries e ON e.n = w.entry JOIN synapse.conversations c ON c.n = e.conversation
     WHERE ${condition} ORDER BY e.n DESC`,
    conditionValues(wanted),
  )
}

async function indexedHits(db: Database, wanted: Wanted, words: string): Promise<HitRow[]> {
  const rows = await db.plan<HitRow>(`WITH hits AS (${walk}) ${fetch}`, valuesOf(wanted, words))
  return rows.length === wanted.most ? rows : gatherHits(db, wanted, words)
}

const walk = `
  SELECT w.n FROM (
    SELECT n, words FROM synapse.search WHERE owner = $1 AND n < $6 ORDER BY n DESC LIMIT 2000
  ) w WHERE w.words @@ $5::tsquery`

/** With a phrase in steps from the newest on, because searching all at once could take seconds. */
async function gatherHits(db: Database, wanted: Wanted, words: string): Promise<HitRow[]> {
  const newest = await db.get<{ n: number | null }>(
    'SELECT max(n) AS n FROM synapse.search WHERE owner = $1 AND n < $2',
    [wanted.owner, wanted.below],
  )
  const hasPhrase = wanted.terms.some((term) => term.words.length > 1)
  const rows: HitRow[] = []
  let below = (newest?.n ?? 0) + 1
  for (const entries of hasPhrase ? [65_536, 524_288, Infinity] : [Infinity]) {
    const from = Math.max(0, below - entries * maxDocuments)
    const step = valuesOf({ ...wanted, below, most: wanted.most - rows.length }, words)
    rows.push(...(await db.plan<HitRow>(`WITH hits AS MATERIALIZED (${gather}) ${fetch}`, [...step, from])))
    if (rows.length === wanted.most || from === 0) break
    below = from
  }
  return rows
}

/** In the order of the placeholders. */
function valuesOf(wanted: Wanted, words: string): unknown[] {
  return [...conditionValues(wanted), words, wanted.below, wanted.most]
}

const gather = `
  SELECT s.n FROM synapse.search s
  WHERE s.words @@ $5::tsquery AND s.n < $6 AND s.n >= $8::bigint AND s.owner = $1`

/** OFFSET 0 keeps the planner from reading the whole table of entries to join it with hits that it thinks are many. */
const fetch = `
  SELECT h.n AS document, found.* FROM (SELECT n FROM hits ORDER BY n DESC) h CROSS JOIN LATERAL (
    SELECT ${columns} FROM synapse.entries e JOIN synapse.conversations c ON c.n = e.conversation
    WHERE e.n = h.n / ${maxDocuments} AND ${condition}
    OFFSET 0
  ) found ORDER BY h.n DESC LIMIT $7`

/** A label on few conversations is also searched inside the index; undefined if there is no such limit. */
async function labelled(db: Database, owner: string, query: SearchQuery): Promise<string[] | undefined> {
  if (query.label === undefined) return undefined
  const rows = await db.all<{ id: string }>(
    `SELECT c.id FROM synapse.labels l JOIN synapse.conversations c ON c.n = l.conversation
     WHERE l.label = $1 AND c.owner = $2 LIMIT $3`,
    [query.label, owner, mostNamed + 1],
  )
  return rows.length > mostNamed ? undefined : rows.map(({ id }) => filterWord('conversation', id))
}

const mostNamed = 200
