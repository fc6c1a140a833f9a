// The ids of calls that clients get in place of ours. They are derived from ours, so they are the same in every answer,
// and a call can be found by the id that a client sends back.

import { hash } from 'node:crypto'
import type { WireService } from '../../wires/service.ts'

/** Calls are stored under this key, which is part of each id for clients. */
export function callKey(callId: string): string {
  return hash('sha256', callId).slice(0, 24)
}

export function clientCallId({ door }: Pick<WireService, 'door'>, callId: string): string {
  const key = callKey(callId)
  return door?.callId?.(key) ?? `call_${key}`
}

/** Undefined: the id is not one of ours, or too short to identify a call. */
export function keyIn(clientId: string): string | undefined {
  return /^(?:toolu_|call_)([0-9a-f]{24})$/.exec(clientId)?.[1]
}

/** The ids under which clients may know a call, whatever their API. */
export function clientIdsOf({ callId, alias }: { callId: string; alias?: string }): string[] {
  const key = callKey(callId)
  return [`call_${key}`, `toolu_${key}`, key.slice(0, 9), ...(alias === undefined ? [] : [alias])]
}
