// Whether and when to try again: a pure decision. It holds only as long as nothing of the reply has been shown.

import { isRetryable, type Failure } from '../core/error.ts'

export interface RetryPolicy {
  /** How often, after the first attempt. */
  retries: number
  /** The first wait where the provider asks for none; it doubles from attempt to attempt. */
  firstMs: number
  /** The longest such wait. */
  capMs: number
  /** The longest wait that a provider may ask for: beyond it the failure is final. */
  longestMs: number
  /** The most retries to one provider, of all requests to it: 0.2 is a fifth. */
  share: number
  /** Between 0 and 1; shortens waits by up to a quarter, so that many clients do not come back as one. */
  random: () => number
}

export const defaultRetry: RetryPolicy = {
  retries: 2,
  firstMs: 500,
  capMs: 8000,
  longestMs: 60_000,
  share: 0.2,
  random: Math.random,
}

/** How long to wait before the next attempt; undefined: do not. `advised` is what `x-should-retry` says. */
export function retryWait(
  failure: Failure,
  failed: number,
  advised: boolean | undefined,
  policy: RetryPolicy,
): number | undefined {
  if (failed > policy.retries) return undefined
  if (!(advised ?? isRetryable(failure.kind))) return undefined
  if (failure.retryAfterMs !== undefined) {
    return failure.retryAfterMs <= policy.longestMs ? failure.retryAfterMs : undefined
  }
  const wait = Math.min(policy.firstMs * 2 ** (failed - 1), policy.capMs)
  return Math.round(wait * (1 - policy.random() / 4))
}
