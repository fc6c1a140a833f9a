// What the two ways of writing a reply share: whether its native items can be sent, and the form of its calls.

import type { Note, ToolKind } from '../../core/context.ts'
import { isObject, type Json } from '../../core/json.ts'
import type { Reply, ToolCallPart } from '../../core/message.ts'
import { cleanJson } from '../shared/clean-json.ts'
import type { Target } from '../wire.ts'
import { malformedInput } from '../shared/injected-text.ts'
import { marksOf } from './read-reply.ts'
import { messageItem, protocolId, type Item } from './types.ts'
import { isReplayable } from '../shared/replayable.ts'

export interface ReplyScope {
  target: Target
  notes: Note[]
  toWire(name: string): string
  /** The wire id of a call. */
  id(callId: string): string
  /** The kind of a declared tool: `function` by default; undefined: not declared. */
  toolKind(name: string): ToolKind | 'function' | undefined
  /** The namespace of a declared tool. */
  namespaceOf(name: string): string | undefined
  /** Calls and results are written as text: the server refuses them, or the model does not support tools. */
  flat: boolean
  /** Whether an item with this id is already in the request: none may be there twice (R13). */
  isUsed(id: string): boolean
  /** Whether an item of the history answers this call of a tool without a form here. */
  isAnswered(key: string): boolean
  /** Whether such a call is sent. */
  isAsked(key: string): boolean
  /** The call as it was written. */
  callOf(callId: string): WrittenCall | undefined
}

/** A call on the wire; one that wraps several (R22) is answered once for all of them. */
export interface WrittenCall {
  callIds: string[]
  names: string[]
  id: string
  /** A tool that is not a function has its own output type. */
  kind?: ToolKind
  /** The program that made the call; its output must name it too. */
  caller?: Json
}

export interface WrittenReply {
  items: Item[]
  calls: WrittenCall[]
  /** Ids of items that are in the request now. */
  usedIds?: string[]
  /** Calls of tools without a form here that are in the request now. */
  asked?: string[]
}

/** Whether the native items may be sent back. An interrupted reply may have parts that never became items. */
export function isReplayed(reply: Reply, target: Target, flat: boolean): boolean {
  if (!isReplayable(reply, protocolId, target)) return false
  if (!reply.native.every((item) => isObject(item))) return false
  return !flat || !reply.parts.some((part) => part.type === 'tool-call')
}

/** The calls of a reply that the provider stores itself: there its own ids apply, whatever their form. */
export function chainedCalls(reply: Reply): WrittenCall[] {
  if (reply.origin.protocol !== protocolId) return []
  return groupedCalls(reply).flatMap((parts) => {
    const id = parts[0]?.alias
    if (!id) return []
    const item = reply.native[parts[0]?.from ?? -1]
    return [writeCall(parts, id, isObject(item) ? item : {})]
  })
}

/** The call parts of a reply, grouped by item. */
export function groupedCalls(reply: Reply): ToolCallPart[][] {
  const groups: ToolCallPart[][] = []
  for (const part of reply.parts) {
    if (part.type !== 'tool-call') continue
    const last = groups.at(-1)
    if (last && part.from !== undefined && last[0]?.from === part.from) last.push(part)
    else groups.push([part])
  }
  return groups
}

export function writeCall(parts: readonly ToolCallPart[], id: string, item: Item): WrittenCall {
  const caller = item.caller
  const { kind } = marksOf(item)
  return {
    callIds: parts.map((part) => part.callId),
    names: parts.map((part) => part.name),
    id,
    ...(kind && { kind }),
    ...(isObject(caller) && { caller }),
  }
}

/** OpenAI accepts any text as arguments; many servers of this wire parse them and refuse every later request (C19). */
export function soundArguments(raw: string, scope: ReplyScope, at: string): string {
  scope.notes.push({
    kind: 'changed',
    what: 'arguments that are no JSON object',
    why: 'servers refuse them; the raw text is sent inside an object',
    at,
    rule: 'C19',
  })
  return JSON.stringify(cleanJson(malformedInput(raw), at, scope.notes))
}

export function assistantText(text: string): Item {
  return messageItem('assistant', text)
}
