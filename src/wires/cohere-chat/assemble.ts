// Builds the assistant message from a stream's events: our parts as they arrive, and at the end the message in Cohere's
// own form.

import { isObject, type Json, type JsonObject } from '../../core/json.ts'
import type { OpaquePart, ReasoningPart, TextPart } from '../../core/message.ts'
import { callFragments, type CallFragments, type GatheredCall } from '../shared/call-fragments.ts'
import { endPart, growPart, startPart, type Decoding } from '../shared/decoding.ts'
import { textIn } from '../shared/json-fields.ts'
import { endCall, nativeCall, openCall, type OpenCalls } from '../shared/open-calls.ts'
import { protocolId } from './types.ts'

/** The plan, or a block of content. */
interface Growing {
  kind: 'plan' | 'text' | 'thinking' | 'other'
  fields: JsonObject
  pieces: string[]
  citations: Json[]
  part?: number
  ended: boolean
}

/** The message so far. */
export interface Assembly extends OpenCalls {
  readonly fragments: CallFragments
  readonly endedCalls: Set<GatheredCall>
  readonly blocks: Growing[]
  readonly citations: Json[]
  fields: JsonObject
  plan: Growing | undefined
  open: Growing | undefined
}

export function assembling(state: Decoding): Assembly {
  return {
    ...state,
    opened: new Map(),
    fragments: callFragments(),
    endedCalls: new Set(),
    blocks: [],
    citations: [],
    fields: {},
    plan: undefined,
    open: undefined,
  }
}

const eventFields: ReadonlySet<string> = new Set(['content', 'tool_plan', 'tool_calls', 'citations'])

/** Fields of the message without their own events. */
export function beginMessage(message: Assembly, begun: JsonObject): void {
  const own = Object.entries(begun).filter(([field]) => !eventFields.has(field))
  message.fields = Object.fromEntries(own)
}

export function addPlan(message: Assembly, text: string): void {
  if (text === '') return
  if (!message.plan) {
    closeContent(message)
    message.plan = { kind: 'plan', fields: {}, pieces: [], citations: [], ended: false }
    message.open = message.plan
  }
  grow(message, message.plan, text)
}

export function startContent(message: Assembly, block: JsonObject): Growing {
  closeContent(message)
  const { type } = block
  const kind = type === 'text' || type === 'thinking' ? type : 'other'
  const growing: Growing = { kind, fields: block, pieces: [], citations: [], ended: false }
  message.open = growing
  message.blocks.push(growing)
  if (kind !== 'other') grow(message, growing, textIn(block[kind]))
  return growing
}

export function addContent(message: Assembly, delta: JsonObject): void {
  const kind = typeof delta.thinking === 'string' ? 'thinking' : 'text'
  const { open } = message
  const block = !open || open.kind === 'plan' ? startContent(message, { type: kind, [kind]: '' }) : open
  if (block.kind === 'text' || block.kind === 'thinking') grow(message, block, textIn(delta[block.kind]))
  else block.fields = { ...block.fields, ...delta }
}

export function addCitation(message: Assembly, citation: Json): void {
  message.citations.push(citation)
  if (message.open?.kind === 'text') message.open.citations.push(citation)
}

export function addCall(message: Assembly, fragment: JsonObject, index: Json | undefined): void {
  const { call, text } = message.fragments.push({ ...fragment, ...(typeof index === 'number' && { index }) })
  const known = message.opened.get(call)
  if (known && text !== '') growPart(message, known.index, text)
  else if (!known && call.name !== '') beginCall(message, call)
}

export function markCallEnd(message: Assembly, index: Json | undefined): void {
  const call = message.fragments.calls().find((one) => one.index === index)
  if (call) message.endedCalls.add(call)
}

/** `whole`: the reply is complete; otherwise open parts are left out of the native message. */
export function endMessage(message: Assembly, whole: boolean): { native: JsonObject[]; calls: number } {
  const { opened, fragments, endedCalls } = message
  closeContent(message, whole)
  // In the order of their parts, by which each is found again when it is sent back.
  const calls = [...new Set([...opened.keys(), ...fragments.calls()])]
  const complete = whole ? calls : calls.filter((call) => endedCalls.has(call))
  for (const call of calls)
    endCall(message, call, complete.includes(call), opened.get(call) ?? beginCall(message, call))
  return { native: nativeMessage(message, whole, complete), calls: calls.length }
}

function nativeMessage(message: Assembly, whole: boolean, calls: readonly GatheredCall[]): JsonObject[] {
  const blocks = message.blocks.filter(hasEnded)
  const plan = message.plan && hasEnded(message.plan) ? message.plan.pieces.join('') : ''
  if (!whole && blocks.length === 0 && calls.length === 0 && plan === '') return []
  const native: JsonObject = {
    role: 'assistant',
    ...message.fields,
    ...(blocks.length > 0 && { content: blocks.map(nativeBlock) }),
    ...(plan !== '' && { tool_plan: plan }),
    ...(calls.length > 0 && { tool_calls: calls.map((call) => nativeCall(call)) }),
    ...(message.citations.length > 0 && { citations: [...message.citations] }),
  }
  return [native]
}

function grow(message: Assembly, growing: Growing, text: string): void {
  if (text === '') return
  growing.part ??= startPart(message, partOf(growing, ''))
  growing.pieces.push(text)
  growPart(message, growing.part, text)
}

/** Ends open parts. Interrupted thinking is not sent back, text is. */
export function closeContent(message: Assembly, whole = true): void {
  const growing = message.open
  message.open = undefined
  if (!growing) return
  growing.ended = whole || growing.kind === 'text'
  if (growing.kind === 'other') growing.part = startPart(message, partOf(growing, ''))
  if (growing.part === undefined) return
  const part = partOf(growing, growing.pieces.join(''))
  endPart(message, growing.part, growing.ended ? { ...part, from: 0 } : part)
}

function beginCall(message: Assembly, call: GatheredCall): ReturnType<typeof openCall> {
  closeContent(message)
  return openCall(message, call)
}

function hasEnded({ ended }: Growing): boolean {
  return ended
}

function partOf({ kind, fields, citations }: Growing, text: string): TextPart | ReasoningPart | OpaquePart {
  if (kind === 'other') {
    const type = typeof fields.type === 'string' ? fields.type : 'block'
    return { type: 'opaque', kind: `${protocolId}/${type}`, data: fields }
  }
  if (kind !== 'text') return { type: 'reasoning', text }
  return { type: 'text', text, ...(citations.length > 0 && { citations: [...citations] }) }
}

function nativeBlock({ kind, fields, pieces }: Growing): Json {
  return kind === 'text' || kind === 'thinking' ? { ...fields, [kind]: pieces.join('') } : fields
}

/** The message inside an event's delta. */
export function messageIn(event: JsonObject): JsonObject {
  return isObject(event.delta) && isObject(event.delta.message) ? event.delta.message : {}
}
