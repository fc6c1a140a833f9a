// A reply as items of an assistant turn: in its own words where Mistral wrote it, else built from its parts.

import type { Json, JsonObject } from '../../core/json.ts'
import { isObject } from '../../core/json.ts'
import { callsOf, type Part, type Reply, type ToolCallPart } from '../../core/message.ts'
import { cleanJson } from '../shared/clean-json.ts'
import type { Target } from '../wire.ts'
import { cleanText } from '../shared/text.ts'
import { flatCall, flatResult, flatResultLabel, malformedInput, summaryLabel } from '../shared/injected-text.ts'
import { standIn } from './media.ts'
import { protocolId, textChunk, type Chunk, type WireCall } from './types.ts'
import type { Item, Writer } from './writer.ts'
import { isReplayable } from '../shared/replayable.ts'

/** Whether the reply is sent in the provider's own words. */
export function isReplayed(reply: Reply, target: Target): boolean {
  if (!isReplayable(reply, protocolId, target)) return false
  const [message] = reply.native
  if (reply.native.length !== 1 || !isObject(message)) return false
  if (target.quirks.stringContent && Array.isArray(message.content)) return false
  const calls = callsOf(reply).length
  if (calls > 0 && target.quirks.flattenToolHistory) return false
  return nativeCalls(message).length === calls
}

export function encodeReply(reply: Reply, at: string, writer: Writer): Item[] {
  if (isReplayed(reply, writer.target)) {
    const message = replay(reply, reply.native[0] as JsonObject, at, writer)
    return message ? [{ message: cleanJson(message, at, writer.notes) }] : []
  }
  return fromParts(reply, at, writer)
}

/** Refused in a request (recorded), and in no official type; `index` of a call is taken (checked 2026-11). */
const replyOnly: ReadonlySet<string> = new Set(['index', 'reasoning_content'])

function replay(reply: Reply, native: JsonObject, at: string, writer: Writer): JsonObject | undefined {
  const message: JsonObject = { role: 'assistant' }
  for (const [field, value] of Object.entries(native)) {
    if (!replyOnly.has(field) && value !== null && value !== undefined) message[field] = value
  }
  const calls = nativeCalls(native)
  if (calls.length > 0) {
    const parts = callsOf(reply)
    message.tool_calls = calls.map((call, index) => settledCall(call, parts[index] as ToolCallPart, at, writer))
    return message
  }
  delete message.tool_calls
  const { content } = message
  return content === undefined || content === '' || (Array.isArray(content) && content.length === 0)
    ? undefined
    : message
}

function nativeCalls(message: JsonObject): JsonObject[] {
  return Array.isArray(message.tool_calls) ? message.tool_calls.filter(isObject) : []
}

/** The call as it came, less what the wire would refuse in it. */
function settledCall(call: JsonObject, part: ToolCallPart, at: string, writer: Writer): JsonObject {
  const settled: JsonObject = { ...call }
  const change = (what: string, why: string, rule?: string) =>
    writer.notes.push({ kind: 'changed', what, why, at, ...(rule && { rule }) })

  const id = writer.idOf(part.callId)
  if (call.id !== id) {
    settled.id = id
    const why = call.id === undefined ? 'it had none' : 'the wire takes nine letters or digits, each once'
    change(`id of the call of ${part.name} to ${JSON.stringify(id)}`, why, 'T-5')
  }
  const fn: JsonObject = isObject(call.function) ? { ...call.function } : {}
  const name = writer.names.toWire(part.name)
  if (fn.name !== name) {
    fn.name = name
    change(`name of the call of ${part.name} to ${JSON.stringify(name)}`, 'the tool has this name on the wire', 'T-12')
  }
  if (part.malformed !== undefined) {
    fn.arguments = JSON.stringify(cleanJson(malformedInput(part.malformed), at, writer.notes))
    change(`arguments of the call of ${part.name}`, 'they were not a JSON object')
  } else {
    const clean = cleanJson(part.input, at, writer.notes)
    if (clean !== part.input) fn.arguments = JSON.stringify(clean)
  }
  settled.function = fn
  return settled
}

function fromParts(reply: Reply, at: string, writer: Writer): Item[] {
  const items: Item[] = []
  let reasoning = 0
  let flat = false
  for (const part of reply.parts) {
    if (part.type === 'reasoning') reasoning++
    else if (part.type === 'tool-call') {
      flat ||= writer.target.quirks.flattenToolHistory === true
      items.push(callItem(part, at, writer))
    } else {
      const chunk = replyChunk(part, at, writer)
      if (chunk) items.push({ chunk })
    }
  }
  if (reasoning > 0) {
    const why = 'reasoning is only sent back to the provider that wrote it, with the whole reply'
    writer.notes.push({ kind: 'dropped', what: `${reasoning} reasoning parts`, why, at })
  }
  if (flat) {
    const why = 'this host refuses tool messages in the history'
    writer.notes.push({ kind: 'changed', what: 'tool calls to labelled text', why, at })
  }
  return items
}

function callItem(part: ToolCallPart, at: string, writer: Writer): Item {
  const input = sendableInput(part, at, writer)
  if (writer.target.quirks.flattenToolHistory) return { chunk: textChunk(flatCall(part.name, input)) }
  const call: WireCall = {
    id: writer.idOf(part.callId),
    type: 'function',
    function: { name: writer.names.toWire(part.name), arguments: JSON.stringify(input) },
  }
  return { call }
}

function sendableInput(part: ToolCallPart, at: string, writer: Writer): Json {
  if (part.malformed === undefined && isObject(part.input)) return cleanJson(part.input, at, writer.notes)
  const why = 'they were not a JSON object'
  writer.notes.push({ kind: 'changed', what: `arguments of the call of ${part.name}`, why, at })
  return cleanJson(malformedInput(part.malformed ?? JSON.stringify(part.input)), at, writer.notes)
}

function replyChunk(part: Part, at: string, writer: Writer): Chunk | undefined {
  const { notes } = writer
  switch (part.type) {
    case 'text':
    case 'refusal':
      return part.text === '' ? undefined : textChunk(cleanText(part.text, at, notes))
    case 'media':
      return standIn(part, at, notes)
    case 'compaction':
      if (part.text) return textChunk(cleanText(`${summaryLabel}\n${part.text}`, at, notes))
      notes.push({ kind: 'dropped', what: 'compaction', why: 'it has no words of ours', at })
      return undefined
    case 'server-tool': {
      if (part.output === undefined) {
        notes.push({ kind: 'dropped', what: `call of the provider's ${part.name}`, why: 'it has no output', at })
        return undefined
      }
      const why = "a tool that another provider ran itself has no place in this wire's history"
      notes.push({ kind: 'changed', what: `call of the provider's ${part.name} to labelled text`, why, at })
      const result = flatResult(flatResultLabel, part.name, JSON.stringify(part.output), false)
      return textChunk(cleanText(`${flatCall(part.name, part.input ?? {})}\n${result}`, at, notes))
    }
    case 'opaque':
      if (part.kind.startsWith(`${protocolId}/`) && isObject(part.data)) return part.data
      notes.push({ kind: 'dropped', what: part.kind, why: 'it is not of this wire', at })
      return undefined
    case 'tool-result': {
      const why = 'the wire has no place for it'
      notes.push({ kind: 'dropped', what: `result of ${part.name} inside a reply`, why, at })
      return undefined
    }
    default:
      return undefined
  }
}
