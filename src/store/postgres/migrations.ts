// The schema on PostgreSQL, as a list of migrations: append-only, each run in one transaction under a lock. Everything
// is in its own schema, and every statement names it, so that a connection pooler cannot interfere. Times and JSON are
// stored as text, exactly as written; text sorts by its bytes, as in SQLite.

export const migrations: readonly string[] = [
  `
  CREATE TABLE synapse.conversations (
    n bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id text COLLATE "C" NOT NULL UNIQUE,
    owner text COLLATE "C" NOT NULL,
    created_at text COLLATE "C" NOT NULL,
    updated_at text COLLATE "C" NOT NULL,
    entries integer NOT NULL DEFAULT 0,
    head bigint,
    branch text COLLATE "C",
    lease_holder text,
    lease_epoch bigint NOT NULL DEFAULT 0,
    lease_since bigint NOT NULL DEFAULT 0,
    lease_expires bigint NOT NULL DEFAULT 0,
    title text,
    settings text NOT NULL
  );
  CREATE INDEX ON synapse.conversations (owner, updated_at, id);

  CREATE TABLE synapse.labels (
    conversation bigint NOT NULL REFERENCES synapse.conversations (n) ON DELETE CASCADE,
    label text COLLATE "C" NOT NULL,
    PRIMARY KEY (conversation, label)
  );
  CREATE INDEX ON synapse.labels (label, conversation);

  CREATE TABLE synapse.entries (
    n bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id text COLLATE "C" NOT NULL UNIQUE,
    conversation bigint NOT NULL REFERENCES synapse.conversations (n) ON DELETE CASCADE,
    parent bigint,
    depth integer NOT NULL,
    role text NOT NULL,
    at text COLLATE "C" NOT NULL,
    checksum bigint NOT NULL,
    message text NOT NULL
  );
  CREATE INDEX ON synapse.entries (conversation, parent);

  CREATE TABLE synapse.branches (
    conversation bigint NOT NULL REFERENCES synapse.conversations (n) ON DELETE CASCADE,
    name text COLLATE "C" NOT NULL,
    entry bigint NOT NULL,
    PRIMARY KEY (conversation, name)
  );

  CREATE TABLE synapse.exchanges (
    n bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id text COLLATE "C" NOT NULL UNIQUE,
    conversation bigint NOT NULL REFERENCES synapse.conversations (n) ON DELETE CASCADE,
    based_on bigint NOT NULL,
    reply bigint,
    outcome text NOT NULL,
    provider text NOT NULL,
    protocol text NOT NULL,
    model text NOT NULL,
    body_sha256 text NOT NULL,
    started_at text NOT NULL,
    ended_at text,
    attempts integer NOT NULL,
    cost double precision,
    usage text,
    tokens double precision[],
    failure text,
    notes text NOT NULL
  );
  CREATE INDEX ON synapse.exchanges (conversation, n);
  CREATE INDEX ON synapse.exchanges (conversation) WHERE outcome = 'open';

  CREATE TABLE synapse.journal (
    exchange bigint NOT NULL REFERENCES synapse.exchanges (n) ON DELETE CASCADE,
    first integer NOT NULL,
    count integer NOT NULL,
    events text NOT NULL,
    PRIMARY KEY (exchange, first)
  );

  CREATE TABLE synapse.tool_runs (
    n bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    conversation bigint NOT NULL REFERENCES synapse.conversations (n) ON DELETE CASCADE,
    call_id text NOT NULL,
    entry bigint NOT NULL,
    result bigint,
    name text NOT NULL,
    args_sha256 text NOT NULL,
    idempotency_key text NOT NULL,
    repeatable boolean NOT NULL,
    starts integer NOT NULL,
    started_at text NOT NULL,
    ended_at text,
    outcome text,
    UNIQUE (conversation, call_id)
  );
  CREATE INDEX ON synapse.tool_runs (conversation) WHERE outcome IS NULL;

  CREATE TABLE synapse.overlays (
    n bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id text COLLATE "C" NOT NULL UNIQUE,
    conversation bigint NOT NULL REFERENCES synapse.conversations (n) ON DELETE CASCADE,
    entry bigint NOT NULL,
    kind text NOT NULL,
    undone boolean NOT NULL DEFAULT false,
    at text NOT NULL,
    data text NOT NULL
  );
  CREATE INDEX ON synapse.overlays (conversation);

  CREATE TABLE synapse.states (
    n bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id text COLLATE "C" NOT NULL UNIQUE,
    conversation bigint NOT NULL REFERENCES synapse.conversations (n) ON DELETE CASCADE,
    covers bigint NOT NULL,
    provider text NOT NULL,
    protocol text NOT NULL,
    kind text NOT NULL,
    ref text NOT NULL,
    expires_at text COLLATE "C",
    at text NOT NULL
  );
  CREATE INDEX ON synapse.states (conversation);
  CREATE INDEX ON synapse.states (covers, provider, protocol);

  CREATE TABLE synapse.blobs (
    n bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    sha256 text NOT NULL UNIQUE,
    size integer NOT NULL
  );

  CREATE TABLE synapse.pieces (
    n bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    sha256 text NOT NULL UNIQUE,
    packed boolean NOT NULL,
    data bytea NOT NULL
  );
  ALTER TABLE synapse.pieces ALTER COLUMN data SET STORAGE EXTERNAL;

  CREATE TABLE synapse.blob_pieces (
    blob bigint NOT NULL REFERENCES synapse.blobs (n) ON DELETE CASCADE,
    i integer NOT NULL,
    piece bigint NOT NULL REFERENCES synapse.pieces (n),
    PRIMARY KEY (blob, i)
  );
  CREATE INDEX ON synapse.blob_pieces (piece);

  CREATE TABLE synapse.blob_uses (
    conversation bigint NOT NULL REFERENCES synapse.conversations (n) ON DELETE CASCADE,
    blob bigint NOT NULL REFERENCES synapse.blobs (n),
    PRIMARY KEY (conversation, blob)
  );
  CREATE INDEX ON synapse.blob_uses (blob);

  -- A row is a document of an entry: n = 4096 * entries.n + the document's place. The text itself is not kept again.
  CREATE TABLE synapse.search (
    n bigint PRIMARY KEY,
    conversation bigint NOT NULL REFERENCES synapse.conversations (n) ON DELETE CASCADE,
    owner text COLLATE "C" NOT NULL,
    words tsvector NOT NULL
  );
  CREATE INDEX ON synapse.search (conversation);
  CREATE INDEX ON synapse.search (owner, n);
  CREATE INDEX ON synapse.search USING gin (words);
  `,
  `
  CREATE TABLE synapse.records (
    n bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    owner text COLLATE "C" NOT NULL,
    kind text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    conversation bigint REFERENCES synapse.conversations (n) ON DELETE CASCADE,
    version integer NOT NULL,
    expires_at text COLLATE "C",
    at text NOT NULL,
    data text NOT NULL,
    UNIQUE (owner, kind, id)
  );
  CREATE INDEX ON synapse.records (owner, kind, n);
  CREATE INDEX ON synapse.records (conversation, kind) WHERE conversation IS NOT NULL;
  CREATE INDEX ON synapse.records (expires_at) WHERE expires_at IS NOT NULL;

  CREATE TABLE synapse.streams (
    n bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id text COLLATE "C" NOT NULL UNIQUE,
    conversation bigint NOT NULL REFERENCES synapse.conversations (n) ON DELETE CASCADE,
    epoch integer NOT NULL,
    next integer NOT NULL,
    ended_at text COLLATE "C"
  );
  CREATE INDEX ON synapse.streams (conversation);
  CREATE INDEX ON synapse.streams (ended_at) WHERE ended_at IS NOT NULL;

  CREATE TABLE synapse.stream_events (
    stream bigint NOT NULL REFERENCES synapse.streams (n) ON DELETE CASCADE,
    first integer NOT NULL,
    count integer NOT NULL,
    events text NOT NULL,
    PRIMARY KEY (stream, first)
  );
  `,
  `
  -- Entries that are not in the search index yet. Neither key nor index: they are few, come and go with every message,
  -- and one whose conversation was deleted is left for the process that takes it.
  CREATE TABLE synapse.waiting (entry bigint NOT NULL);
  `,
  `
  -- A row for each transaction of the last minutes, by which it is known that it was committed. Where its answer was
  -- lost, the caller writes the row itself (claimed), and the transaction cannot be committed after that.
  CREATE TABLE synapse.commits (
    id uuid PRIMARY KEY,
    claimed boolean NOT NULL DEFAULT false,
    at timestamptz NOT NULL DEFAULT now()
  );
  `,
]
