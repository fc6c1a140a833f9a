// The checkup of a PostgreSQL store. Pages and checksums of the files are the server's task; this checks what it cannot
// know: whether the log is intact, whether the index matches it, and whether a commit is durable.

import { crc32 } from 'node:zlib'
import { counted, finding, indexFinding, type Finding, type Repair, type Progress } from './doctor.ts'
import { pointerChecks, pointerRepairs } from './pointers.ts'
import { connect, type Database, type Queries } from '../postgres/database.ts'
import { migrations } from '../postgres/migrations.ts'
import { indexDocuments, indexRows, selectLog, type LogRow } from '../postgres/search-index.ts'
import { wordVectors } from '../postgres/vectors.ts'

const settings = { now: Date.now, leaseSkewMs: () => 0, connections: 2, statementMs: 0 }
const tableName = (table: string): string => `synapse.${table}`

export async function examinePostgres(url: string, progress: Progress): Promise<Finding[]> {
  const db = await connect(url, settings)
  try {
    const findings: Finding[] = [finding('fine', `The format is ${migrations.length}, as this Synapse writes it.`)]
    await checkPointers(db, findings)
    await checkLog(db, findings, progress)
    await checkSettings(db, findings)
    return findings
  } finally {
    await db.close()
  }
}

async function checkPointers(db: Database, findings: Finding[]): Promise<void> {
  let wrong = 0
  for (const { singular, plural, level, sql } of pointerChecks(tableName)) {
    const rows = (await db.plan<Record<string, unknown>>(sql)).map((row) => String(Object.values(row)[0]))
    if (rows.length === 0) continue
    wrong++
    findings.push(finding(level, `${counted(rows.length, singular, plural)}.`, rows))
  }
  if (wrong === 0) findings.push(finding('fine', 'All references between records are valid.'))
}

async function checkLog(db: Database, findings: Finding[], progress: Progress): Promise<void> {
  const damaged: string[] = []
  const unindexed: string[] = []
  let entries = 0
  let documents = 0
  let waits = 0
  for await (const rows of pages(db, progress)) {
    // Before the index is checked: what is indexed meanwhile is in it.
    const waiting = await waitingOf(db, rows)
    const expected = indexDocuments(rows)
    // As text: the bytes of a tsvector also depend on how it was created.
    const indexed = await db.plan<{ n: number; fits: boolean }>(
      `SELECT s.n, s.words::text = d.words::text AS fits FROM unnest($1::bigint[], $2::tsvector[]) AS d (n, words)
       JOIN synapse.search s ON s.n = d.n`,
      [expected.map(({ n }) => n), wordVectors(expected)],
    )
    const fitting = new Set(indexed.filter(({ fits }) => fits).map(({ n }) => n))
    const missing = new Set<string>()
    for (const { n, row } of expected) {
      if (waiting.has(row.n)) continue
      documents++
      if (!fitting.has(n)) missing.add(row.id)
    }
    entries += rows.length
    waits += waiting.size
    unindexed.push(...missing)
    damaged.push(...rows.filter((row) => crc32(row.message) !== row.checksum).map(({ id }) => id))
  }
  findings.push(
    damaged.length === 0
      ? finding('fine', `${counted(entries, 'entry', 'entries')}, all intact.`)
      : finding('broken', `${counted(damaged.length, 'entry is', 'entries are')} damaged.`, damaged),
  )
  const { n: count } = (await db.get<{ n: number }>('SELECT count(*) AS n FROM synapse.search')) ?? { n: 0 }
  if (unindexed.length > 0) {
    const subject = counted(unindexed.length, 'entry', 'entries')
    findings.push(finding('stale', `${subject} cannot be found by the search, or not by all words.`, unindexed))
  }
  findings.push(indexFinding(count, documents, waits))
}

async function waitingOf(db: Database, rows: readonly LogRow[]): Promise<Set<number>> {
  const sql = 'SELECT entry FROM synapse.waiting WHERE entry = ANY ($1::bigint[])'
  return new Set((await db.all<{ entry: number }>(sql, [rows.map(({ n }) => n)])).map(({ entry }) => entry))
}

async function checkSettings(db: Database, findings: Finding[]): Promise<void> {
  const show = async (name: string) => String(Object.values((await db.get(`SHOW ${name}`)) ?? {})[0])
  const [fsync, pages, commit] = [await show('fsync'), await show('full_page_writes'), await show('synchronous_commit')]
  if (fsync !== 'on') findings.push(finding('warning', 'fsync is off: a crash of the machine can damage the database.'))
  if (pages !== 'on')
    findings.push(finding('warning', 'full_page_writes is off: a crash of the machine can damage pages.'))
  findings.push(
    commit === 'off'
      ? finding('warning', 'synchronous_commit is off: the last commits may be lost with the power.')
      : finding('fine', `A commit is durable: fsync = ${fsync}, synchronous_commit = ${commit}.`),
  )
}

/** Nothing here changes an entry. */
export async function repairPostgres(url: string, progress: Progress): Promise<Repair> {
  const db = await connect(url, settings)
  try {
    await db.transaction(async (queries) => {
      for (const sql of pointerRepairs(tableName)) await queries.all(sql)
      await queries.all('DELETE FROM synapse.waiting')
      await queries.all('DELETE FROM synapse.search')
      for await (const rows of pages(queries, progress)) await indexRows(queries, rows)
    })
    await db.maintain('REINDEX SCHEMA synapse')
    return {
      done: [
        'The search index and all other indexes were built again from the log.',
        'Counts and pointers were repaired.',
      ],
    }
  } finally {
    await db.close()
  }
}

async function* pages(db: Queries, progress: Progress): AsyncGenerator<LogRow[]> {
  const { last } = (await db.get<{ last: number | null }>('SELECT max(n) AS last FROM synapse.entries')) ?? { last: 0 }
  for (let after = 0; ;) {
    const rows = await db.all<LogRow>(`${selectLog} WHERE e.n > $1 ORDER BY e.n LIMIT 500`, [after])
    if (rows.length === 0) return
    yield rows
    after = rows.at(-1)?.n ?? after
    progress(after / Number(last))
  }
}
