// Whether and when to retry: a pure decision. It applies only as long as nothing of the reply has been shown.

import { isRetryable, type Failure } from '../core/error.ts'

export interface RetryPolicy {
  /** How many retries after the first attempt. */
  retries: number
  /** The first delay if the provider does not name one; it doubles from attempt to attempt. */
  firstMs: number
  /** The longest such delay. */
  capMs: number
  /** The longest delay that a provider may ask for: above it the failure is final. */
  longestMs: number
  /** The largest share of retries among all requests to one provider: 0.2 is a fifth. */
  share: number
  /** Between 0 and 1; shortens delays by up to a quarter, so that many clients do not return at the same moment. */
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

/** The delay before the next attempt; undefined: do not retry. `advised` is the value of `x-should-retry`. */
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
