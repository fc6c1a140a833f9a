import pg from 'pg'
import { filteredDocuments, searchableOf } from '../../src/store/search/filter-words.ts'
import { openPostgresStore } from '../../src/store/postgres.ts'
import { wordVectors } from '../../src/store/postgres/vectors.ts'
import { prepareEntry } from '../../src/store/new-entry.ts'
import { maxDocuments } from '../../src/store/search/search-text.ts'
import { makePostgres, newDatabase } from '../../test/store/postgres-server.ts'
import { nextId, type Engine, type RawStore } from './engine.ts'
import { archive, each, owner, plainMessages, type Archived } from './messages.ts'

/** `programs`: the folder of the server's programs. A separate server with its default settings. */
export async function postgresEngine(programs: string): Promise<Engine> {
  const server = await makePostgres(programs)
  await server.start()
  return {
    name: 'PostgreSQL',
    searchBound: 300,
    place: () => newDatabase(server.url),
    raw: async () => rawStore(await newDatabase(server.url)),
    fill,
    fillQuickly,
    close: () => server.remove(),
  }
}

async function clientOf(url: string): Promise<pg.Client & AsyncDisposable> {
  const client = new pg.Client(url)
  await client.connect()
  return Object.assign(client, { [Symbol.asyncDispose]: () => client.end() })
}

async function rawStore(url: string): Promise<RawStore> {
  const client = await clientOf(url)
  await client.query(`
    CREATE TABLE conversations (n bigint PRIMARY KEY, id text UNIQUE, owner text, updated_at text, entries int, head bigint);
    CREATE INDEX ON conversations (owner, updated_at, id);
    CREATE TABLE entries (n bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, id text UNIQUE,
      conversation bigint REFERENCES conversations, parent bigint, message text);
    CREATE INDEX ON entries (conversation, parent);
    CREATE TABLE texts (n bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, message text);
    INSERT INTO conversations VALUES (1, 'raw', '${owner}', '', 0, NULL);
  `)
  const append = `
    WITH e AS (
      INSERT INTO entries (id, conversation, parent, message)
      SELECT $1, 1, head, $2 FROM conversations WHERE n = 1 RETURNING n
    )
    UPDATE conversations SET entries = entries + 1, updated_at = $3, head = e.n FROM e WHERE conversations.n = 1`
  return {
    append: (json) =>
      client.query({ name: 'append', text: append, values: [nextId(), json, new Date().toISOString()] }),
    insert: (json) => client.query({ name: 'insert', text: 'INSERT INTO texts (message) VALUES ($1)', values: [json] }),
    async load(count) {
      const text = 'SELECT message FROM entries ORDER BY n LIMIT $1'
      const { rows } = await client.query<{ message: string }>({ name: 'load', text, values: [count] })
      return rows.map(({ message }) => JSON.parse(message) as unknown)
    },
    close: () => client.end(),
  }
}

async function fill(url: string, conversations: number): Promise<void> {
  await (await openPostgresStore(url)).close()
  await using client = await clientOf(url)
  await client.query(`SET synchronous_commit = off; SET maintenance_work_mem = '512MB'`)
  await client.query('DROP INDEX synapse.search_words_idx')
  let batch: Archived[] = []
  let first = 1
  for (const one of archive(conversations)) {
    if (batch.push(one) < 200) continue
    await insert(client, first, batch)
    first += batch.length
    batch = []
  }
  if (batch.length > 0) await insert(client, first, batch)
  await client.query('CREATE INDEX search_words_idx ON synapse.search USING gin (words)')
  for (const table of ['conversations', 'entries']) await sequenceAfter(client, table)
  await client.query('VACUUM ANALYZE')
}

async function insert(client: pg.Client, first: number, batch: readonly Archived[]): Promise<void> {
  const entries = batch.flatMap(({ id, at, messages }, c) =>
    messages.map((message, depth) => {
      const n = (first + c - 1) * each + depth + 1
      return {
        n,
        c: first + c,
        depth,
        conversation: id,
        ...prepareEntry({ id: `entry-${n}`, message, at }, 0),
      }
    }),
  )
  const documents = entries.flatMap(({ n, c, conversation, message }) =>
    filteredDocuments(owner, conversation, searchableOf(message)).map(({ text, filters }, i) => ({
      n: n * maxDocuments + i,
      c,
      text,
      filters,
    })),
  )
  await client.query(
    `INSERT INTO synapse.conversations (n, id, owner, created_at, updated_at, entries, head, title, settings)
     OVERRIDING SYSTEM VALUE SELECT n, id, $1, at, at, ${each}, n * ${each}, title, '{}'
     FROM unnest($2::bigint[], $3::text[], $4::text[], $5::text[]) AS t (n, id, at, title)`,
    [owner, batch.map((_, c) => first + c), column(batch, 'id'), column(batch, 'at'), column(batch, 'title')],
  )
  await client.query(
    `INSERT INTO synapse.entries (n, id, conversation, parent, depth, role, at, checksum, message)
     OVERRIDING SYSTEM VALUE SELECT n, id, c, CASE WHEN depth > 0 THEN n - 1 END, depth, role, at, checksum, message
     FROM unnest($1::bigint[], $2::text[], $3::bigint[], $4::int[], $5::text[], $6::text[], $7::bigint[], $8::text[])
       AS t (n, id, c, depth, role, at, checksum, message)`,
    (['n', 'id', 'c', 'depth', 'role', 'at', 'checksum', 'json'] as const).map((name) => column(entries, name)),
  )
  await client.query(
    `INSERT INTO synapse.search (n, conversation, owner, words) SELECT n, c, $1, words
     FROM unnest($2::bigint[], $3::bigint[], $4::tsvector[]) AS t (n, c, words)`,
    [owner, column(documents, 'n'), column(documents, 'c'), wordVectors(documents)],
  )
}

function column<T, K extends keyof T>(rows: readonly T[], name: K): T[K][] {
  return rows.map((row) => row[name])
}

async function fillQuickly(
  url: string,
  { conversations, messages }: { conversations: number; messages: number },
): Promise<void> {
  await (await openPostgresStore(url)).close()
  await using client = await clientOf(url)
  const [user, reply] = plainMessages.map((message) => prepareEntry({ message }, 0))
  const at = '2026-01-01T00:00:00.000Z'
  await client.query('SET synchronous_commit = off')
  await client.query(
    `INSERT INTO synapse.conversations (n, id, owner, created_at, updated_at, entries, head, title, settings)
     OVERRIDING SYSTEM VALUE
     SELECT i, 'conversation-' || i, $2::text, $3::text, $3::text, $4::bigint, i * $4::bigint, 'About ' || i, '{}'
     FROM generate_series(1, $1::bigint) i`,
    [conversations, owner, at, messages],
  )
  await client.query(
    `INSERT INTO synapse.entries (n, id, conversation, parent, depth, role, at, checksum, message)
     OVERRIDING SYSTEM VALUE
     SELECT n, 'entry-' || n, c, CASE WHEN i > 0 THEN n - 1 END, i, CASE WHEN i % 2 = 0 THEN 'user' ELSE 'assistant' END,
       $3::text, CASE WHEN i % 2 = 0 THEN $4::bigint ELSE $5::bigint END, CASE WHEN i % 2 = 0 THEN $6::text ELSE $7::text END
     FROM (
       SELECT c, i, (c - 1) * $2::bigint + i + 1 AS n
       FROM generate_series(1, $1::bigint) c CROSS JOIN generate_series(0, $2::bigint - 1) i
     ) places`,
    [conversations, messages, at, user?.checksum, reply?.checksum, user?.json, reply?.json],
  )
  for (const table of ['conversations', 'entries']) await sequenceAfter(client, table)
  await client.query('VACUUM ANALYZE')
}

/** The next number is one that is free. */
async function sequenceAfter(client: pg.Client, table: string): Promise<void> {
  await client.query(
    `SELECT setval(pg_get_serial_sequence('synapse.${table}', 'n'), (SELECT max(n) FROM synapse.${table}))`,
  )
}
