// Dangling pointers between rows. Most pointers have no foreign key (see the migrations), so the database does not
// check them. The statements are the same for SQLite and PostgreSQL, except for the schema before a table name.

export interface PointerCheck {
  /** What is wrong, for `counted`. */
  singular: string
  plural: string
  level: 'broken' | 'stale'
  /** Selects an id for each such row. */
  sql: string
}

/** The name of a table with its schema. */
type TableName = (table: string) => string

/** Columns with the number of an entry. A row whose entry is missing is deleted, or its column becomes null. */
const entryPointers = [
  {
    table: 'branches',
    column: 'entry',
    id: 'name',
    repair: 'delete',
    text: ['named branch that leads nowhere', 'named branches that lead nowhere'],
  },
  {
    table: 'exchanges',
    column: 'based_on',
    id: 'id',
    repair: 'delete',
    text: ['exchange without the entry it was made from', 'exchanges without the entries they were made from'],
  },
  {
    table: 'exchanges',
    column: 'reply',
    id: 'id',
    repair: 'null',
    text: ['exchange whose reply is missing', 'exchanges whose replies are missing'],
  },
  {
    table: 'tool_runs',
    column: 'entry',
    id: 'call_id',
    repair: 'delete',
    text: ['tool run without its call', 'tool runs without their calls'],
  },
  {
    table: 'tool_runs',
    column: 'result',
    id: 'call_id',
    repair: 'null',
    text: ['tool run whose result is missing', 'tool runs whose results are missing'],
  },
  {
    table: 'overlays',
    column: 'entry',
    id: 'id',
    repair: 'delete',
    text: ['overlay at an entry that is missing', 'overlays at entries that are missing'],
  },
  {
    table: 'states',
    column: 'covers',
    id: 'id',
    repair: 'delete',
    text: ['provider state of an entry that is missing', 'provider states of entries that are missing'],
  },
] as const

export function pointerChecks(tableName: TableName): PointerCheck[] {
  const check = (level: PointerCheck['level'], singular: string, plural: string, sql: string) => ({
    level,
    singular,
    plural,
    sql,
  })
  const missingEntry = (table: string, column: string, id: string): string =>
    `SELECT t.${id} FROM ${tableName(table)} t WHERE t.${column} IS NOT NULL
     AND NOT EXISTS (SELECT 1 FROM ${tableName('entries')} e WHERE e.n = t.${column} AND e.conversation = t.conversation)`
  return [
    check(
      'broken',
      'entry whose parent is missing',
      'entries whose parent is missing',
      missingEntry('entries', 'parent', 'id'),
    ),
    check(
      'broken',
      'entry at the wrong depth',
      'entries at the wrong depth',
      `SELECT e.id FROM ${tableName('entries')} e LEFT JOIN ${tableName('entries')} p ON p.n = e.parent
       WHERE (e.parent IS NULL AND e.depth <> 0) OR e.depth <> p.depth + 1`,
    ),
    check(
      'broken',
      'entry that is older than its parent',
      'entries that are older than their parents',
      `SELECT e.id FROM ${tableName('entries')} e WHERE e.parent >= e.n`,
    ),
    check(
      'broken',
      'entry without a conversation',
      'entries without a conversation',
      `SELECT e.id FROM ${tableName('entries')} e
       WHERE NOT EXISTS (SELECT 1 FROM ${tableName('conversations')} c WHERE c.n = e.conversation)`,
    ),
    check(
      'stale',
      'conversation whose head is missing',
      'conversations whose heads are missing',
      `SELECT c.id FROM ${tableName('conversations')} c WHERE c.head IS NOT NULL
       AND NOT EXISTS (SELECT 1 FROM ${tableName('entries')} e WHERE e.n = c.head AND e.conversation = c.n)`,
    ),
    check(
      'stale',
      'conversation with a wrong count of entries',
      'conversations with a wrong count of entries',
      `SELECT c.id FROM ${tableName('conversations')} c
       WHERE c.entries <> (SELECT count(*) FROM ${tableName('entries')} e WHERE e.conversation = c.n)`,
    ),
    ...entryPointers.map(({ table, column, id, text: [singular, plural] }) =>
      check('stale', singular, plural, missingEntry(table, column, id)),
    ),
    check(
      'stale',
      'unused blob',
      'unused blobs',
      `SELECT b.sha256 FROM ${tableName('blobs')} b
       WHERE NOT EXISTS (SELECT 1 FROM ${tableName('blob_uses')} u WHERE u.blob = b.n)`,
    ),
    check(
      'stale',
      'piece that belongs to no blob',
      'pieces that belong to no blob',
      `SELECT p.sha256 FROM ${tableName('pieces')} p
       WHERE NOT EXISTS (SELECT 1 FROM ${tableName('blob_pieces')} b WHERE b.piece = p.n)`,
    ),
  ]
}

/** The statements that repair stale data: nothing in them changes an entry. */
export function pointerRepairs(tableName: TableName): string[] {
  const missing = (column: string) =>
    `${column} IS NOT NULL AND NOT EXISTS (SELECT 1 FROM ${tableName('entries')} e WHERE e.n = ${column})`
  return [
    ...entryPointers.map(({ table, column, repair }) =>
      repair === 'delete'
        ? `DELETE FROM ${tableName(table)} WHERE ${missing(column)}`
        : `UPDATE ${tableName(table)} SET ${column} = NULL WHERE ${missing(column)}`,
    ),
    `UPDATE ${tableName('conversations')} SET branch = NULL,
       head = (SELECT max(e.n) FROM ${tableName('entries')} e WHERE e.conversation = ${tableName('conversations')}.n)
     WHERE ${missing('head')}`,
    `UPDATE ${tableName('conversations')} SET
       entries = (SELECT count(*) FROM ${tableName('entries')} e WHERE e.conversation = ${tableName('conversations')}.n)`,
    `DELETE FROM ${tableName('blobs')} WHERE NOT EXISTS (SELECT 1 FROM ${tableName('blob_uses')} u WHERE u.blob = ${tableName('blobs')}.n)`,
    `DELETE FROM ${tableName('pieces')}
     WHERE NOT EXISTS (SELECT 1 FROM ${tableName('blob_pieces')} b WHERE b.piece = ${tableName('pieces')}.n)`,
  ]
}
