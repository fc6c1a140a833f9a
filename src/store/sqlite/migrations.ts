// The schema, as an append-only list of migrations: a file of any older version is upgraded by the missing ones, in one
// transaction.
//
// Columns with large values come last in their rows, so that reading the others does not read through them. `parent`,
// `head` and other pointers to entries have no foreign key: entries are only deleted together with their conversation.

export const migrations: readonly string[] = [
  `
  CREATE TABLE conversations (
    n INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    owner TEXT NOT NULL,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL,
    entries INTEGER NOT NULL DEFAULT 0,
    head INTEGER,
    branch TEXT,
    lease_holder TEXT,
    lease_epoch INTEGER NOT NULL DEFAULT 0,
    lease_since INTEGER NOT NULL DEFAULT 0,
    lease_expires INTEGER NOT NULL DEFAULT 0,
    title TEXT,
    settings TEXT NOT NULL
  ) STRICT;
  CREATE INDEX conversations_newest ON conversations (owner, updated_at, id);

  CREATE TABLE labels (
    conversation INTEGER NOT NULL REFERENCES conversations (n) ON DELETE CASCADE,
    label TEXT NOT NULL,
    PRIMARY KEY (conversation, label)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX labels_by_label ON labels (label, conversation);

  CREATE TABLE entries (
    n INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    conversation INTEGER NOT NULL REFERENCES conversations (n) ON DELETE CASCADE,
    parent INTEGER,
    depth INTEGER NOT NULL,
    role TEXT NOT NULL,
    at TEXT NOT NULL,
    documents INTEGER NOT NULL,
    checksum INTEGER NOT NULL,
    message TEXT NOT NULL
  ) STRICT;
  CREATE INDEX entries_by_parent ON entries (conversation, parent);

  CREATE TABLE branches (
    conversation INTEGER NOT NULL REFERENCES conversations (n) ON DELETE CASCADE,
    name TEXT NOT NULL,
    entry INTEGER NOT NULL,
    PRIMARY KEY (conversation, name)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE exchanges (
    n INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    conversation INTEGER NOT NULL REFERENCES conversations (n) ON DELETE CASCADE,
    based_on INTEGER NOT NULL,
    reply INTEGER,
    outcome TEXT NOT NULL,
    provider TEXT NOT NULL,
    protocol TEXT NOT NULL,
    model TEXT NOT NULL,
    body_sha256 TEXT NOT NULL,
    started_at TEXT NOT NULL,
    ended_at TEXT,
    attempts INTEGER NOT NULL,
    cost REAL,
    usage TEXT,
    failure TEXT,
    notes TEXT NOT NULL
  ) STRICT;
  CREATE INDEX exchanges_by_conversation ON exchanges (conversation);
  CREATE INDEX exchanges_open ON exchanges (conversation) WHERE outcome = 'open';

  CREATE TABLE journal (
    n INTEGER PRIMARY KEY,
    exchange INTEGER NOT NULL REFERENCES exchanges (n) ON DELETE CASCADE,
    first INTEGER NOT NULL,
    count INTEGER NOT NULL,
    events TEXT NOT NULL,
    UNIQUE (exchange, first)
  ) STRICT;

  CREATE TABLE tool_runs (
    n INTEGER PRIMARY KEY,
    conversation INTEGER NOT NULL REFERENCES conversations (n) ON DELETE CASCADE,
    call_id TEXT NOT NULL,
    entry INTEGER NOT NULL,
    result INTEGER,
    name TEXT NOT NULL,
    args_sha256 TEXT NOT NULL,
    idempotency_key TEXT NOT NULL,
    repeatable INTEGER NOT NULL,
    starts INTEGER NOT NULL,
    started_at TEXT NOT NULL,
    ended_at TEXT,
    outcome TEXT,
    UNIQUE (conversation, call_id)
  ) STRICT;
  CREATE INDEX tool_runs_open ON tool_runs (conversation) WHERE outcome IS NULL;

  CREATE TABLE overlays (
    n INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    conversation INTEGER NOT NULL REFERENCES conversations (n) ON DELETE CASCADE,
    entry INTEGER NOT NULL,
    kind TEXT NOT NULL,
    undone INTEGER NOT NULL DEFAULT 0,
    at TEXT NOT NULL,
    data TEXT NOT NULL
  ) STRICT;
  CREATE INDEX overlays_by_conversation ON overlays (conversation);

  CREATE TABLE states (
    n INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    conversation INTEGER NOT NULL REFERENCES conversations (n) ON DELETE CASCADE,
    covers INTEGER NOT NULL,
    provider TEXT NOT NULL,
    protocol TEXT NOT NULL,
    kind TEXT NOT NULL,
    ref TEXT NOT NULL,
    expires_at TEXT,
    at TEXT NOT NULL
  ) STRICT;
  CREATE INDEX states_by_conversation ON states (conversation);
  CREATE INDEX states_by_entry ON states (covers, provider, protocol);

  CREATE TABLE blobs (
    n INTEGER PRIMARY KEY,
    sha256 TEXT NOT NULL UNIQUE,
    size INTEGER NOT NULL
  ) STRICT;

  CREATE TABLE pieces (
    n INTEGER PRIMARY KEY,
    sha256 TEXT NOT NULL UNIQUE,
    packed INTEGER NOT NULL,
    data BLOB NOT NULL
  ) STRICT;

  CREATE TABLE blob_pieces (
    blob INTEGER NOT NULL REFERENCES blobs (n) ON DELETE CASCADE,
    i INTEGER NOT NULL,
    piece INTEGER NOT NULL REFERENCES pieces (n),
    PRIMARY KEY (blob, i)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX blob_pieces_by_piece ON blob_pieces (piece);

  CREATE TABLE blob_uses (
    conversation INTEGER NOT NULL REFERENCES conversations (n) ON DELETE CASCADE,
    blob INTEGER NOT NULL REFERENCES blobs (n),
    PRIMARY KEY (conversation, blob)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX blob_uses_by_blob ON blob_uses (blob);

  -- The rows are documents of entries: rowid = 4096 * entries.n + the document's place. The text is not kept again.
  CREATE VIRTUAL TABLE search USING fts5 (
    text, filters, content = '', contentless_delete = 1, tokenize = 'ascii'
  );
  `,
  `
  CREATE TABLE records (
    n INTEGER PRIMARY KEY,
    owner TEXT NOT NULL,
    kind TEXT NOT NULL,
    id TEXT NOT NULL,
    conversation INTEGER REFERENCES conversations (n) ON DELETE CASCADE,
    version INTEGER NOT NULL,
    expires_at TEXT,
    at TEXT NOT NULL,
    data TEXT NOT NULL,
    UNIQUE (owner, kind, id)
  ) STRICT;
  CREATE INDEX records_by_conversation ON records (conversation, kind) WHERE conversation IS NOT NULL;
  CREATE INDEX records_by_end ON records (expires_at) WHERE expires_at IS NOT NULL;

  CREATE TABLE streams (
    n INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    conversation INTEGER NOT NULL REFERENCES conversations (n) ON DELETE CASCADE,
    epoch INTEGER NOT NULL,
    next INTEGER NOT NULL,
    ended_at TEXT
  ) STRICT;
  CREATE INDEX streams_by_conversation ON streams (conversation);
  CREATE INDEX streams_by_end ON streams (ended_at) WHERE ended_at IS NOT NULL;

  CREATE TABLE stream_events (
    n INTEGER PRIMARY KEY,
    stream INTEGER NOT NULL REFERENCES streams (n) ON DELETE CASCADE,
    first INTEGER NOT NULL,
    count INTEGER NOT NULL,
    events TEXT NOT NULL,
    UNIQUE (stream, first)
  ) STRICT;
  `,
  `
  -- Entries are indexed some at a time: those above this number are not in the index yet.
  CREATE TABLE search_upto (n INTEGER NOT NULL) STRICT;
  INSERT INTO search_upto (n) SELECT coalesce(max(n), 0) FROM entries;
  `,
  `
  -- A row while the write-ahead log holds what the file does not: from the first write on, until the file is closed.
  CREATE TABLE IF NOT EXISTS writers (since INTEGER NOT NULL) STRICT;
  -- When the file was opened with such a row and without its log.
  CREATE TABLE IF NOT EXISTS lost_logs (at TEXT NOT NULL) STRICT;
  `,
]
