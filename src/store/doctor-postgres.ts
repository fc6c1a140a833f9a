// The checkup of a PostgreSQL store. Pages and checksums of the file are the server's own affair; what is looked at is
// what it cannot know: whether the log is whole, whether the index fits it, and whether a commit is durable.

import { crc32 } from 'node:zlib'
import type { Message } from '../core/message.ts'
import { counted, finding, type Finding, type Mended, type Progress } from './doctor.ts'
import { pointerChecks, pointerRepairs } from './doctor-pointers.ts'
import { documentFilters } from './filter-words.ts'
import { connect, type Database, type Queries } from './postgres/database.ts'
import { migrations } from './postgres/migrations.ts'
import { wordVector } from './postgres/words.ts'
import { documentsOf, maxDocuments } from './search-text.ts'

const settings = { now: Date.now, leaseSkewMs: () => 0, connections: 2 }
const of = (table: string): string => `synapse.${table}`

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
  for (const { one, many, level, sql } of pointerChecks(of)) {
    const rows = (await db.plan<Record<string, unknown>>(sql)).map((row) => String(Object.values(row)[0]))
    if (rows.length === 0) continue
    wrong++
    findings.push(finding(level, `${counted(rows.length, one, many)}.`, rows))
  }
  if (wrong === 0)
    findings.push(finding('fine', 'Parents, heads, branches and everything beside the log lead somewhere.'))
}

interface LogRow {
  n: number
  id: string
  conversation_id: string
  owner: string
  checksum: number
  message: string
}

async function checkLog(db: Database, findings: Finding[], progress: Progress): Promise<void> {
  const damaged: string[] = []
  const unindexed: string[] = []
  let entries = 0
  let documents = 0
  for await (const rows of pages(db, progress)) {
    const indexed = await db.plan<{ n: number; fits: boolean }>(
      `SELECT s.n, s.words = d.words::tsvector AS fits FROM unnest($1::bigint[], $2::text[]) AS d (n, words)
       JOIN synapse.search s ON s.n = d.n`,
      vectorsOf(rows),
    )
    const fitting = new Set(indexed.filter(({ fits }) => fits).map(({ n }) => n))
    for (const row of rows) {
      entries++
      if (crc32(row.message) !== row.checksum) {
        damaged.push(row.id)
        continue
      }
      const own = documentsOf(JSON.parse(row.message) as Message)
      documents += own.length
      if (!own.every((_, i) => fitting.has(row.n * maxDocuments + i))) unindexed.push(row.id)
    }
  }
  findings.push(
    damaged.length === 0
      ? finding('fine', `${counted(entries, 'entry', 'entries')}, each as it was written.`)
      : finding('broken', `${counted(damaged.length, 'entry', 'entries')} not as written.`, damaged),
  )
  const { n: found } = (await db.get<{ n: number }>('SELECT count(*) AS n FROM synapse.search')) ?? { n: 0 }
  if (unindexed.length > 0) {
    const what = counted(unindexed.length, 'entry', 'entries')
    findings.push(finding('stale', `${what} cannot be found by the search, or not by all words.`, unindexed))
  }
  findings.push(
    found === documents
      ? finding('fine', `The search index holds the ${counted(found, 'document')} of the log.`)
      : finding('stale', `The search index holds ${counted(found, 'document')}, the log ${documents}.`),
  )
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

/** Nothing here touches an entry. */
export async function mendPostgres(url: string, progress: Progress): Promise<Mended> {
  const db = await connect(url, settings)
  try {
    await db.transaction(async (queries) => {
      for (const sql of pointerRepairs(of)) await queries.all(sql)
      await queries.all('DELETE FROM synapse.search')
      for await (const rows of pages(queries, progress)) {
        await queries.all(
          `INSERT INTO synapse.search (n, conversation, owner, words)
           SELECT d.n, e.conversation, c.owner, d.words::tsvector
           FROM unnest($1::bigint[], $2::text[]) AS d (n, words)
           JOIN synapse.entries e ON e.n = d.n / ${maxDocuments} JOIN synapse.conversations c ON c.n = e.conversation`,
          vectorsOf(rows),
        )
      }
    })
    await db.plan('REINDEX SCHEMA synapse')
    return {
      done: [
        'The search index and all other indexes were built anew from the log.',
        'Counts and pointers were put right.',
      ],
    }
  } finally {
    await db.close()
  }
}

async function* pages(db: Queries, progress: Progress): AsyncGenerator<LogRow[]> {
  const { last } = (await db.get<{ last: number | null }>('SELECT max(n) AS last FROM synapse.entries')) ?? { last: 0 }
  for (let after = 0; ;) {
    const rows = await db.all<LogRow>(
      `SELECT e.n, e.id, c.id AS conversation_id, c.owner, e.checksum, e.message
       FROM synapse.entries e JOIN synapse.conversations c ON c.n = e.conversation
       WHERE e.n > $1 ORDER BY e.n LIMIT 500`,
      [after],
    )
    if (rows.length === 0) return
    yield rows
    after = rows.at(-1)?.n ?? after
    progress(after / Number(last))
  }
}

/** The number and the words of every document of these entries, as the index has them. */
function vectorsOf(rows: readonly LogRow[]): [number[], string[]] {
  const [numbers, vectors]: [number[], string[]] = [[], []]
  for (const { n, conversation_id, owner, checksum, message: text } of rows) {
    if (crc32(text) !== checksum) continue
    const message = JSON.parse(text) as Message
    const provider = message.role === 'assistant' ? message.origin.provider : undefined
    for (const [i, document] of documentsOf(message).entries()) {
      numbers.push(n * maxDocuments + i)
      vectors.push(wordVector(document.text, documentFilters(owner, conversation_id, provider, document)))
    }
  }
  return [numbers, vectors]
}
