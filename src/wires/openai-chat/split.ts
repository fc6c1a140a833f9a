// Splits a complete reply into the chunks that would have carried it, so that there is one way of decoding. Growing
// fields are split into pieces; every other field is sent once, unchanged.

import { isObject, type Json, type JsonObject } from '../../core/json.ts'
import { splitText } from '../shared/text.ts'

export function split(whole: Json, piece = Number.POSITIVE_INFINITY): Json[] {
  if (!isObject(whole) || !Array.isArray(whole.choices)) return [whole]
  if (!whole.choices.some((choice) => isObject(choice) && isObject(choice.message))) return [whole]

  const { choices, usage, object: _object, ...about } = whole
  const { id, created, model } = about
  const head: JsonObject = { id, object: 'chat.completion.chunk', created, model }
  const chunks: Json[] = []
  for (const [at, choice] of choices.entries()) {
    if (!isObject(choice) || !isObject(choice.message)) continue
    const { message, finish_reason, index = at, ...rest } = choice
    for (const delta of deltas(message, piece)) {
      const first = chunks.length === 0 ? { ...about, ...head } : head
      chunks.push({ ...first, choices: [{ index, delta, finish_reason: null }] })
    }
    chunks.push({ ...head, choices: [{ index, delta: {}, ...rest, finish_reason: finish_reason ?? null }] })
  }
  if (usage !== undefined) chunks.push({ ...head, choices: [], usage })
  return chunks
}

const cutFields = ['reasoning_content', 'reasoning', 'content', 'refusal'] as const

function* deltas(message: JsonObject, piece: number): Generator<JsonObject> {
  const { role: _role, content, reasoning_details, tool_calls, function_call, ...rest } = message
  const opening = typeof content === 'string' ? { content: '' } : content === null ? { content } : {}
  const refusal = message.refusal === null && { refusal: null }
  yield { role: 'assistant', ...opening, ...refusal }
  for (const field of ['reasoning_content', 'reasoning'] as const) yield* cut(message, field, piece)
  if (reasoning_details !== undefined) yield { reasoning_details }
  if (content !== undefined && content !== null && typeof content !== 'string') yield { content }
  for (const field of ['content', 'refusal'] as const) yield* cut(message, field, piece)

  const once: JsonObject = {}
  for (const [field, value] of Object.entries(rest)) {
    const isCut = typeof value === 'string' && value !== '' && cutFields.some((known) => known === field)
    if (!isCut && !(field === 'refusal' && value === null)) once[field] = value
  }
  if (function_call === null) once.function_call = null
  if (tool_calls !== undefined && !(Array.isArray(tool_calls) && tool_calls.length > 0)) once.tool_calls = tool_calls
  if (Object.keys(once).length > 0) yield once

  if (Array.isArray(tool_calls)) {
    for (const [index, call] of tool_calls.entries()) if (isObject(call)) yield* callDeltas(call, index, piece)
  }
  if (isObject(function_call)) yield* legacyDeltas(function_call, piece)
}

function* cut(message: JsonObject, field: (typeof cutFields)[number], piece: number): Generator<JsonObject> {
  const text = message[field]
  if (typeof text === 'string') for (const part of splitText(text, piece)) yield { [field]: part }
}

function* callDeltas(call: JsonObject, index: number, piece: number): Generator<JsonObject> {
  const { function: fn, custom } = call
  if (isObject(fn)) {
    yield { tool_calls: [{ ...call, index, function: { ...fn, arguments: '' } }] }
    for (const part of splitText(textOf(fn.arguments), piece)) {
      yield { tool_calls: [{ index, function: { arguments: part } }] }
    }
  } else if (isObject(custom)) {
    yield { tool_calls: [{ ...call, index, custom: { ...custom, input: '' } }] }
    for (const part of splitText(textOf(custom.input), piece))
      yield { tool_calls: [{ index, custom: { input: part } }] }
  } else {
    yield { tool_calls: [{ ...call, index }] }
  }
}

function* legacyDeltas(call: JsonObject, piece: number): Generator<JsonObject> {
  yield { function_call: { ...call, arguments: '' } }
  for (const part of splitText(textOf(call.arguments), piece)) yield { function_call: { arguments: part } }
}

function textOf(value: Json | undefined): string {
  if (typeof value === 'string') return value
  return value === undefined || value === null ? '' : JSON.stringify(value)
}
