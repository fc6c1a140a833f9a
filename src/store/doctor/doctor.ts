// A checkup of a store: whether the log is intact, whether derived data matches it, and whether the settings guarantee
// durability. It reads and changes nothing. `--repair` rebuilds what can be derived from the log; a damaged file is
// never repaired in place: everything readable is written to a copy, and the file is not changed.

import { isPostgres } from '../open.ts'
import { badInput } from '../../core/error.ts'

export interface Finding {
  /** `broken`: the log itself. `stale`: something derived from the log. */
  level: 'fine' | 'warning' | 'stale' | 'broken'
  /** One sentence. */
  what: string
  /** Some ids or messages of the database. */
  examples?: string[]
}

export interface Report {
  place: string
  findings: Finding[]
}

export interface Repair {
  /** What was done, one sentence each. */
  done: string[]
  /** The file with everything readable, if the store itself is damaged. */
  copy?: string
}

/** Called from time to time with the progress, from 0 to 1. */
export type Progress = (share: number) => void

/** `place` is a file, or the address of a PostgreSQL. */
export async function examine(place: string, progress: Progress = () => {}): Promise<Report> {
  if (isPostgres(place)) {
    const { examinePostgres } = await import('./postgres.ts')
    return { place: withoutPassword(place), findings: await examinePostgres(place, progress) }
  }
  const { examineSqlite } = await import('./sqlite.ts')
  return { place, findings: await examineSqlite(place, progress) }
}

export async function repair(
  place: string,
  findings: readonly Finding[],
  progress: Progress = () => {},
): Promise<Repair> {
  if (isPostgres(place)) {
    const { repairPostgres } = await import('./postgres.ts')
    return repairPostgres(place, progress)
  }
  if (findings.some(({ level }) => level === 'broken')) {
    const { salvage } = await import('./salvage.ts')
    return salvage(place, progress)
  }
  const { repairSqlite } = await import('./sqlite.ts')
  return repairSqlite(place, progress)
}

function withoutPassword(url: string): string {
  try {
    const parsed = new URL(url)
    parsed.password = ''
    return parsed.href
  } catch {
    throw badInput('This is not a PostgreSQL address. Write it as postgres://user@host:5432/database.')
  }
}

export function finding(level: Finding['level'], what: string, examples: readonly string[] = []): Finding {
  return { level, what, ...(examples.length > 0 && { examples: examples.slice(0, 5) }) }
}

/** `3 entries`, `1 entry`. */
export function counted(count: number, singular: string, plural = `${singular}s`): string {
  return `${count} ${count === 1 ? singular : plural}`
}

/** `indexed` and `expected`: documents; `waiting`: entries that are not indexed yet. */
export function indexFinding(indexed: number, expected: number, waiting: number): Finding {
  if (indexed !== expected)
    return finding('stale', `The search index has ${counted(indexed, 'document')}, the log ${expected}.`)
  const backlog = waiting === 0 ? '' : `; ${counted(waiting, 'entry waits', 'entries wait')} to be indexed`
  return finding('fine', `The search index has the ${counted(indexed, 'document')} of the log${backlog}.`)
}
