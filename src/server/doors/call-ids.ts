// The ids of calls that clients get in place of ours. They are derived from ours, so they are the same in every answer,
// and a call can be found by the id that a client sends back.

import { hash } from 'node:crypto'
import type { ToolCallPart } from '../../core/message.ts'
import type { WireService } from '../../wires/service.ts'

/** Calls are stored under this key, which is part of each id for clients. */
function callKey(callId: string): string {
  return hash('sha256', callId).slice(0, 24)
}

export function clientCallId({ door }: Pick<WireService, 'door'>, callId: string): string {
  const key = callKey(callId)
  return door?.callId?.(key) ?? `call_${key}`
}

/** Undefined: the id does not identify a call: it is too short, or of a form that providers repeat. */
export function keyIn(clientId: string): string | undefined {
  const [, id, own] = /^((?:toolu_|call_)(?:([0-9a-f]{24})|\w{20,100}))$/.exec(clientId) ?? []
  return own ?? (id === undefined ? undefined : callKey(id))
}

/** The keys of a call: of our id, and of the provider's if the client has that one. */
export function callKeys({ callId, alias = '' }: Pick<ToolCallPart, 'callId' | 'alias'>, isPassed: boolean): string[] {
  const passed = isPassed ? keyIn(alias) : undefined
  return [callKey(callId), ...(passed === undefined ? [] : [passed])]
}

/** The ids under which clients may know a call, whatever their API. */
export function clientIdsOf({ callId, alias }: { callId: string; alias?: string }): string[] {
  const key = callKey(callId)
  return [`call_${key}`, `toolu_${key}`, key.slice(0, 9), ...(alias === undefined ? [] : [alias])]
}
