// Detects a missing write-ahead log that had changes: it was deleted after a crash, or the file was copied without it.
// SQLite opens such a file in its earlier state, without an error. So the file itself is marked as being written to:
// with the first write of a process in the same commit, checkpointed into the file at once, and cleared when the file
// is closed. A process that closes the file while others use it also clears their mark; their next write sets it again.

import { existsSync } from 'node:fs'
import type { Connection } from './connection.ts'

/** What is known before a file is opened. */
export interface BeforeOpening {
  at: number
  hasLog: boolean
}

export function beforeOpening(path: string): BeforeOpening {
  return { at: Date.now(), hasLog: existsSync(logOf(path)) }
}

function logOf(path: string): string {
  return `${path}-wal`
}

/** Inside a transaction. Whether the mark was missing. */
export function markWriting(db: Connection): boolean {
  if (db.get('SELECT since FROM writers') !== undefined) return false
  db.run('INSERT INTO writers (since) VALUES (?)', Date.now())
  return true
}

export function clearMark(db: Connection): void {
  if (db.get('SELECT since FROM writers') !== undefined) db.run('DELETE FROM writers')
}

/** A mark of a process that started after `at` does not count: it has created its log since. */
export function isLogLost({ at, hasLog }: BeforeOpening, since: number | undefined): boolean {
  return !hasLog && since !== undefined && since < at
}

/** Records it in the file, and returns a sentence about it, if the log was lost. */
export function noticeLostLog(db: Connection, before: BeforeOpening): string | undefined {
  if (!isLogLost(before, db.get<{ since: number }>('SELECT since FROM writers')?.since)) return undefined
  db.transaction(() => {
    db.run('INSERT INTO lost_logs (at) VALUES (?)', new Date(before.at).toISOString())
    db.run('UPDATE writers SET since = ?', before.at)
  })
  return lostLogSentence(db.path)
}

export function lostLogSentence(path: string): string {
  return `${path} was being written to, and its write-ahead log ${logOf(path)} is gone: the last changes may be missing. If you have the log, close Synapse, restore both files together from a backup, and open it again.`
}
