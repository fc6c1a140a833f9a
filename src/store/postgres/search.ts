// Newest first, over an index that knows no order. A word that is common is met soon on a walk from the newest document
// backward; one that is rare has few matches, which can all be fetched and sorted. Either way alone takes seconds on
// the other kind of word, and the planner cannot tell them apart: so the walk comes first, and it is short. A phrase is
// looked up in every document that has its words, because the index knows no places: so the newest ones come first.

import { filterWord, queryFilters } from '../filter-words.ts'
import { pageOf, pageSize, readCursor } from '../page.ts'
import { readMessage } from '../prepare.ts'
import { parseQuery, timeSpan } from '../query.ts'
import { documentsOf, maxDocuments } from '../search-text.ts'
import { hitOf } from '../snippet.ts'
import type { Search, SearchQuery } from '../store.ts'
import type { Database } from './database.ts'
import { wordQuery } from './words.ts'

export function searchMethods(db: Database): Search {
  return {
    async search(owner, query) {
      const size = pageSize(query)
      const terms = parseQuery(query.text)
      const below =
        query.cursor === undefined ? Number.MAX_SAFE_INTEGER : Number(readCursor(query.cursor, ['number'])[0])
      const { after, before } = timeSpan(query)
      if (terms.length === 0) return { items: [] }
      const narrow = await labelled(db, owner, query)
      if (narrow?.length === 0) return { items: [] }
      const words = wordQuery(terms, queryFilters(owner, query), narrow)
      const wanted: Wanted = { words, below, owner, after, before, label: query.label, most: size + 1 }
      let rows = await db.plan<HitRow>(`WITH hits AS (${walk}) ${fetch}`, valuesOf(wanted))
      if (rows.length <= size) {
        const hasPhrase = terms.some((term) => term.words.length > 1)
        rows = await gathered(db, wanted, hasPhrase)
      }
      return pageOf(
        rows,
        size,
        (row) => [row.place],
        (row) => {
          const document = documentsOf(readMessage(row))[row.place % maxDocuments] ?? { kind: 'user', text: '' }
          return hitOf({ ...row, conversationId: row.conversation_id, entryId: row.id }, document, terms)
        },
      )
    },
  }
}

const walk = `
  SELECT w.n FROM (
    SELECT n, words FROM synapse.search WHERE owner = $3 AND n < $2 ORDER BY n DESC LIMIT 2000
  ) w WHERE w.words @@ $1::tsquery`

/** In steps from the newest on, where looking through all at once could take seconds. */
async function gathered(db: Database, search: Wanted, inSteps: boolean): Promise<HitRow[]> {
  const newest = await db.get<{ n: number | null }>(
    'SELECT max(n) AS n FROM synapse.search WHERE owner = $1 AND n < $2',
    [search.owner, search.below],
  )
  const rows: HitRow[] = []
  let below = (newest?.n ?? 0) + 1
  for (const entries of inSteps ? [65_536, 524_288, Infinity] : [Infinity]) {
    const from = Math.max(0, below - entries * maxDocuments)
    const step = valuesOf({ ...search, below, most: search.most - rows.length })
    rows.push(...(await db.plan<HitRow>(`WITH hits AS MATERIALIZED (${gather}) ${fetch}`, [...step, from])))
    if (rows.length === search.most || from === 0) break
    below = from
  }
  return rows
}

interface Wanted {
  words: string
  below: number
  owner: string
  after: string
  before: string
  label: string | undefined
  most: number
}

/** In the order of the placeholders. */
function valuesOf({ words, below, owner, after, before, label, most }: Wanted): unknown[] {
  return [words, below, owner, after, before, label ?? null, most]
}

const gather = `
  SELECT s.n FROM synapse.search s
  WHERE s.words @@ $1::tsquery AND s.n < $2 AND s.n >= $8::bigint AND s.owner = $3`

/** OFFSET 0 keeps the planner from reading the whole table of entries to join it with hits that it thinks are many. */
const fetch = `
  SELECT h.n AS place, found.* FROM (SELECT n FROM hits ORDER BY n DESC) h CROSS JOIN LATERAL (
    SELECT e.id, e.at, e.checksum, e.message, c.id AS conversation_id, c.title
    FROM synapse.entries e JOIN synapse.conversations c ON c.n = e.conversation
    WHERE e.n = h.n / ${maxDocuments} AND c.owner = $3 AND e.at >= $4 AND e.at < $5
      AND ($6::text IS NULL OR EXISTS (
        SELECT 1 FROM synapse.labels l WHERE l.conversation = c.n AND l.label = $6::text))
    OFFSET 0
  ) found ORDER BY h.n DESC LIMIT $7`

interface HitRow {
  place: number
  id: string
  at: string
  checksum: number
  message: string
  conversation_id: string
  title: string | null
}

/** A label on few conversations is looked for inside the index too; undefined where there is no such limit. */
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
