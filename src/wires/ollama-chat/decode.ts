// Ollama's lines in, reply events out, and a whole reply cut into such lines.
//
// Thinking, text and calls are three fields of one message, not a sequence: however the lines alternate, the reply has
// one part of thinking and one of text. A call comes whole in one line, with or without an id.

import type { Failure } from '../../core/error.ts'
import type { ReplyEvent } from '../../core/event.ts'
import { isObject, type Json, type JsonObject } from '../../core/json.ts'
import type { Origin, Stop, ToolCallPart } from '../../core/message.ts'
import type { Usage } from '../../core/usage.ts'
import { readArguments } from '../shared/arguments.ts'
import { stopAfterInterruption, type Outcome } from '../shared/interruption.ts'
import { presentText } from '../shared/call-fragments.ts'
import { callIds } from '../shared/call-ids.ts'
import { readFailure } from '../shared/failure.ts'
import type { Decoder, DecoderOptions, EndCause } from '../wire.ts'
import { splitText } from '../shared/text.ts'
import { protocolId } from './types.ts'

interface Growing {
  index: number
  pieces: string[]
}

export function decoder(origin: Origin, options?: DecoderOptions): Decoder {
  const nextCallId = callIds(options)
  const calls: JsonObject[] = []
  const extra: JsonObject = {}
  let from = origin
  let started = false
  let ended = false
  let parts = 0
  let text: Growing | undefined
  let thinking: Growing | undefined
  let last: JsonObject | undefined
  let sawContent = false
  let failure: Failure | undefined

  function push(line: Json): ReplyEvent[] {
    if (ended || last || !isObject(line)) return []
    const events: ReplyEvent[] = []
    if (!started) {
      started = true
      from = { ...origin, model: origin.model || (typeof line.model === 'string' ? line.model : '') }
      events.push({ type: 'reply-start', origin: from })
    }
    if (line.error !== undefined && line.error !== null) {
      const status = typeof line.status === 'number' ? { status: line.status } : {}
      failure ??= readFailure({ ...status, body: line, provider: origin.provider })
      return events
    }
    if (isObject(line.message)) add(line.message, events)
    if (line.done === true) last = line
    return events
  }

  function add(message: JsonObject, events: ReplyEvent[]): void {
    for (const field in message) {
      const value = message[field]
      if (field === 'thinking') {
        if (typeof value === 'string' && value !== '') thinking = grow(thinking, 'reasoning', value, events)
      } else if (field === 'content') {
        if (typeof value !== 'string') continue
        sawContent = true
        if (value !== '') text = grow(text, 'text', value, events)
      } else if (field === 'tool_calls') {
        if (Array.isArray(value)) for (const call of value) if (isObject(call)) addCall(call, events)
      } else if (field !== 'role' && value !== null && value !== undefined) extra[field] = value
    }
  }

  function grow(growing: Growing | undefined, type: 'text' | 'reasoning', more: string, events: ReplyEvent[]): Growing {
    const part = growing ?? { index: parts++, pieces: [] }
    if (!growing) events.push({ type: 'part-start', index: part.index, part: { type, text: '' } })
    part.pieces.push(more)
    events.push({ type: 'part-delta', index: part.index, text: more })
    return part
  }

  function addCall(call: JsonObject, events: ReplyEvent[]): void {
    const fn = isObject(call.function) ? call.function : {}
    const wireName = presentText(fn.name) ?? ''
    if (wireName === '' && isEmptyInput(fn.arguments)) return
    const alias = presentText(call.id)
    if (
      alias !== undefined &&
      calls.some((known) => known.id === alias && JSON.stringify(known) === JSON.stringify(call))
    ) {
      return
    }
    calls.push(call)
    const names = options?.toolNames
    const part: ToolCallPart = {
      type: 'tool-call',
      callId: nextCallId(alias),
      ...(alias !== undefined && { alias }),
      name: names && Object.hasOwn(names, wireName) ? (names[wireName] ?? wireName) : wireName,
      ...inputOf(fn.arguments),
      from: 0,
    }
    const index = parts++
    const written = typeof fn.arguments === 'string' ? fn.arguments : JSON.stringify(fn.arguments ?? {})
    events.push(
      { type: 'part-start', index, part: { ...part, input: {} } },
      { type: 'part-delta', index, text: written },
      { type: 'part-end', index, part },
    )
  }

  function end(cause?: EndCause): ReplyEvent[] {
    if (ended) return []
    ended = true
    const events: ReplyEvent[] = started ? [] : [{ type: 'reply-start', origin: from }]
    const whole = last !== undefined && failure === undefined
    const keepsThinking = whole || text !== undefined || calls.length > 0
    if (thinking) {
      const part = { type: 'reasoning' as const, text: thinking.pieces.join(''), ...(keepsThinking && { from: 0 }) }
      events.push({ type: 'part-end', index: thinking.index, part })
    }
    if (text) {
      events.push({ type: 'part-end', index: text.index, part: { type: 'text', text: text.pieces.join(''), from: 0 } })
    }
    if (extra.images !== undefined) {
      const part = { type: 'opaque' as const, kind: `${protocolId}/fields`, data: { images: extra.images }, from: 0 }
      events.push({ type: 'part-start', index: parts, part }, { type: 'part-end', index: parts, part })
      parts++
    }
    const usage = last && readUsage(last)
    const outcome = whole && last ? { stop: stopOf(last, calls.length > 0) } : broken(cause)
    const native = nativeMessage(keepsThinking, whole && sawContent)
    events.push({
      type: 'reply-end',
      origin: from,
      native: native ? [native] : [],
      ...(usage && { usage }),
      ...outcome,
    })
    return events
  }

  function nativeMessage(keepsThinking: boolean, mayBeEmpty: boolean): JsonObject | undefined {
    if (!mayBeEmpty && !text && calls.length === 0 && !(thinking && keepsThinking)) return undefined
    return {
      role: 'assistant',
      content: text?.pieces.join('') ?? '',
      ...(thinking && keepsThinking && { thinking: thinking.pieces.join('') }),
      ...(calls.length > 0 && { tool_calls: [...calls] }),
      ...extra,
    }
  }

  function broken(cause: EndCause | undefined): Outcome {
    if (failure) return { stop: { reason: 'failed' }, failure }
    return stopAfterInterruption(cause)
  }

  return {
    push,
    end,
    get done() {
      return last !== undefined
    },
  }
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
  const { message: _, model: __, created_at: ___, done: ____, done_reason: _____, ...raw } = last
  if (typeof last.prompt_eval_count !== 'number' && typeof last.eval_count !== 'number') return undefined
  return {
    input: typeof last.prompt_eval_count === 'number' ? last.prompt_eval_count : 0,
    output: typeof last.eval_count === 'number' ? last.eval_count : 0,
    cacheRead: 0,
    cacheWrite: 0,
    reasoning: 0,
    raw,
  }
}

export function split(whole: Json, piece = 40): Json[] {
  if (!isObject(whole) || !isObject(whole.message)) return [whole]
  const { role = 'assistant', content, thinking, tool_calls: calls, ...others } = whole.message
  const head: JsonObject = {
    ...(whole.model !== undefined && { model: whole.model }),
    ...(whole.created_at !== undefined && { created_at: whole.created_at }),
  }
  const line = (message: JsonObject): JsonObject => ({ ...head, message: { role, ...message }, done: false })

  const lines: JsonObject[] = []
  if (typeof thinking === 'string') {
    for (const text of splitText(thinking, piece)) lines.push(line({ content: '', thinking: text }))
  }
  if (typeof content === 'string') for (const text of splitText(content, piece)) lines.push(line({ content: text }))
  if (Array.isArray(calls)) for (const call of calls) lines.push(line({ content: '', tool_calls: [call] }))
  lines.push({ ...whole, message: { role, content: '', ...others }, done: true })
  return lines
}
