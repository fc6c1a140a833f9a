// Mistral's chunks in, reply events out.
//
// Content comes as a string or as a list of chunks, and one stream changes from one to the other. A thinking chunk has
// `closed: true` on every delta, even on the first of many (checked 2026-11): only the next chunk ends it.

import { isObject, type Json, type JsonObject } from '../../core/json.ts'
import type { Origin, ReasoningPart, StopReason, TextPart } from '../../core/message.ts'
import type { Usage } from '../../core/usage.ts'
import { callFragments, type CallFragments, type GatheredCall } from '../shared/call-fragments.ts'
import {
  addPart,
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
import { countIn, objectIn, textIn } from '../shared/json-fields.ts'
import { callsInOrder, endCalls, nativeCall, openCall, type OpenCalls } from '../shared/open-calls.ts'
import type { Decoder, DecoderOptions, EndCause } from '../wire.ts'
import { protocolId } from './types.ts'

interface State extends Assembly {
  ended: boolean
  finish: string | undefined
  usage: Usage | undefined
}

export function decoder(origin: Origin, options?: DecoderOptions): Decoder {
  const state: State = {
    ...newAssembly(createDecoding(origin, options)),
    ended: false,
    finish: undefined,
    usage: undefined,
  }
  return decoderOf({
    push(chunk) {
      if (!state.ended && isObject(chunk)) read(state, chunk)
      return takeEvents(state)
    },
    end(cause) {
      if (state.ended) return []
      state.ended = true
      startReply(state)
      const isWhole = state.finish !== undefined && state.failure === undefined
      const { native, calls } = endMessage(state, isWhole)
      const outcome = isWhole ? finishedOutcome(state.finish ?? '', calls > 0) : unfinishedOutcome(state, cause)
      return endReply(state, { ...outcome, native, usage: state.usage })
    },
    isDone: () => state.finish !== undefined && state.usage !== undefined,
  })
}

function read(state: State, chunk: JsonObject): void {
  if (!state.started) learnOrigin(state, chunk)
  startReply(state)
  if (isError(chunk)) {
    state.failure ??= readFailure({ body: chunk, provider: state.origin.provider })
    return
  }
  const choices = Array.isArray(chunk.choices) ? chunk.choices.filter(isObject) : []
  const choice = choices.find((candidate) => candidate.index === undefined || candidate.index === 0)
  if (choice && isObject(choice.delta)) addDelta(state, choice.delta)
  if (choice && typeof choice.finish_reason === 'string') state.finish = choice.finish_reason
  if (isObject(chunk.usage)) state.usage = readUsage(chunk.usage)
}

function learnOrigin(state: State, { id, model }: JsonObject): void {
  state.origin = {
    ...state.origin,
    model: state.origin.model || textIn(model),
    ...(typeof id === 'string' && { replyId: id }),
  }
}

function unfinishedOutcome({ failure }: State, cause: EndCause | undefined): Outcome {
  return failure ? { stop: { reason: 'failed' }, failure } : stopAfterInterruption(cause)
}

const reasons: Record<string, StopReason> = {
  stop: 'done',
  length: 'length',
  model_length: 'length',
  tool_calls: 'tool-calls',
  content_filter: 'refusal',
  error: 'failed',
}

function finishedOutcome(raw: string, hasCalls: boolean): Outcome {
  const reason = reasons[raw] ?? 'done'
  if (reason === 'failed') {
    const message = 'The provider ended the reply with finish_reason "error".'
    return { stop: { reason, raw }, failure: { kind: 'malformed-reply', message } }
  }
  return { stop: stopByContent(reason, raw, hasCalls) }
}

function isError(chunk: JsonObject): boolean {
  if (chunk.choices !== undefined) return false
  return chunk.object === 'error' || chunk.error !== undefined || chunk.detail !== undefined
}

function readUsage(usage: JsonObject): Usage {
  const prompt = objectIn(usage.prompt_tokens_details)
  const completion = objectIn(usage.completion_tokens_details)
  return {
    input: countIn(usage.prompt_tokens),
    output: countIn(usage.completion_tokens),
    // `num_cached_tokens` until early 2026, `prompt_tokens_details` since.
    cacheRead: countIn(prompt.cached_tokens) || countIn(usage.num_cached_tokens),
    cacheWrite: 0,
    reasoning: countIn(completion.reasoning_tokens),
    raw: usage,
  }
}

export const emptyChunks: Record<string, JsonObject> = {
  text: { type: 'text', text: '' },
  thinking: { type: 'thinking', thinking: [] },
}

// Builds the assistant message from a stream's deltas: our parts as they arrive, and at the end the message in
// Mistral's own form. Pieces are collected and joined once, so that a long reply costs no more than its length.

interface Block {
  kind: 'text' | 'thinking' | 'other'
  fields: JsonObject
  /** Runs of text, and in between what a thinking chunk contains besides text. */
  runs: (string[] | { item: Json })[]
  part?: number
}

/** The message so far. */
interface Assembly extends OpenCalls {
  readonly fragments: CallFragments
  readonly blocks: Block[]
  readonly extra: JsonObject
  /** The forms of the content so far. */
  readonly seen: { string: boolean; list: boolean; null: boolean }
  role: Json
  open: Block | undefined
}

function newAssembly(state: Decoding): Assembly {
  return {
    ...state,
    opened: new Map(),
    blocks: [],
    fragments: callFragments(),
    extra: {},
    seen: { string: false, list: false, null: false },
    role: 'assistant',
    open: undefined,
  }
}

function addDelta(message: Assembly, delta: JsonObject): void {
  for (const field in delta) {
    const value = delta[field]
    if (field === 'content') addContent(message, value)
    else if (field === 'tool_calls') {
      if (Array.isArray(value)) for (const fragment of value) if (isObject(fragment)) addCall(message, fragment)
    } else if (field === 'role') message.role = value ?? message.role
    else if (value !== undefined) message.extra[field] = value
  }
}

function addContent(message: Assembly, content: Json | undefined): void {
  const { seen } = message
  if (content === null) seen.null = true
  if (typeof content === 'string') {
    seen.string = true
    if (content !== '') addText(message, blockFor(message, 'text', { type: 'text' }, false), content)
  }
  if (!Array.isArray(content)) return
  seen.list = true
  let previous: Json | undefined
  for (const chunk of content) {
    const type = isObject(chunk) ? chunk.type : undefined
    addChunk(message, chunk, type !== undefined && type === previous)
    previous = type
  }
}

function addChunk(message: Assembly, chunk: Json, isNew: boolean): void {
  if (isObject(chunk) && chunk.type === 'text' && typeof chunk.text === 'string') {
    const { text: _, ...fields } = chunk
    addText(message, blockFor(message, 'text', fields, isNew), chunk.text)
  } else if (isObject(chunk) && chunk.type === 'thinking' && Array.isArray(chunk.thinking)) {
    const { thinking: _, ...fields } = chunk
    addThinking(message, blockFor(message, 'thinking', fields, isNew), chunk.thinking)
  } else {
    closeBlock(message, true)
    message.blocks.push({ kind: 'other', fields: objectIn(chunk), runs: [{ item: chunk }] })
    const type = isObject(chunk) && typeof chunk.type === 'string' ? chunk.type : 'chunk'
    addPart(message, { type: 'opaque', kind: `${protocolId}/${type}`, data: chunk, from: 0 })
  }
}

function addThinking(message: Assembly, block: Block, items: readonly Json[]): void {
  for (const item of items) {
    if (isObject(item) && item.type === 'text' && typeof item.text === 'string') addText(message, block, item.text)
    else block.runs.push({ item })
  }
}

/** The block that this delta continues, or a new one. */
function blockFor(message: Assembly, kind: 'text' | 'thinking', fields: JsonObject, isNew: boolean): Block {
  const { open } = message
  if (open?.kind === kind && !isNew) {
    Object.assign(open.fields, fields)
    return open
  }
  closeBlock(message, true)
  const block: Block = { kind, fields: { ...fields }, runs: [] }
  message.open = block
  message.blocks.push(block)
  return block
}

function addText(message: Assembly, block: Block, text: string): void {
  if (text === '') return
  block.part ??= startPart(message, partOf(block, ''))
  const last = block.runs.at(-1)
  if (Array.isArray(last)) last.push(text)
  else block.runs.push([text])
  growPart(message, block.part, text)
}

/** Ends the open block; `isNative`: it is in the native message. */
function closeBlock(message: Assembly, isNative: boolean): void {
  const { open } = message
  message.open = undefined
  if (open?.part === undefined) return
  const part = partOf(open, textOfRuns(open))
  endPart(message, open.part, isNative ? { ...part, from: 0 } : part)
}

function addCall(message: Assembly, fragment: JsonObject): void {
  const { call, text } = message.fragments.push(fragment)
  const opened = message.opened.get(call)
  if (opened && text !== '') growPart(message, opened.index, text)
  else if (!opened && call.name !== '') beginCall(message, call)
}

function beginCall(message: Assembly, call: GatheredCall): ReturnType<typeof openCall> {
  closeBlock(message, true)
  return openCall(message, call)
}

/** `isWhole`: the reply is complete; otherwise open parts are left out of the native message. */
function endMessage(message: Assembly, isWhole: boolean): { native: JsonObject[]; calls: number } {
  const { open, blocks, seen } = message
  const dangling = open?.kind === 'thinking' && !isWhole ? open : undefined
  closeBlock(message, dangling === undefined)
  const calls = callsInOrder(message, message.fragments)
  const complete = isWhole ? calls : calls.slice(0, -1)
  endCalls(message, calls, new Set(complete))
  const finished = blocks.filter((candidate) => candidate !== dangling)
  const isEmpty = finished.length === 0 && complete.length === 0
  const native = isEmpty && !(isWhole && (seen.string || seen.list)) ? [] : [nativeMessage(message, finished, complete)]
  return { native, calls: calls.length }
}

function nativeMessage({ role, seen, extra }: Assembly, content: Block[], calls: readonly GatheredCall[]): JsonObject {
  const message: JsonObject = { role }
  if (seen.list) message.content = content.map(nativeChunk)
  else if (seen.string) message.content = content.map(textOfRuns).join('')
  else if (seen.null) message.content = null
  if (calls.length > 0) message.tool_calls = calls.map(callWithIndex)
  return { ...message, ...extra }
}

function partOf(block: Block, text: string): TextPart | ReasoningPart {
  return block.kind === 'thinking' ? { type: 'reasoning', text } : { type: 'text', text }
}

function textOfRuns(block: Block): string {
  return block.runs.map((run) => (Array.isArray(run) ? run.join('') : '')).join('')
}

function nativeChunk(block: Block): Json {
  const { type: _, ...rest } = block.fields
  if (block.kind === 'text') return { type: 'text', text: textOfRuns(block), ...rest }
  if (block.kind === 'thinking') {
    const thinking = block.runs.map((run) => (Array.isArray(run) ? { type: 'text', text: run.join('') } : run.item))
    return { type: 'thinking', thinking, ...rest }
  }
  const [only] = block.runs
  return only && !Array.isArray(only) ? only.item : null
}

/** Mistral gives each call its index. */
function callWithIndex(call: GatheredCall): JsonObject {
  return nativeCall(call, call.index === undefined ? {} : { index: call.index })
}
