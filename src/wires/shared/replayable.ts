// Whether a reply may go back to its provider in the provider's own words: for the whole reply or not at all.

import type { Reply, Stop } from '../../core/message.ts'
import type { Target } from '../wire.ts'

/** Made on this wire by this provider, and intact. Wires with more conditions add them. */
export function isReplayable(reply: Reply, protocol: string, target: Pick<Target, 'provider'>): boolean {
  const { origin } = reply
  return origin.protocol === protocol && origin.provider === target.provider && isIntact(reply)
}

/** All its parts became part of the provider's own words; those of a reply that was cut off may not have. */
export function isIntact({ native, parts, stop }: Reply): boolean {
  if (native.length === 0) return false
  return !isInterrupted(stop) || parts.every((part) => 'from' in part && part.from !== undefined)
}

/** The reply did not come to an end of its own. */
export function isInterrupted({ reason }: Pick<Stop, 'reason'>): boolean {
  return reason === 'interrupted' || reason === 'cancelled' || reason === 'failed'
}
