// opencode stores its sessions in a SQLite database. It is opened read-only; sessions are added by its own import.

import { DatabaseSync } from 'node:sqlite'
import { badInput } from '../core/error.ts'
import type { Json, JsonObject } from '../core/json.ts'
import { objectIn } from '../wires/shared/json-fields.ts'

export interface OpencodeRow {
  id: string
  directory: string
  title: string
  created: number
  updated: number
  cost: number
  messages: number
}

/** The sessions of users, without those of sub-agents, most recently changed first. */
export function opencodeSessions(file: string): OpencodeRow[] {
  return withDatabase(file, (db) => {
    const rows = db
      .prepare(
        `SELECT id, directory, title, time_created AS created, time_updated AS updated, cost,
           (SELECT count(*) FROM message WHERE session_id = session.id) AS messages
         FROM session WHERE parent_id IS NULL ORDER BY time_updated DESC`,
      )
      .all()
    return rows.map((row) => ({
      id: String(row['id']),
      directory: String(row['directory']),
      title: String(row['title']),
      created: Number(row['created']),
      updated: Number(row['updated']),
      cost: Number(row['cost']),
      messages: Number(row['messages']),
    }))
  })
}

export function opencodeHas(file: string, id: string): boolean {
  return withDatabase(file, (db) => db.prepare('SELECT 1 FROM session WHERE id = ?').get(id) !== undefined)
}

/** A session as `opencode export` prints it, as a list: first the session, then one message at a time. */
export function* opencodeLinesOf(file: string, id: string): Generator<JsonObject> {
  const db = openReadOnly(file)
  try {
    const session = db.prepare('SELECT * FROM session WHERE id = ?').get(id)
    if (!session) throw badInput(`opencode has no session ${id}.`)
    yield {
      id,
      slug: String(session['slug']),
      projectID: String(session['project_id']),
      directory: String(session['directory']),
      title: String(session['title']),
      version: String(session['version']),
      time: { created: Number(session['time_created']), updated: Number(session['time_updated']) },
      ...(typeof session['revert'] === 'string' && { revert: JSON.parse(session['revert']) as Json }),
    }
    const parts = db.prepare('SELECT id, data FROM part WHERE message_id = ? ORDER BY id')
    const messages = db.prepare('SELECT id, data FROM message WHERE session_id = ? ORDER BY time_created, id')
    for (const row of messages.iterate(id)) {
      const messageID = String(row['id'])
      yield {
        info: { id: messageID, sessionID: id, ...objectOf(row['data']) },
        parts: parts
          .all(messageID)
          .map((part) => ({ id: String(part['id']), sessionID: id, messageID, ...objectOf(part['data']) })),
      }
    }
  } finally {
    db.close()
  }
}

function objectOf(data: unknown): JsonObject {
  const value = typeof data === 'string' ? (JSON.parse(data) as Json) : {}
  return objectIn(value)
}

function withDatabase<T>(file: string, read: (db: DatabaseSync) => T): T {
  const db = openReadOnly(file)
  try {
    return read(db)
  } finally {
    db.close()
  }
}

function openReadOnly(file: string): DatabaseSync {
  return new DatabaseSync(file, { readOnly: true, timeout: 2000 })
}
