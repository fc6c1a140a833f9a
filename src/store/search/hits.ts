// Search over a database index. Indexing many documents at once costs little more than one: so an entry is appended
// without being indexed, and every 64th append indexes all that wait. Until then a search scans the waiting ones
// itself, so that nothing is ever missed.

import { crc32 } from 'node:zlib'
import type { Message } from '../../core/message.ts'
import { filteredDocuments, queryFilters, searchableOf, type FilteredDocument } from './filter-words.ts'
import { pageOf } from '../page.ts'
import { readMessage } from '../new-entry.ts'
import { matchesAll, type Term } from './query.ts'
import { documentsOf, maxDocuments } from './search-text.ts'
import { hitOf } from './snippet.ts'
import type { Hit, Page, SearchQuery } from '../store.ts'

/** About this many entries wait before they are indexed. */
export const mostWaiting = 64

/** Characters of the JSON of a message. */
export const large = 65_536

/** `n` grows with each entry, whichever process writes it. A large message is indexed at once. */
export function isTimeToIndex(n: number, length: number): boolean {
  return n % mostWaiting === 0 || length > large
}

/** A document by its number, `maxDocuments * n + its position in the entry`, and its entry. */
export type HitRow = {
  document: number
  id: string
  at: string
  checksum: number
  message: string
  conversation_id: string
  title: string | null
}

export interface Wanted {
  owner: string
  query: SearchQuery
  terms: readonly Term[]
  /** Only documents with a lower number. */
  below: number
  most: number
  after: string
  before: string
}

/**
 * What the index has of an entry, or should have. Of a damaged or missing message it has nothing: that is for the
 * doctor, and must not block the others.
 */
export function documentsIn(
  owner: string,
  { conversation_id, checksum, message }: Pick<HitRow, 'conversation_id' | 'checksum' | 'message'>,
): FilteredDocument[] {
  if (crc32(message) !== checksum) return []
  try {
    return filteredDocuments(owner, conversation_id, searchableOf(JSON.parse(message) as Message))
  } catch {
    return []
  }
}

/** The hits among waiting entries: these have the number of their first document, newest first. */
export function waitingHits(rows: Iterable<HitRow>, { owner, query, terms, below, most }: Wanted): HitRow[] {
  const filters = queryFilters(owner, query)
  const hits: HitRow[] = []
  for (const row of rows) {
    for (const [i, document] of [...documentsIn(owner, row).entries()].toReversed()) {
      if (row.document + i >= below || !filters.every((filter) => document.filters.includes(filter))) continue
      if (matchesAll(terms, document.text)) hits.push({ ...row, document: row.document + i })
    }
    if (hits.length >= most) return hits.slice(0, most)
  }
  return hits
}

export function pageOfHits(rows: readonly HitRow[], size: number, terms: readonly Term[]): Page<Hit> {
  return pageOf(
    rows,
    size,
    (row) => [row.document],
    (row) => {
      const documents = documentsOf(readMessage(row.id, row.checksum, row.message))
      const document = documents[row.document % maxDocuments] ?? { kind: 'user', text: '' }
      return hitOf({ ...row, conversationId: row.conversation_id, entryId: row.id }, document, terms)
    },
  )
}
