// Dangling pointers between rows. Most pointers have no foreign key (see the migrations), so the database does not
// check them. The statements are the same for SQLite and PostgreSQL, except for the schema before a table name.

export interface PointerCheck {
  /** What is wrong, for `counted`. */
  one: string
  many: string
  level: 'broken' | 'stale'
  /** Selects an id for each such row. */
  sql: string
}

/** `of`: the table's name with its schema. */
export function pointerChecks(of: (table: string) => string): PointerCheck[] {
  return [...treeChecks(of), ...rowChecks(of)]
}

/** The rows of a table whose `column` is the number of a missing entry. */
function gone(of: (table: string) => string, table: string, column: string, condition = ''): string {
  return `FROM ${of(table)} t WHERE t.${column} IS NOT NULL ${condition}
     AND NOT EXISTS (SELECT 1 FROM ${of('entries')} e WHERE e.n = t.${column} AND e.conversation = t.conversation)`
}

/** Entries, and what points to them from their conversation. */
function treeChecks(of: (table: string) => string): PointerCheck[] {
  return [
    {
      one: 'entry whose parent is missing',
      many: 'entries whose parent is missing',
      level: 'broken',
      sql: `SELECT t.id ${gone(of, 'entries', 'parent')}`,
    },
    {
      one: 'entry at the wrong depth',
      many: 'entries at the wrong depth',
      level: 'broken',
      sql: `SELECT e.id FROM ${of('entries')} e LEFT JOIN ${of('entries')} p ON p.n = e.parent
            WHERE (e.parent IS NULL AND e.depth <> 0) OR e.depth <> p.depth + 1`,
    },
    {
      one: 'entry that is older than its parent',
      many: 'entries that are older than their parents',
      level: 'broken',
      sql: `SELECT e.id FROM ${of('entries')} e WHERE e.parent >= e.n`,
    },
    {
      one: 'entry without a conversation',
      many: 'entries without a conversation',
      level: 'broken',
      sql: `SELECT e.id FROM ${of('entries')} e
            WHERE NOT EXISTS (SELECT 1 FROM ${of('conversations')} c WHERE c.n = e.conversation)`,
    },
    {
      one: 'conversation whose head is missing',
      many: 'conversations whose heads are missing',
      level: 'stale',
      sql: `SELECT c.id FROM ${of('conversations')} c WHERE c.head IS NOT NULL
            AND NOT EXISTS (SELECT 1 FROM ${of('entries')} e WHERE e.n = c.head AND e.conversation = c.n)`,
    },
    {
      one: 'conversation with a wrong count of entries',
      many: 'conversations with a wrong count of entries',
      level: 'stale',
      sql: `SELECT c.id FROM ${of('conversations')} c
            WHERE c.entries <> (SELECT count(*) FROM ${of('entries')} e WHERE e.conversation = c.n)`,
    },
  ]
}

function rowChecks(of: (table: string) => string): PointerCheck[] {
  return [
    {
      one: 'named branch that leads nowhere',
      many: 'named branches that lead nowhere',
      level: 'stale',
      sql: `SELECT t.name ${gone(of, 'branches', 'entry')}`,
    },
    {
      one: 'exchange without the entry it was made from',
      many: 'exchanges without the entries they were made from',
      level: 'stale',
      sql: `SELECT t.id ${gone(of, 'exchanges', 'based_on')}`,
    },
    {
      one: 'exchange whose reply is missing',
      many: 'exchanges whose replies are missing',
      level: 'stale',
      sql: `SELECT t.id ${gone(of, 'exchanges', 'reply')}`,
    },
    {
      one: 'tool run without its call',
      many: 'tool runs without their calls',
      level: 'stale',
      sql: `SELECT t.call_id ${gone(of, 'tool_runs', 'entry')}`,
    },
    {
      one: 'tool run whose result is missing',
      many: 'tool runs whose results are missing',
      level: 'stale',
      sql: `SELECT t.call_id ${gone(of, 'tool_runs', 'result')}`,
    },
    {
      one: 'overlay at an entry that is missing',
      many: 'overlays at entries that are missing',
      level: 'stale',
      sql: `SELECT t.id ${gone(of, 'overlays', 'entry')}`,
    },
    {
      one: 'provider state of an entry that is missing',
      many: 'provider states of entries that are missing',
      level: 'stale',
      sql: `SELECT t.id ${gone(of, 'states', 'covers')}`,
    },
    {
      one: 'unused blob',
      many: 'unused blobs',
      level: 'stale',
      sql: `SELECT b.sha256 FROM ${of('blobs')} b
            WHERE NOT EXISTS (SELECT 1 FROM ${of('blob_uses')} u WHERE u.blob = b.n)`,
    },
    {
      one: 'piece that belongs to no blob',
      many: 'pieces that belong to no blob',
      level: 'stale',
      sql: `SELECT p.sha256 FROM ${of('pieces')} p
            WHERE NOT EXISTS (SELECT 1 FROM ${of('blob_pieces')} b WHERE b.piece = p.n)`,
    },
  ]
}

/** The statements that repair stale data: nothing in them changes an entry. */
export function pointerRepairs(of: (table: string) => string): string[] {
  const missing = (column: string) =>
    `${column} IS NOT NULL AND NOT EXISTS (SELECT 1 FROM ${of('entries')} e WHERE e.n = ${column})`
  return [
    `DELETE FROM ${of('branches')} WHERE ${missing('entry')}`,
    `DELETE FROM ${of('exchanges')} WHERE ${missing('based_on')}`,
    `UPDATE ${of('exchanges')} SET reply = NULL WHERE ${missing('reply')}`,
    `DELETE FROM ${of('tool_runs')} WHERE ${missing('entry')}`,
    `UPDATE ${of('tool_runs')} SET result = NULL WHERE ${missing('result')}`,
    `DELETE FROM ${of('overlays')} WHERE ${missing('entry')}`,
    `DELETE FROM ${of('states')} WHERE ${missing('covers')}`,
    `UPDATE ${of('conversations')} SET branch = NULL,
       head = (SELECT max(e.n) FROM ${of('entries')} e WHERE e.conversation = ${of('conversations')}.n)
     WHERE ${missing('head')}`,
    `UPDATE ${of('conversations')} SET
       entries = (SELECT count(*) FROM ${of('entries')} e WHERE e.conversation = ${of('conversations')}.n)`,
    `DELETE FROM ${of('blobs')} WHERE NOT EXISTS (SELECT 1 FROM ${of('blob_uses')} u WHERE u.blob = ${of('blobs')}.n)`,
    `DELETE FROM ${of('pieces')}
     WHERE NOT EXISTS (SELECT 1 FROM ${of('blob_pieces')} b WHERE b.piece = ${of('pieces')}.n)`,
  ]
}
