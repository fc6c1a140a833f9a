// Whether a reply may be sent back to its provider unchanged: for the whole reply or not at all.

import type { Reply, Stop } from '../../core/message.ts'
import type { Target } from '../wire.ts'
import { holdsToken } from './sealed-token.ts'

/** From this wire and this provider, and intact. Wires with more conditions add them. */
export function isReplayable(reply: Reply, protocol: string, target: Pick<Target, 'provider'>): boolean {
  const { origin } = reply
  return origin.protocol === protocol && origin.provider === target.provider && isIntact(reply)
}

/**
 * All its parts are in the provider's original data, and none was added by a server of ours; an interrupted reply may
 * lack some.
 */
export function isIntact({ native, parts, stop }: Reply): boolean {
  if (native.length === 0 || holdsToken(native)) return false
  return !isInterrupted(stop) || parts.every((part) => 'from' in part && part.from !== undefined)
}

/** The reply was cut off. */
export function isInterrupted({ reason }: Pick<Stop, 'reason'>): boolean {
  return reason === 'interrupted' || reason === 'cancelled' || reason === 'failed'
}
