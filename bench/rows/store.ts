// Our store against the bare driver of its database, for SQLite and, where the programs of a server are found,
// PostgreSQL; then what must not grow with the archive: a page of the list, a search, the opening of the store.

import { closeSync, fdatasyncSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openStore } from '../../src/store/open.ts'
import type { Store } from '../../src/store/store.ts'
import { findPostgres } from '../../test/store/postgres-server.ts'
import { longHistory } from '../history.ts'
import { median, timeInTurn } from '../measure.ts'
import type { Check, Row, Table } from '../row.ts'
import type { Engine } from '../store/engine.ts'
import { each, owner, queries } from '../store/messages.ts'
import { postgresEngine } from '../store/postgres.ts'
import { sqliteEngine } from '../store/sqlite.ts'

export const store: Row = {
  name: 'store',
  about:
    'The store against the bare driver of its database (`node:sqlite`, `pg`) with a log by hand: tables with the keys and indexes that a tree of messages and a list of conversations need, statements prepared once, and the same durability (WAL and `synchronous=FULL`, where ours syncs the log in another thread after the commit; `fsync` and `synchronous_commit` on). It writes a message as the next entry and moves the head (on PostgreSQL in one statement), and selects and parses 2,000 messages. Ours checks owner, lease and head, copies the message, keeps its checksum and what is searched, and gives messages with their places, each checked against its checksum. For comparison, the least that a driver can write at all: a text into a table of numbers and texts. Then a large archive, written in bulk: what must not grow with it.',

  async run({ quick }) {
    const programs = findPostgres()
    const makers = [sqliteEngine, ...(programs === undefined ? [] : [() => postgresEngine(programs)])]
    const tables: Table[] = []
    const checks: Check[] = []
    for (const make of makers) {
      const engine = await make()
      try {
        for (const measured of [await againstDriver(engine), await archived(engine, 1000, quick ? 4000 : 100_000)]) {
          tables.push(...measured.tables)
          checks.push(...measured.checks)
        }
      } finally {
        await engine.close()
      }
    }
    const remarks = programs === undefined ? ['PostgreSQL was not measured: its programs are not on this machine.'] : []
    return { tables, checks, remarks }
  },
}

const appendExcuse =
  'ours looks up the conversation, its lease and its head, checks and copies the message and keeps what is searched, which is a tenth of a millisecond of work compared with a sync of twice that; on PostgreSQL it is also a transaction of several statements, which records its own id so that a commit whose answer is lost can be looked up, against one statement'

const loadExcuse = 'every message comes with its id, time and place, and is checked against its checksum'

interface Measured {
  tables: Table[]
  checks: Check[]
}

async function againstDriver(engine: Engine): Promise<Measured> {
  const ours = await openStore(await engine.place('ours'))
  const raw = await engine.raw()
  const sync = syncedFile()
  try {
    const history = longHistory(2000)
    const texts = history.map((message) => JSON.stringify(message))
    const head = (await appendAll(ours, history)).at(-1)?.id ?? ''
    for (const text of texts) await raw.append(text)
    const { id } = await ours.createConversation(owner)
    let turn = 0
    const next = () => history[++turn % 4] ?? { role: 'user', parts: [] }
    const crowds = await Promise.all(Array.from({ length: 16 }, () => ours.createConversation(owner)))
    const appended = await timeInTurn(
      [
        { name: 'sync', run: () => sync.append(JSON.stringify(next())) },
        { name: 'insert', run: () => raw.insert(JSON.stringify(next())) },
        { name: 'append, raw', run: () => raw.append(JSON.stringify(next())) },
        { name: 'append', run: () => ours.append(owner, id, { message: next() }) },
        {
          name: 'crowd',
          run: () => Promise.all(crowds.map((crowd) => ours.append(owner, crowd.id, { message: next() }))),
        },
      ],
      'wall',
      500,
    )
    const loaded = await timeInTurn(
      [
        { name: 'load, raw', run: () => raw.load(history.length) },
        { name: 'load', run: () => ours.history(owner, head) },
      ],
      'wall',
    )
    const ms = (name: string) => [...appended, ...loaded].find((one) => one.name === name)?.ms ?? Number.NaN
    const over = (name: string, one: string, times = 1) => (ms(name) / times / ms(one)).toFixed(2)
    const append = ms('append') / ms('append, raw')
    const load = ms('load') / ms('load, raw')
    return {
      tables: [
        {
          title: `${engine.name} against its driver`,
          head: [
            'what',
            'raw, ms',
            'ours / raw',
            'ours / an insert into one table',
            'ours / one write and `fdatasync`',
          ],
          lines: [
            [
              'append',
              ms('append, raw').toFixed(3),
              ...['append, raw', 'insert', 'sync'].map((one) => over('append', one)),
            ],
            [
              'append, 16 conversations at once, each',
              ms('append, raw').toFixed(3),
              ...['append, raw', 'insert', 'sync'].map((one) => over('crowd', one, 16)),
            ],
            ['load of 2,000 messages', ms('load, raw').toFixed(2), over('load', 'load, raw'), '', ''],
          ],
        },
      ],
      checks: [
        { what: `${engine.name}: durable append / raw`, value: append, bound: 1.5, excuse: appendExcuse },
        { what: `${engine.name}: load of 2,000 messages / raw`, value: load, bound: 1.5, excuse: loadExcuse },
      ],
    }
  } finally {
    await ours.close()
    await raw.close()
    sync.remove()
  }
}

async function appendAll(ours: Store, history: ReturnType<typeof longHistory>): ReturnType<Store['appendAll']> {
  const { id } = await ours.createConversation(owner)
  return ours.appendAll(
    owner,
    id,
    history.map((message) => ({ message })),
  )
}

function syncedFile(): { append(text: string): void; remove(): void } {
  const folder = mkdtempSync(join(tmpdir(), 'synapse-bench-'))
  const file = openSync(join(folder, 'file'), 'a')
  return {
    append(text) {
      writeSync(file, text)
      fdatasyncSync(file)
    },
    remove() {
      closeSync(file)
      rmSync(folder, { recursive: true })
    },
  }
}

async function archived(engine: Engine, fewer: number, conversations: number): Promise<Measured> {
  const few = await engine.place('few')
  const many = await engine.place('many')
  await engine.fill(few, fewer)
  await engine.fill(many, conversations)
  const opened = await opening(few, many)
  const [small, large] = [await openStore(few), await openStore(many)]
  try {
    const listed = await listing([small, fewer], [large, conversations])
    const searched = await searching(large)
    const count = (n: number) => n.toLocaleString('en')
    return {
      tables: [
        {
          title: `${engine.name}, ${count(conversations)} conversations against ${count(fewer)}`,
          head: ['what', 'few, ms', 'many / few'],
          lines: [...opened, ...listed].map(({ what, ms, ratio }) => [what, ms.toFixed(2), ratio.toFixed(2)]),
        },
        {
          title: `${engine.name}, search over ${count(conversations * each)} messages`,
          head: ['query', 'how common', 'hits on the first page', 'first time, ms', 'ms'],
          lines: searched.map(({ kind, about, hits, first, ms }) => [
            kind,
            about,
            hits,
            first.toFixed(1),
            ms.toFixed(1),
          ]),
        },
      ],
      checks: [
        ...[...opened, ...listed].map(({ what, ratio }) => ({
          what: `${engine.name}: ${what}, many / few`,
          value: ratio,
          bound: 1.5,
        })),
        {
          what: `${engine.name}: slowest search, ms`,
          value: Math.max(...searched.map(({ ms }) => ms)),
          bound: engine.searchBound,
        },
      ],
    }
  } finally {
    await small.close()
    await large.close()
  }
}

interface Grown {
  what: string
  ms: number
  ratio: number
}

async function opening(few: string, many: string): Promise<Grown[]> {
  const times = new Map<string, number[]>([few, many].map((place) => [place, []]))
  for (let round = 0; round < 15; round++) {
    for (const [place, samples] of times) {
      const start = performance.now()
      const opened = await openStore(place)
      await opened.conversations(owner, { limit: 1 })
      samples.push(performance.now() - start)
      await opened.close()
    }
  }
  const ms = median(times.get(few) ?? [])
  return [{ what: 'opening the store', ms, ratio: median(times.get(many) ?? []) / ms }]
}

async function listing([small, fewer]: [Store, number], [large, more]: [Store, number]): Promise<Grown[]> {
  const [inSmall, inLarge] = [await middle(small, fewer), await middle(large, more)]
  const timed = await timeInTurn(
    [
      { name: 'first, few', run: () => small.conversations(owner) },
      { name: 'first, many', run: () => large.conversations(owner) },
      { name: 'deep, few', run: () => small.conversations(owner, inSmall) },
      { name: 'deep, many', run: () => large.conversations(owner, inLarge) },
    ],
    'wall',
  )
  const [a = 0, b = 0, c = 0, d = 0] = timed.map(({ ms }) => ms ?? Number.NaN)
  return [
    { what: 'the first page of the list', ms: a, ratio: b / a },
    { what: 'a page in the middle of the list', ms: c, ratio: d / c },
  ]
}

async function middle(store: Store, conversations: number): Promise<{ cursor?: string }> {
  let at: { cursor?: string } = {}
  for (let passed = 0; passed < conversations / 2; passed += 500) {
    const { next } = await store.conversations(owner, { ...at, limit: 500 })
    at = next === undefined ? {} : { cursor: next }
  }
  return at
}

async function searching(
  ours: Store,
): Promise<{ kind: string; about: string; hits: number; first: number; ms: number }[]> {
  const lines = []
  for (const { kind, about, text } of queries) {
    const start = performance.now()
    const page = await ours.search(owner, { text })
    const first = performance.now() - start
    const [timed] = await timeInTurn([{ name: kind, run: () => ours.search(owner, { text }) }], 'wall')
    lines.push({ kind, about, hits: page.items.length, first, ms: timed?.ms ?? Number.NaN })
  }
  return lines
}
