// The calls of a streamed message, from fragments to parts, for wires that stream them in a list: a part starts as soon
// as the name of its tool has arrived.

import type { JsonObject } from '../../core/json.ts'
import type { ToolCallPart } from '../../core/message.ts'
import type { CallFragments, GatheredCall } from './call-fragments.ts'
import { endPart, growPart, startPart, toolName, type Decoding, readArguments } from './decoding.ts'

interface OpenCall {
  index: number
  callId: string
}

export interface OpenCalls extends Decoding {
  readonly opened: Map<GatheredCall, OpenCall>
}

export function openCall(state: OpenCalls, call: GatheredCall): OpenCall {
  const callId = state.nextCallId(call.id)
  const index = startPart(state, { ...callHead(state, call, callId), input: {} })
  state.opened.set(call, { index, callId })
  if (call.length > 0 && call.type !== 'custom') growPart(state, index, call.pieces.join(''))
  return { index, callId }
}

export function callHead(state: Decoding, call: GatheredCall, callId: string): Omit<ToolCallPart, 'input'> {
  const alias = call.id !== undefined && { alias: call.id }
  const kind = call.type === 'custom' && { kind: 'free-form' as const }
  return { type: 'tool-call', callId, ...alias, name: toolName(state, call.name), ...kind }
}

/**
 * All calls in the order of their parts, by which each is found again when it is sent back: a name may arrive late, or
 * never.
 */
export function callsInOrder({ opened }: Pick<OpenCalls, 'opened'>, fragments: CallFragments): GatheredCall[] {
  return [...new Set([...opened.keys(), ...fragments.calls()])]
}

/** Ends these calls; the `native` ones are in the native message. */
export function endCalls(state: OpenCalls, calls: readonly GatheredCall[], native: ReadonlySet<GatheredCall>): void {
  for (const call of calls) {
    endCall(state, call, native.has(call), state.opened.get(call) ?? openCall(state, call))
  }
}

/** Ends a call; `isNative`: it is in the native message. */
function endCall(state: OpenCalls, call: GatheredCall, isNative: boolean, open: OpenCall): void {
  const input = call.object ? { input: call.object } : readArguments(call.pieces.join(''))
  endPart(state, open.index, { ...callHead(state, call, open.callId), ...input, ...(isNative && { from: 0 }) })
}

/** The call in the message, unchanged. */
export function nativeCall(call: GatheredCall, more: JsonObject = {}): JsonObject {
  const { id, type, name, object, pieces, rest, innerRest } = call
  return {
    ...(id !== undefined && { id }),
    ...(type !== undefined && { type }),
    function: { name, ...innerRest, arguments: object ?? pieces.join('') },
    ...more,
    ...rest,
  }
}
