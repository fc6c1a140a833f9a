// Cohere's events in, reply events out. `tool_plan` and thinking are both reasoning; a call is a single object, not a
// list.

import type { Failure } from '../../core/error.ts'
import { isObject, type Json, type JsonObject } from '../../core/json.ts'
import type { OpaquePart, Origin, ReasoningPart, StopReason, TextPart } from '../../core/message.ts'
import type { Usage } from '../../core/usage.ts'
import { callFragments, type CallFragments, type GatheredCall } from '../shared/call-fragments.ts'
import {
  decoderOf,
  createDecoding,
  type Decoding,
  endPart,
  endReply,
  growPart,
  startPart,
  startReply,
  takeEvents,
  type Outcome,
  stopByContent,
  stopAfterInterruption,
} from '../shared/decoding.ts'
import { readFailure } from '../shared/failure.ts'
import { countIn, objectIn, textIn, valueAt } from '../shared/json-fields.ts'
import { callsInOrder, endCalls, nativeCall, openCall, type OpenCalls } from '../shared/open-calls.ts'
import type { Decoder, DecoderOptions, EndCause } from '../wire.ts'
import { protocolId } from './types.ts'

interface State extends Assembly {
  ended: boolean
  /** The delta of the last event. */
  last: JsonObject | undefined
}

export function decoder(origin: Origin, options?: DecoderOptions): Decoder {
  const state: State = { ...newAssembly(createDecoding(origin, options)), ended: false, last: undefined }
  return decoderOf({
    push(event) {
      if (!state.ended && !state.last && isObject(event)) push(state, event)
      return takeEvents(state)
    },
    end(cause) {
      if (state.ended) return []
      state.ended = true
      startReply(state)
      const { last, failure } = state
      const { native, calls } = endMessage(state, last !== undefined && failure === undefined)
      const usage = last && isObject(last.usage) ? readUsage(last.usage) : undefined
      return endReply(state, { ...outcome(state, calls > 0, cause), native, usage })
    },
    isDone: () => state.last !== undefined,
  })
}

function push(state: State, event: JsonObject): void {
  if (!state.started && typeof event.id === 'string') state.origin = { ...state.origin, replyId: event.id }
  startReply(state)
  // An error is an event without a type, with only a message.
  if (event.type === undefined && typeof event.message === 'string') {
    state.failure ??= readFailure({ body: event, provider: state.origin.provider })
  } else read(state, event)
}

function read(state: State, event: JsonObject): void {
  const message = messageIn(event)
  const { content, tool_plan: plan, tool_calls: call, citations } = message
  switch (event.type) {
    case 'message-start':
      beginMessage(state, message)
      break
    case 'tool-plan-delta':
      addPlan(state, textIn(plan))
      break
    case 'content-start':
      if (isObject(content)) startContent(state, content)
      break
    case 'content-delta':
      if (isObject(content)) addContent(state, content)
      break
    case 'content-end':
      closeContent(state)
      break
    case 'citation-start':
      if (citations !== undefined) addCitation(state, citations)
      break
    case 'tool-call-start':
    case 'tool-call-delta':
      if (isObject(call)) addCall(state, call, event.index)
      break
    case 'tool-call-end':
      markCallEnd(state, event.index)
      break
    case 'message-end':
      state.last = objectIn(event.delta)
  }
}

function outcome({ failure, last, origin }: State, hasCalls: boolean, cause: EndCause | undefined): Outcome {
  if (failure) return { stop: { reason: 'failed' }, failure }
  return last ? finishedOutcome(last, hasCalls, origin.provider) : stopAfterInterruption(cause)
}

const reasons: Record<string, StopReason> = {
  COMPLETE: 'done',
  STOP_SEQUENCE: 'done',
  MAX_TOKENS: 'length',
  TOOL_CALL: 'tool-calls',
  ERROR: 'failed',
  TIMEOUT: 'failed',
}

function finishedOutcome(last: JsonObject, hasCalls: boolean, provider: string): Outcome {
  const raw = textIn(last.finish_reason)
  const reason = reasons[raw] ?? 'done'
  if (reason === 'failed') return { stop: { reason, raw }, failure: failureIn(last, raw, provider) }
  return { stop: stopByContent(reason, raw, hasCalls) }
}

function failureIn({ error }: JsonObject, raw: string, provider: string): Failure {
  const message = `The provider ended the reply with finish_reason "${raw}".`
  if (raw === 'TIMEOUT') return { kind: 'timeout', message }
  if (typeof error === 'string') return readFailure({ body: { message: error }, provider })
  return { kind: 'malformed-reply', message }
}

/** `tokens` is what the model read and wrote; what is billed is in `billed_units`, which is far less with tools. */
function readUsage(usage: JsonObject): Usage {
  const billed = objectIn(usage.billed_units)
  const tokens = isObject(usage.tokens) ? usage.tokens : billed
  const input = countIn(tokens.input_tokens) + countIn(tokens.image_tokens)
  return {
    input,
    output: countIn(tokens.output_tokens),
    cacheRead: Math.min(input, countIn(usage.cached_tokens)),
    cacheWrite: 0,
    reasoning: countIn(tokens.reasoning_tokens),
    raw: usage,
  }
}

// Builds the assistant message from a stream's events: our parts as they arrive, and at the end the message in Cohere's
// own form.

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
interface Assembly extends OpenCalls {
  readonly fragments: CallFragments
  readonly endedCalls: Set<GatheredCall>
  readonly blocks: Growing[]
  readonly citations: Json[]
  fields: JsonObject
  plan: Growing | undefined
  open: Growing | undefined
}

function newAssembly(state: Decoding): Assembly {
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
function beginMessage(message: Assembly, begun: JsonObject): void {
  const fields = Object.entries(begun).filter(([field]) => !eventFields.has(field))
  message.fields = Object.fromEntries(fields)
}

function addPlan(message: Assembly, text: string): void {
  if (text === '') return
  if (!message.plan) {
    closeContent(message)
    message.plan = { kind: 'plan', fields: {}, pieces: [], citations: [], ended: false }
    message.open = message.plan
  }
  grow(message, message.plan, text)
}

function startContent(message: Assembly, block: JsonObject): Growing {
  closeContent(message)
  const { type } = block
  const kind = type === 'text' || type === 'thinking' ? type : 'other'
  const growing: Growing = { kind, fields: block, pieces: [], citations: [], ended: false }
  message.open = growing
  message.blocks.push(growing)
  if (kind !== 'other') grow(message, growing, textIn(block[kind]))
  return growing
}

function addContent(message: Assembly, delta: JsonObject): void {
  const kind = typeof delta.thinking === 'string' ? 'thinking' : 'text'
  const { open } = message
  const block = !open || open.kind === 'plan' ? startContent(message, { type: kind, [kind]: '' }) : open
  if (block.kind === 'text' || block.kind === 'thinking') grow(message, block, textIn(delta[block.kind]))
  else block.fields = { ...block.fields, ...delta }
}

function addCitation(message: Assembly, citation: Json): void {
  message.citations.push(citation)
  if (message.open?.kind === 'text') message.open.citations.push(citation)
}

function addCall(message: Assembly, fragment: JsonObject, index: Json | undefined): void {
  const { call, text } = message.fragments.push({ ...fragment, ...(typeof index === 'number' && { index }) })
  const opened = message.opened.get(call)
  if (opened && text !== '') growPart(message, opened.index, text)
  else if (!opened && call.name !== '') beginCall(message, call)
}

function markCallEnd(message: Assembly, index: Json | undefined): void {
  const call = typeof index === 'number' ? message.fragments.at(index) : undefined
  if (call) message.endedCalls.add(call)
}

/** `isWhole`: the reply is complete; otherwise open parts are left out of the native message. */
function endMessage(message: Assembly, isWhole: boolean): { native: JsonObject[]; calls: number } {
  closeContent(message, isWhole)
  const calls = callsInOrder(message, message.fragments)
  const complete = isWhole ? calls : calls.filter((call) => message.endedCalls.has(call))
  endCalls(message, calls, new Set(complete))
  return { native: nativeMessage(message, isWhole, complete), calls: calls.length }
}

function nativeMessage(message: Assembly, isWhole: boolean, calls: readonly GatheredCall[]): JsonObject[] {
  const blocks = message.blocks.filter(hasEnded)
  const plan = message.plan && hasEnded(message.plan) ? message.plan.pieces.join('') : ''
  if (!isWhole && blocks.length === 0 && calls.length === 0 && plan === '') return []
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
function closeContent(message: Assembly, isWhole = true): void {
  const growing = message.open
  message.open = undefined
  if (!growing) return
  growing.ended = isWhole || growing.kind === 'text'
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
function messageIn(event: JsonObject): JsonObject {
  return objectIn(valueAt(event.delta, 'message'))
}
