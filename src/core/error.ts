// One error class with a closed list of kinds. Whether trying again can help follows from the kind alone.

import type { Json } from './json.ts'

export type ErrorKind =
  // what a provider or the way to it can do
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
  // what can go wrong on our side
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

/** What went wrong, as data: it is kept in the log and sent over HTTP. */
export interface Failure {
  kind: ErrorKind
  message: string
  status?: number
  code?: string
  /** How long the provider asks to wait. */
  retryAfterMs?: number
  raw?: Json
}

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

/** The error for a person's mistake: one sentence that says what, where and what to do. */
export function badInput(message: string): SynapseError {
  return new SynapseError({ kind: 'bad-input', message })
}

/** What the stack does not hold is data that somebody has made so. */
export function isTooDeep(error: unknown): boolean {
  return error instanceof RangeError && error.message.includes('call stack')
}

export const tooDeep: Failure = { kind: 'bad-input', message: 'What was given is nested too deeply to be read.' }

/** There is no space left for the store. */
export function isStorageFull(failure: Failure | undefined): boolean {
  return failure?.kind === 'storage' && failure.code === 'full'
}

export function asFailure(error: unknown): Failure {
  if (error instanceof SynapseError) return error.failure
  if (isTooDeep(error)) return tooDeep
  return { kind: 'internal', message: error instanceof Error ? error.message : String(error) }
}
