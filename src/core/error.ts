// One error class with a closed list of kinds. Whether a retry can help depends only on the kind.

import type { Json } from './json.ts'

export type ErrorKind =
  // failures of a provider or the connection to it
  | 'auth'
  | 'permission'
  | 'quota'
  | 'rate-limit'
  | 'overloaded'
  | 'context-overflow'
  | 'too-large'
  | 'invalid-request'
  | 'not-found'
  | 'state-lost'
  | 'refused'
  | 'timeout'
  | 'network'
  | 'malformed-reply'
  // failures on our side
  | 'aborted'
  | 'bad-input'
  | 'conflict'
  | 'storage'
  | 'limit'
  | 'internal'

const retryableKinds: ReadonlySet<ErrorKind> = new Set([
  'rate-limit',
  'overloaded',
  'timeout',
  'network',
  'malformed-reply',
])

/** What went wrong, as data: it is stored in the log and sent over HTTP. */
export interface Failure {
  kind: ErrorKind
  message: string
  status?: number
  code?: string
  /** The field of the request that is wrong. */
  param?: string
  /** How long the provider asks to wait. */
  retryAfterMs?: number
  raw?: Json
}

/**
 * Every error that Synapse throws: `kind` says what it is, `retryable` whether trying again can help.
 *
 * @example
 * await chat.send('Hello').text().catch((error) => {
 *   if (error instanceof SynapseError && error.kind === 'rate-limit') console.log(error.failure.retryAfterMs)
 * })
 */
export class SynapseError extends Error {
  override readonly name = 'SynapseError'
  readonly failure: Failure

  constructor(failure: Failure, options?: { cause?: unknown }) {
    super(failure.message, options)
    this.failure = failure
  }

  get kind(): ErrorKind {
    return this.failure.kind
  }

  get retryable(): boolean {
    return isRetryable(this.failure.kind)
  }
}

export function isRetryable(kind: ErrorKind): boolean {
  return retryableKinds.has(kind)
}

/** The error for a user's mistake: one sentence that says what is wrong, where, and what to do. */
export function badInput(message: string): SynapseError {
  return new SynapseError({ kind: 'bad-input', message })
}

/** JSON that is nested too deeply for the stack. */
export function isTooDeep(error: unknown): boolean {
  return error instanceof RangeError && error.message.includes('call stack')
}

export const tooDeep: Failure = { kind: 'bad-input', message: 'The input is nested too deeply.' }

/** There is no space left for the store. */
export function isStorageFull(failure: Failure | undefined): boolean {
  return failure?.kind === 'storage' && failure.code === 'full'
}

export function asFailure(error: unknown): Failure {
  if (error instanceof SynapseError) return error.failure
  if (isTooDeep(error)) return tooDeep
  return { kind: 'internal', message: errorMessage(error) }
}

/** The message of anything that was thrown. */
export function errorMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
