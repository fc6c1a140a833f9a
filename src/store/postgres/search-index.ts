// Writing the search index: every 64th append triggers the indexing of waiting entries, after it and in separate
// transactions. An entry leaves `waiting` in the transaction that puts it into the index, so it is always in one of the
// two.

import type { FilteredDocument } from '../search/filter-words.ts'
import { documentsIn, isTimeToIndex, mostWaiting } from '../search/hits.ts'
import { maxDocuments } from '../search/search-text.ts'
import type { Database, Queries } from './database.ts'
import { wordVectors } from './vectors.ts'

/** The indexing that a process does for the entries that it appends. Only closing the store waits for it. */
export class Indexing {
  readonly #db: Database
  #since = 0
  #clearedAt = Number.NEGATIVE_INFINITY
  #again = false
  #running: Promise<void> | undefined

  constructor(db: Database) {
    this.#db = db
  }

  /** Numbers have gaps here, so the 64th one may never come: appends are counted too. */
  appended(n: number, length: number): void {
    if (++this.#since < mostWaiting && !isTimeToIndex(n, length)) return
    this.#since = 0
    this.#again = true
    this.#running ??= this.#run()
  }

  async done(): Promise<void> {
    await this.#running
  }

  async #run(): Promise<void> {
    while (this.#again) {
      this.#again = false
      // Entries whose indexing fails keep waiting for the next time: their append was already answered.
      await indexWaiting(this.#db).catch(() => {})
      await this.#clearCommits().catch(() => {})
    }
    this.#running = undefined
  }

  /** Of transactions whose outcome is no longer needed. */
  async #clearCommits(): Promise<void> {
    if (performance.now() < this.#clearedAt + clearMs) return
    this.#clearedAt = performance.now()
    await this.#db.plan(`DELETE FROM synapse.commits WHERE at < now() - interval '1 hour'`)
  }
}

const clearMs = 10 * 60_000

export async function indexWaiting(db: Database): Promise<void> {
  while ((await db.transaction(indexSome)) === mostWaiting);
}

/** Several processes share the work: each takes those that no other one has. Returns how many it took. */
async function indexSome(queries: Queries): Promise<number> {
  // Without waiting for the disk: what a crash reverts waits again.
  await queries.all(`SELECT set_config('synchronous_commit', 'off', true), set_config('lock_timeout', '2s', true)`)
  const entries = await queries.all<{ entry: number }>(
    `DELETE FROM synapse.waiting WHERE entry = ANY (ARRAY(
       SELECT entry FROM synapse.waiting LIMIT ${mostWaiting} FOR UPDATE SKIP LOCKED)) RETURNING entry`,
  )
  await indexEntries(queries, entries)
  return entries.length
}

/** In the transaction that appended `count` entries: with many, the next searches would have too much to scan. */
export async function indexIfMany(queries: Queries, conversation: number, count: number): Promise<void> {
  if (count <= mostWaiting) return
  const entries = await queries.all<{ entry: number }>(
    `DELETE FROM synapse.waiting w USING synapse.entries e WHERE e.n = w.entry AND e.conversation = $1
     RETURNING w.entry`,
    [conversation],
  )
  for (let i = 0; i < entries.length; i += mostWaiting) await indexEntries(queries, entries.slice(i, i + mostWaiting))
}

async function indexEntries(queries: Queries, entries: readonly { entry: number }[]): Promise<void> {
  // Waits for a conversation that is being deleted: nothing of it may be added to the index afterwards.
  const rows = await queries.all<LogRow>(`${selectLog} WHERE e.n = ANY ($1::bigint[]) FOR KEY SHARE OF c`, [
    entries.map(({ entry }) => entry),
  ])
  await indexRows(queries, rows)
}

export interface LogRow {
  n: number
  conversation: number
  id: string
  conversation_id: string
  owner: string
  checksum: number
  message: string
}

export const selectLog = `
  SELECT e.n, e.conversation, e.id, c.id AS conversation_id, c.owner, e.checksum, e.message
  FROM synapse.entries e JOIN synapse.conversations c ON c.n = e.conversation`

export interface IndexDocument extends FilteredDocument {
  n: number
  row: LogRow
}

export async function indexRows(queries: Queries, rows: readonly LogRow[]): Promise<void> {
  for (const documents of portions(indexDocuments(rows))) {
    await queries.all(
      `INSERT INTO synapse.search (n, conversation, owner, words)
       SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::text[], $4::tsvector[]) ON CONFLICT (n) DO NOTHING`,
      [
        documents.map(({ n }) => n),
        documents.map(({ row }) => row.conversation),
        documents.map(({ row }) => row.owner),
        wordVectors(documents),
      ],
    )
  }
}

/** What the index has of these entries, or should have. */
export function indexDocuments(rows: readonly LogRow[]): IndexDocument[] {
  return rows.flatMap((row) =>
    documentsIn(row.owner, row).map((document, i) => ({ ...document, n: row.n * maxDocuments + i, row })),
  )
}

const mostText = 4_000_000

/** Of bounded size: a value has at most 1 GB. */
function* portions(documents: readonly IndexDocument[]): Generator<IndexDocument[]> {
  let portion: IndexDocument[] = []
  let length = 0
  for (const document of documents) {
    portion.push(document)
    length += document.text.length
    if (length < mostText) continue
    yield portion
    portion = []
    length = 0
  }
  if (portion.length > 0) yield portion
}
