// The embedded store against its bare driver: the same messages, the same durability, one table.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { openStore } from '../../src/store/open.ts'
import type { Store } from '../../src/store/store.ts'
import { longHistory } from '../history.ts'
import { timeInTurn } from '../measure.ts'
import type { Row } from '../row.ts'

const owner = 'bench'

export const store: Row = {
  name: 'store',
  about:
    'The SQLite store against `node:sqlite` alone with one table of JSON and the same durability (WAL, `synchronous=FULL`): durable appends, and a conversation loaded whole. Search is by the clock.',

  async run({ quick }) {
    const folder = mkdtempSync(join(tmpdir(), 'synapse-bench-'))
    const ours = await openStore(join(folder, 'ours.db'))
    const raw = rawStore(join(folder, 'raw.db'))
    try {
      const history = longHistory(2000)
      const { id } = await ours.createConversation(owner)
      const entries = await ours.appendAll(
        owner,
        id,
        history.map((message) => ({ message })),
      )
      const head = entries.at(-1)?.id ?? ''
      for (const message of history) raw.append(JSON.stringify(message))
      const other = await ours.createConversation(owner)
      const [message] = history
      if (!message) throw new TypeError('no history')
      const timed = await timeInTurn(
        [
          { name: 'append, raw', run: () => raw.append(JSON.stringify(message)) },
          { name: 'append', run: () => ours.append(owner, other.id, { message }) },
          { name: 'load, raw', run: () => raw.load(history.length) },
          { name: 'load', run: () => ours.history(owner, head) },
        ],
        'wall',
      )
      const ms = (name: string) => timed.find((one) => one.name === name)?.ms ?? Number.NaN
      const searches = await searching(ours, quick ? 5 : 50)
      return {
        tables: [
          {
            head: ['what', 'raw, ms', 'ours / raw'],
            lines: [
              ['append of one message', ms('append, raw').toFixed(3), (ms('append') / ms('append, raw')).toFixed(2)],
              ['load of 2,000 messages', ms('load, raw').toFixed(2), (ms('load') / ms('load, raw')).toFixed(2)],
            ],
          },
          {
            title: `Search over ${searches.messages} messages`,
            head: ['query', 'hits on the first page', 'ms'],
            lines: searches.lines.map(({ query, hits, ms: time }) => [query, hits, time.toFixed(2)]),
          },
        ],
        checks: [
          { what: 'durable append / raw', value: ms('append') / ms('append, raw'), bound: 1.5, excuse: appendExcuse },
          { what: 'load of 2,000 messages / raw', value: ms('load') / ms('load, raw'), bound: 1.5 },
          { what: 'slowest search, ms', value: Math.max(...searches.lines.map((one) => one.ms)), bound: 100 },
        ],
      }
    } finally {
      await ours.close()
      raw.close()
      rmSync(folder, { recursive: true, force: true })
    }
  },
}

const appendExcuse =
  'an append also checks owner and lease, moves the head and writes the search index; on a disk whose sync is cheap that shows'

interface RawStore {
  append(json: string): void
  load(count: number): unknown[]
  close(): void
}

function rawStore(path: string): RawStore {
  const db = new DatabaseSync(path)
  db.exec(
    'PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; CREATE TABLE entries (id INTEGER PRIMARY KEY, message TEXT)',
  )
  const insert = db.prepare('INSERT INTO entries (message) VALUES (?)')
  const select = db.prepare('SELECT message FROM entries ORDER BY id LIMIT ?')
  return {
    append: (json) => void insert.run(json),
    load: (count) => select.all(count).map((row) => JSON.parse(String(row['message'])) as unknown),
    close: () => db.close(),
  }
}

async function searching(
  ours: Store,
  conversations: number,
): Promise<{ messages: number; lines: { query: string; hits: number; ms: number }[] }> {
  const each = longHistory(1000)
  for (let i = 0; i < conversations; i++) {
    const { id } = await ours.createConversation(owner)
    const rare = { role: 'user' as const, parts: [{ type: 'text' as const, text: `needle${i} in the hay` }] }
    await ours.appendAll(
      owner,
      id,
      [...each, rare].map((message) => ({ message })),
    )
  }
  const queries = ['needle3', 'deployment', 'cache overflow', '"never warmed up"', 'need*']
  const lines = []
  for (const query of queries) {
    const page = await ours.search(owner, { text: query })
    const [timed] = await timeInTurn([{ name: query, run: () => ours.search(owner, { text: query }) }], 'wall')
    lines.push({ query, hits: page.items.length, ms: timed?.ms ?? Number.NaN })
  }
  return { messages: 2000 + conversations * (each.length + 1), lines }
}
