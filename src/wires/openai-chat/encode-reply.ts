// A reply as one assistant message: in its own words where this host wrote it, else built from its parts. Content and
// calls stay together; reasoning goes back only where the host wants it, and never becomes text.

import { isObject, type Json, type JsonObject } from '../../core/json.ts'
import { callsOf, type Part, type Reply, type ToolCallPart } from '../../core/message.ts'
import { cleanJson } from '../shared/clean-json.ts'
import type { Target } from '../wire.ts'
import { cleanText } from '../shared/text.ts'
import { flatCall, flatResult, flatResultLabel, malformedInput, summaryLabel } from '../shared/injected-text.ts'
import type { Item, Writer } from './encode.ts'
import { echoedReasoning } from './encode-reasoning.ts'
import { standIn } from './media.ts'
import { foreignCall, protocolId, reasoningFields, replyOnlyFields, textPart, type ContentPart } from './types.ts'
import { isReplayable } from '../shared/replayable.ts'

/** Whether the reply is sent in the provider's own words. */
export function isReplayed(reply: Reply, target: Target, flat: boolean): boolean {
  if (!isReplayable(reply, protocolId, target)) return false
  const [message] = reply.native
  if (reply.native.length !== 1 || !isObject(message) || isObject(message.function_call)) return false
  if (target.quirks.stringContent && Array.isArray(message.content)) return false
  const calls = callsOf(reply).length
  if (calls > 0 && flat) return false
  return functionCalls(message).length === calls
}

export function encodeReply(reply: Reply, at: string, writer: Writer): Item[] {
  const replayed = isReplayed(reply, writer.target, writer.flat)
  const message = replayed ? replay(reply, reply.native[0] as JsonObject, at, writer) : fromParts(reply, at, writer)
  if (!message) return []
  const echoed = echoedReasoning(reply, Array.isArray(message.tool_calls), at, writer)
  return [{ message: cleanJson({ ...message, ...echoed }, at, writer.notes) }]
}

function replay(reply: Reply, native: JsonObject, at: string, writer: Writer): JsonObject | undefined {
  const message: JsonObject = { role: 'assistant' }
  const left: string[] = []
  for (const [field, value] of Object.entries(native)) {
    if (handled.has(field) || value === null || value === undefined) continue
    if (replyOnlyFields.has(field) || (field === 'images' && !takesImages(writer.target))) {
      if (!isEmpty(value)) left.push(field)
    } else if (field === 'audio') {
      if (isObject(value) && typeof value.id === 'string') message.audio = { id: value.id }
    } else message[field] = value
  }
  if (left.length > 0) {
    const why = 'the wire gives it but does not take it back'
    writer.notes.push({ kind: 'dropped', what: left.join(', '), why, at })
  }
  const calls = settledCalls(reply, native, at, writer)
  if (typeof native.content === 'string' || Array.isArray(native.content)) message.content = native.content
  else if (calls.length > 0 && native.content === null) message.content = writer.target.quirks.stringContent ? '' : null
  if (calls.length > 0) return { ...message, tool_calls: calls }
  if (!isEmpty(message.content)) return message
  return typeof message.refusal === 'string' ? refused(message, writer) : message.audio ? message : undefined
}

/** Pictures that the model made: OpenRouter, whose replies also have `reasoning_details`, takes them back. */
function takesImages(target: Target): boolean {
  return target.quirks.reasoningField === 'reasoning_details'
}

const handled: ReadonlySet<string> = new Set(['role', 'content', 'tool_calls', 'function_call', ...reasoningFields])

/** Content may be null only beside calls (C6), so a refusal goes into it, as the part that the wire has for it. */
function refused({ refusal, ...message }: JsonObject, writer: Writer): JsonObject {
  const content = writer.target.quirks.stringContent ? refusal : [{ type: 'refusal', refusal }]
  return { ...message, content }
}

function isEmpty(value: Json | undefined): boolean {
  return value === undefined || value === null || value === '' || (Array.isArray(value) && value.length === 0)
}

function functionCalls(message: JsonObject): JsonObject[] {
  const calls = Array.isArray(message.tool_calls) ? message.tool_calls.filter(isObject) : []
  return calls.filter((call) => isObject(call.function))
}

function settledCalls(reply: Reply, native: JsonObject, at: string, writer: Writer): JsonObject[] {
  const parts = callsOf(reply)
  const calls = functionCalls(native)
  const count = Array.isArray(native.tool_calls) ? native.tool_calls.length : 0
  if (count > calls.length) {
    const why = 'nothing here can answer a call that is no function call, and an unanswered call is refused'
    writer.notes.push({ kind: 'dropped', what: `${count - calls.length} calls`, why, at, rule: 'C1' })
  }
  return calls.map((call, index) => settledCall(call, parts[index] as ToolCallPart, at, writer))
}

/** The call as it came, less what the wire would refuse in it. */
function settledCall(call: JsonObject, part: ToolCallPart, at: string, writer: Writer): JsonObject {
  const { index: _index, ...settled } = call
  const fn: JsonObject = isObject(call.function) ? { ...call.function } : {}
  const change = (what: string, why: string, rule: string) =>
    writer.notes.push({ kind: 'changed', what: `${what} of the call of ${part.name}`, why, at, rule })

  const id = writer.idOf(part.callId)
  if (call.id !== id) change('id', call.id ? 'it is too long or used twice' : 'it had none', 'C4')
  const name = writer.names.toWire(part.name)
  if (fn.name !== name) change('name', 'the tool has another name on the wire', 'C8')
  if (part.malformed !== undefined) {
    fn.arguments = argumentsOf(part, at, writer)
  } else if (typeof fn.arguments !== 'string' || fn.arguments.trim() === '') {
    fn.arguments = JSON.stringify(part.input)
    change('arguments', 'hosts want a JSON object, also for no arguments', 'C19')
  } else {
    const clean = cleanJson(part.input, at, writer.notes)
    if (clean !== part.input) fn.arguments = JSON.stringify(clean)
  }
  return { ...settled, id, function: { ...fn, name } }
}

/** Half a surrogate pair is well-formed in this text, as an escape, but breaks the host that parses it. */
function argumentsOf(part: ToolCallPart, at: string, writer: Writer): string {
  return JSON.stringify(sendableInput(part, at, writer))
}

function sendableInput(part: ToolCallPart, at: string, writer: Writer): Json {
  if (part.malformed === undefined && isObject(part.input)) return cleanJson(part.input, at, writer.notes)
  const what = `arguments of the call of ${part.name}`
  writer.notes.push({ kind: 'changed', what, why: 'they were not a JSON object', at, rule: 'C19' })
  return malformedInput(cleanText(part.malformed ?? JSON.stringify(part.input), at, writer.notes))
}

function fromParts(reply: Reply, at: string, writer: Writer): JsonObject | undefined {
  const texts: string[] = []
  const own: ContentPart[] = []
  const calls: JsonObject[] = []
  let before: Part['type'] | undefined
  for (const part of reply.parts) {
    if (part.type === 'tool-call' && !writer.flat) calls.push(builtCall(part, at, writer))
    else if (part.type === 'opaque' && isOwnContent(part.kind, part.data, reply, writer.target)) {
      own.push(part.data as ContentPart)
    } else {
      const text = partText(part, at, writer)
      if (text && part.type === 'text' && before === 'text') texts.push(`${texts.pop() ?? ''}${text}`)
      else if (text) texts.push(text)
    }
    before = part.type
  }
  const text = texts.join('\n\n')
  if (text === '' && own.length === 0 && calls.length === 0) return undefined
  const empty = writer.target.quirks.stringContent ? '' : null
  const content = own.length > 0 ? [...(text === '' ? [] : [textPart(text)]), ...own] : text || empty
  return { role: 'assistant', content, ...(calls.length > 0 && { tool_calls: calls }) }
}

function builtCall(part: ToolCallPart, at: string, writer: Writer): JsonObject {
  return {
    id: writer.idOf(part.callId),
    type: 'function',
    function: { name: writer.names.toWire(part.name), arguments: argumentsOf(part, at, writer) },
  }
}

/** Content without a name here goes back to the host that wrote it, and to no other. */
function isOwnContent(kind: string, data: Json | undefined, reply: Reply, target: Target): boolean {
  if (!kind.startsWith(`${protocolId}/`) || kind.startsWith(foreignCall)) return false
  return isObject(data) && reply.origin.provider === target.provider && !target.quirks.stringContent
}

function partText(part: Part, at: string, writer: Writer): string | undefined {
  const { notes } = writer
  const dropped = (what: string, why: string, rule?: string): undefined => {
    notes.push({ kind: 'dropped', what, why, at, ...(rule && { rule }) })
  }
  switch (part.type) {
    case 'text':
      if (part.citations && part.citations.length > 0) dropped('citations', 'the wire does not take them back')
      return cleanText(part.text, at, notes)
    case 'refusal':
      if (part.text !== '') notes.push({ kind: 'changed', what: 'refusal to text', why: 'every host reads text', at })
      return cleanText(part.text, at, notes)
    case 'media':
      return standIn(part, at, notes).text
    case 'tool-call':
      notes.push({
        kind: 'changed',
        what: 'tool call to labelled text',
        why: 'this host refuses it in the history',
        at,
      })
      return cleanText(flatCall(part.name, sendableInput(part, at, writer)), at, notes)
    case 'compaction':
      if (part.text) return cleanText(`${summaryLabel}\n${part.text}`, at, notes)
      return dropped('compaction', 'it has no words of ours')
    case 'server-tool': {
      if (part.output === undefined) return dropped(`call of the provider's ${part.name}`, 'it has no output')
      const why = 'a tool that the provider ran itself has no place in the history of this wire'
      notes.push({ kind: 'changed', what: `call of the provider's ${part.name} to labelled text`, why, at })
      const result = flatResult(flatResultLabel, part.name, JSON.stringify(part.output), false)
      return cleanText(`${flatCall(part.name, part.input ?? {})}\n${result}`, at, notes)
    }
    case 'opaque':
      if (part.kind.startsWith(foreignCall)) return dropped(part.kind, 'nothing here can answer it', 'C1')
      return dropped(part.kind, 'it is not of this host')
    case 'tool-result':
      return dropped(`result of ${part.name} inside a reply`, 'the wire has no place for it')
    default:
      return undefined
  }
}
