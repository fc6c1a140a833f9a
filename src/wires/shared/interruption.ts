// The stop reason of an interrupted reply.

import type { Failure } from '../../core/error.ts'
import type { Stop } from '../../core/message.ts'
import type { EndCause } from '../wire.ts'

export interface Outcome {
  stop: Stop
  failure?: Failure
}

/** Without a cause the stream just ended. */
export function stopAfterInterruption(cause: EndCause | undefined): Outcome {
  if (cause?.reason === 'cancelled') return { stop: { reason: 'cancelled' } }
  if (cause) return { stop: { reason: cause.reason }, failure: cause.failure }
  const message = 'The stream ended before the reply did.'
  return { stop: { reason: 'interrupted' }, failure: { kind: 'malformed-reply', message } }
}

/** An error came in the stream. */
export function failedWith(failure: Failure): Outcome {
  return { stop: { reason: 'failed', ...(failure.code !== undefined && { raw: failure.code }) }, failure }
}
