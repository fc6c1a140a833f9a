// Ollama's lines in, reply events out.
//
// Thinking, text and calls are three fields of one message, not a sequence: however the lines alternate, the reply has
// one part of thinking and one of text. A call is complete in one line, with or without an id.

import { isObject, type Json, type JsonObject } from '../../core/json.ts'
import type { Origin, Stop, ToolCallPart } from '../../core/message.ts'
import type { Usage } from '../../core/usage.ts'
import { presentText } from '../shared/call-fragments.ts'
import {
  addPart,
  decoderOf,
  createDecoding,
  endPart,
  endReply,
  growPart,
  newCallPart,
  startPart,
  startReply,
  takeEvents,
  type Decoding,
  readArguments,
  stopAfterInterruption,
  type Outcome,
} from '../shared/decoding.ts'
import { readFailure } from '../shared/failure.ts'
import type { Decoder, DecoderOptions, EndCause } from '../wire.ts'
import { protocolId } from './types.ts'
import { countIn, objectIn, textIn } from '../shared/json-fields.ts'

interface Growing {
  index: number
  pieces: string[]
}

interface State extends Decoding {
  readonly calls: JsonObject[]
  /** The calls with an id, as JSON: the same one again is a repeated line. */
  readonly withId: Set<string>
  /** Unknown fields of the message. */
  readonly extra: JsonObject
  text: Growing | undefined
  thinking: Growing | undefined
  sawContent: boolean
  /** The last line. */
  last: JsonObject | undefined
  ended: boolean
}

export function decoder(origin: Origin, options?: DecoderOptions): Decoder {
  const state: State = {
    ...createDecoding(origin, options),
    calls: [],
    withId: new Set(),
    extra: {},
    text: undefined,
    thinking: undefined,
    sawContent: false,
    last: undefined,
    ended: false,
  }
  return decoderOf({
    push(line) {
      if (!state.ended && !state.last && isObject(line)) read(state, line)
      return takeEvents(state)
    },
    end(cause) {
      if (state.ended) return []
      state.ended = true
      startReply(state)
      return end(state, cause)
    },
    isDone: () => state.last !== undefined,
  })
}

function read(state: State, line: JsonObject): void {
  if (!state.started) {
    const { origin } = state
    state.origin = { ...origin, model: origin.model || textIn(line.model) }
  }
  startReply(state)
  if (line.error !== undefined && line.error !== null) {
    const status = typeof line.status === 'number' ? { status: line.status } : {}
    state.failure ??= readFailure({ ...status, body: line, provider: state.origin.provider })
    return
  }
  if (isObject(line.message)) readMessage(state, line.message)
  // A line of `/api/generate`.
  else if (typeof line.response === 'string') readMessage(state, { content: line.response, thinking: line.thinking })
  if (line.done === true) state.last = line
}

function readMessage(state: State, message: JsonObject): void {
  for (const field in message) {
    const value = message[field]
    if (field === 'thinking') {
      if (typeof value === 'string' && value !== '') state.thinking = grow(state, state.thinking, 'reasoning', value)
    } else if (field === 'content') {
      if (typeof value !== 'string') continue
      state.sawContent = true
      if (value !== '') state.text = grow(state, state.text, 'text', value)
    } else if (field === 'tool_calls') {
      if (Array.isArray(value)) for (const call of value) if (isObject(call)) readCall(state, call)
    } else if (field !== 'role' && value !== null && value !== undefined) state.extra[field] = value
  }
}

function grow(state: State, growing: Growing | undefined, type: 'text' | 'reasoning', more: string): Growing {
  const part = growing ?? { index: startPart(state, { type, text: '' }), pieces: [] }
  part.pieces.push(more)
  growPart(state, part.index, more)
  return part
}

function readCall(state: State, call: JsonObject): void {
  const fn = objectIn(call.function)
  const name = presentText(fn.name) ?? ''
  if (name === '' && isEmptyInput(fn.arguments)) return
  const alias = presentText(call.id)
  if (alias !== undefined) {
    const json = JSON.stringify(call)
    if (state.withId.has(json)) return
    state.withId.add(json)
  }
  state.calls.push(call)
  const part: ToolCallPart = { ...newCallPart(state, alias, name), ...inputOf(fn.arguments), from: 0 }
  const index = startPart(state, { ...part, input: {} })
  growPart(state, index, typeof fn.arguments === 'string' ? fn.arguments : JSON.stringify(fn.arguments ?? {}))
  endPart(state, index, part)
}

function end(state: State, cause: EndCause | undefined): ReturnType<Decoder['end']> {
  const { thinking, text, calls, extra, last, failure } = state
  const isWhole = last !== undefined && failure === undefined
  const keepsThinking = isWhole || text !== undefined || calls.length > 0
  if (thinking) {
    const position = keepsThinking && { from: 0 }
    endPart(state, thinking.index, { type: 'reasoning', text: thinking.pieces.join(''), ...position })
  }
  if (text) endPart(state, text.index, { type: 'text', text: text.pieces.join(''), from: 0 })
  if (extra.images !== undefined) {
    addPart(state, { type: 'opaque', kind: `${protocolId}/fields`, data: { images: extra.images }, from: 0 })
  }
  const outcome = isWhole ? { stop: stopOf(last, calls.length > 0) } : unfinishedOutcome(state, cause)
  return endReply(state, {
    ...outcome,
    native: nativeMessage(state, keepsThinking, isWhole && state.sawContent),
    usage: last && readUsage(last),
  })
}

function nativeMessage(state: State, keepsThinking: boolean, mayBeEmpty: boolean): JsonObject[] {
  const { text, calls, extra } = state
  const thinking = keepsThinking ? state.thinking : undefined
  if (!mayBeEmpty && !text && calls.length === 0 && !thinking) return []
  const message: JsonObject = {
    role: 'assistant',
    content: text?.pieces.join('') ?? '',
    ...(thinking && { thinking: thinking.pieces.join('') }),
    ...(calls.length > 0 && { tool_calls: [...calls] }),
    ...extra,
  }
  return [message]
}

function unfinishedOutcome({ failure }: State, cause: EndCause | undefined): Outcome {
  return failure ? { stop: { reason: 'failed' }, failure } : stopAfterInterruption(cause)
}

function inputOf(args: Json | undefined): Pick<ToolCallPart, 'input' | 'malformed'> {
  if (isObject(args)) return { input: args }
  if (args === undefined || args === null) return { input: {} }
  return readArguments(typeof args === 'string' ? args : JSON.stringify(args))
}

function isEmptyInput(args: Json | undefined): boolean {
  return args === undefined || args === null || args === '' || (isObject(args) && Object.keys(args).length === 0)
}

function stopOf(last: JsonObject, hasCalls: boolean): Stop {
  const raw = typeof last.done_reason === 'string' ? last.done_reason : undefined
  const reason = raw === 'length' ? 'length' : hasCalls ? 'tool-calls' : 'done'
  return { reason, ...(raw !== undefined && { raw }) }
}

function readUsage(last: JsonObject): Usage | undefined {
  const {
    message: _message,
    response: _response,
    thinking: _thinking,
    context: _context,
    model: _model,
    created_at: _created,
    done: _done,
    done_reason: _reason,
    ...raw
  } = last
  if (typeof last.prompt_eval_count !== 'number' && typeof last.eval_count !== 'number') return undefined
  return {
    input: countIn(last.prompt_eval_count),
    output: countIn(last.eval_count),
    cacheRead: 0,
    cacheWrite: 0,
    reasoning: 0,
    raw,
  }
}
