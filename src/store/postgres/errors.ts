// Errors of PostgreSQL and the connection to it, as one sentence for the user. The address is shown without its
// password.

import { SynapseError } from '../../core/error.ts'

export function storageError(code: string, message: string, cause?: unknown): SynapseError {
  return new SynapseError({ kind: 'storage', code, message }, cause === undefined ? {} : { cause })
}

/** There is no server to connect to. */
export function unreachable(error: unknown, address: string): SynapseError {
  const words = error instanceof Error && error.message !== '' ? error.message : (codeOf(error) ?? 'no answer')
  return storageError('unavailable', `PostgreSQL at ${address} cannot be reached (${words}).`, error)
}

/** Our own errors are passed on. `inDoubt`: a change was sent, and its outcome is unknown. */
export function fromPostgres(error: unknown, address: string, inDoubt = false): unknown {
  if (error instanceof SynapseError || !(error instanceof Error)) return error
  const code = codeOf(error) ?? ''
  const words = error.message
  if (isLost(error)) {
    const saved = inDoubt
      ? 'Whether the last change was saved is not known: read again before repeating it.'
      : 'Nothing was changed.'
    return storageError('unavailable', `${unreachable(error, address).message} ${saved}`, error)
  }
  if (code === '53100') {
    return storageError(
      'full',
      `There is no space left on PostgreSQL at ${address}. Nothing of the last change was saved; free some space and continue.`,
      error,
    )
  }
  if (isCancelled(error)) {
    return storageError('timeout', `PostgreSQL at ${address} took too long and was stopped: ${words}.`, error)
  }
  if (code === '25006')
    return storageError('read-only', `PostgreSQL at ${address} accepts no writes (${words}).`, error)
  if (code.startsWith('28') || code === '3D000' || code === '42501') {
    return storageError(
      'cannot-open',
      `PostgreSQL at ${address} refused the connection or statement: ${words}. Check the address, the user and its permissions.`,
      error,
    )
  }
  if (code.startsWith('XX'))
    return storageError('damaged', `The database at ${address} is damaged (${words}). Restore a backup.`, error)
  if (/^[0-9A-Z]{5}$/.test(code)) return storageError('failed', `PostgreSQL at ${address} failed: ${words}.`, error)
  return error
}

/** Errors of pg about a connection without a code; the last one if it broke between two statements. */
const lostWords = /Connection terminated|timeout exceeded when trying to connect|timeout expired|is not queryable/

/** A server that accepts no writes yet: it follows another one, and may be about to replace it. */
export function isStandby(): Error {
  return Object.assign(new Error('it is a standby that accepts no writes'), { code: cannotConnectNow })
}

const cannotConnectNow = '57P03'

/**
 * The connection broke, or there was none. 25P03: the server aborted a transaction whose client was silent; 53300: it
 * has no connection left, as when all clients reconnect at once.
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

/** Nothing was refused; no answer arrived in time. */
export function isTimeout(error: unknown): boolean {
  return codeOf(error) === undefined || codeOf(error) === 'ETIMEDOUT'
}

/** Another transaction interfered and nothing was done: the whole transaction may be retried. */
export function mayRetry(error: unknown): boolean {
  const code = codeOf(error)
  // 23503, 23502: a blob or a piece of one was deleted with its last reference while this transaction began to use it.
  return code === '40001' || code === '40P01' || code === '23503' || code === '23502'
}

/** A statement that exceeded its time limit. */
export function isCancelled(error: unknown): boolean {
  return codeOf(error) === '57014'
}

/** A text with a NUL, which PostgreSQL neither stores nor looks for: every other text is sent as UTF-8. */
export function isNulInText(error: unknown): boolean {
  return codeOf(error) === '22021'
}

export function isUniqueViolation(error: unknown): boolean {
  return codeOf(error) === '23505'
}

function codeOf(error: unknown): string | undefined {
  if (error instanceof SynapseError) return codeOf(error.cause)
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined
}
