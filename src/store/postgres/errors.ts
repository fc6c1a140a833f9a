// What PostgreSQL and the way to it say, as one sentence for a person. The address is shown without its password.

import { SynapseError } from '../../core/error.ts'

export function storageError(code: string, message: string, cause?: unknown): SynapseError {
  return new SynapseError({ kind: 'storage', code, message }, cause === undefined ? {} : { cause })
}

/** That there is no server to talk to. */
export function unreachable(error: unknown, place: string): SynapseError {
  const words = error instanceof Error && error.message !== '' ? error.message : (codeOf(error) ?? 'no answer')
  return storageError('unavailable', `PostgreSQL at ${place} cannot be reached (${words}).`, error)
}

/** Errors of our own pass through as they are. `inDoubt`: a change was sent, and no one knows what became of it. */
export function fromPostgres(error: unknown, place: string, inDoubt = false): unknown {
  if (error instanceof SynapseError || !(error instanceof Error)) return error
  const code = codeOf(error) ?? ''
  const words = error.message
  if (isLost(error)) {
    const saved = inDoubt
      ? 'Whether the last change was saved is not known: read again before repeating it.'
      : 'Nothing was changed.'
    return storageError('unavailable', `${unreachable(error, place).message} ${saved}`, error)
  }
  if (code === '53100') {
    return storageError(
      'full',
      `There is no space left on PostgreSQL at ${place}. Nothing of the last change was saved; free some space and continue.`,
      error,
    )
  }
  if (isCancelled(error)) {
    return storageError('timeout', `PostgreSQL at ${place} took too long and was stopped: ${words}.`, error)
  }
  if (code === '25006') return storageError('read-only', `PostgreSQL at ${place} takes no writes (${words}).`, error)
  if (code.startsWith('28') || code === '3D000' || code === '42501') {
    return storageError(
      'cannot-open',
      `PostgreSQL at ${place} refuses: ${words}. Check the address, the user and its rights.`,
      error,
    )
  }
  if (code.startsWith('XX'))
    return storageError('damaged', `The database at ${place} is damaged (${words}). Restore a backup.`, error)
  if (/^[0-9A-Z]{5}$/.test(code)) return storageError('failed', `PostgreSQL at ${place} failed: ${words}.`, error)
  return error
}

/** What pg says of a connection without a code; the last one where it broke between two statements. */
const lostWords = /Connection terminated|timeout exceeded when trying to connect|timeout expired|is not queryable/

/** A server that takes no writes yet: it follows another one, and may be about to take its place. */
export function isStandby(): Error {
  return Object.assign(new Error('it is a standby that takes no writes'), { code: cannotConnectNow })
}

const cannotConnectNow = '57P03'

/**
 * The connection broke, or there was none. 25P03: the server gave up a transaction whose client said nothing more; 53300:
 * it has no connection left, as when everybody comes back at once.
 */
export function isLost(error: unknown): boolean {
  const code = codeOf(error) ?? ''
  if (
    /^(08|57P0|25P03|53300)/.test(code) ||
    /^(ECONN|ENOTFOUND|ENOENT|EPIPE|ETIMEDOUT|EAI_AGAIN|EHOSTUNREACH|EACCES)/.test(code)
  )
    return true
  return error instanceof Error && lostWords.test(error.message)
}

/** Nothing was refused; no answer came in time. */
export function isTimeout(error: unknown): boolean {
  return codeOf(error) === undefined || codeOf(error) === 'ETIMEDOUT'
}

/** Another transaction got in the way and nothing was done: the whole transaction may be tried again. */
export function mayRetry(error: unknown): boolean {
  const code = codeOf(error)
  // 23503: a blob was deleted with its last user while this transaction began to use it.
  return code === '40001' || code === '40P01' || code === '23503'
}

/** A statement that took longer than it may. */
export function isCancelled(error: unknown): boolean {
  return codeOf(error) === '57014'
}

export function isUniqueViolation(error: unknown): boolean {
  return codeOf(error) === '23505'
}

function codeOf(error: unknown): string | undefined {
  if (error instanceof SynapseError) return codeOf(error.cause)
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined
}
