// A reply as items of an assistant turn: in its own words where Ollama wrote it, else built from its parts. The words
// go back to the same server whatever model it runs; the thinking only to the model that thought it.

import { isObject, type JsonObject } from '../../core/json.ts'
import { callsOf, type Part, type Reply, type ToolCallPart } from '../../core/message.ts'
import { cleanJson } from '../shared/clean-json.ts'
import type { Target } from '../wire.ts'
import { cleanText } from '../shared/text.ts'
import {
  flatCall,
  flatResult,
  flatResultLabel,
  malformedInput,
  mediaStandIn,
  summaryLabel,
} from '../shared/injected-text.ts'
import { protocolId } from './types.ts'
import type { Item, Writer } from './writer.ts'
import { isReplayable } from '../shared/replayable.ts'

/** Whether the reply is sent in the provider's own words. */
export function isReplayed(reply: Reply, target: Target): boolean {
  if (!isReplayable(reply, protocolId, target)) return false
  const [message] = reply.native
  if (reply.native.length !== 1 || !isObject(message)) return false
  const calls = callsOf(reply).length
  if (calls > 0 && target.quirks.flattenToolHistory) return false
  return nativeCalls(message).length === calls
}

/** A call that came without an id goes back without one, and its result is told by name and order. */
export function sendsId(reply: Reply, call: ToolCallPart, target: Target): boolean {
  return call.alias !== undefined || !isReplayed(reply, target)
}

export function encodeReply(reply: Reply, at: string, writer: Writer): Item[] {
  if (!isReplayed(reply, writer.target)) return fromParts(reply, at, writer)
  const message = replay(reply, reply.native[0] as JsonObject, at, writer)
  const isEmpty = !message.content && !message.thinking && !message.tool_calls && !message.images
  return isEmpty ? [] : [{ message: cleanJson(message, at, writer.notes) }]
}

function replay(reply: Reply, native: JsonObject, at: string, writer: Writer): JsonObject {
  const message: JsonObject = { ...native, role: 'assistant' }
  if (message.thinking !== undefined && reply.origin.model !== writer.target.model) {
    delete message.thinking
    const why = 'only the model that thought it is shown it again'
    writer.notes.push({ kind: 'dropped', what: '1 reasoning part', why, at })
  }
  const calls = nativeCalls(native)
  const parts = callsOf(reply)
  if (calls.length > 0) {
    message.tool_calls = calls.map((call, index) => settledCall(call, parts[index] as ToolCallPart, at, writer))
  } else delete message.tool_calls
  return message
}

function nativeCalls(message: JsonObject): JsonObject[] {
  return Array.isArray(message.tool_calls) ? message.tool_calls.filter(isObject) : []
}

/** The call as it came, less what the server would refuse in it. */
function settledCall(call: JsonObject, part: ToolCallPart, at: string, writer: Writer): JsonObject {
  const settled: JsonObject = { ...call }
  const change = (what: string, why: string) => writer.notes.push({ kind: 'changed', what, why, at })
  const id = writer.idOf(part.callId)
  if (part.alias !== undefined && call.id !== id) {
    settled.id = id
    change(`id of the call of ${part.name} to ${JSON.stringify(id)}`, 'an earlier call has the same id')
  }
  const fn: JsonObject = isObject(call.function) ? { ...call.function } : { name: part.name }
  if (part.malformed !== undefined || !isObject(fn.arguments)) {
    fn.arguments = part.malformed !== undefined ? malformedInput(part.malformed) : part.input
    change(`arguments of the call of ${part.name} to an object`, 'the server takes nothing else')
  }
  settled.function = fn
  return settled
}

function fromParts(reply: Reply, at: string, writer: Writer): Item[] {
  const items: Item[] = []
  let reasoning = 0
  let running: { text: string } | undefined
  for (const part of reply.parts) {
    if (part.type === 'reasoning') reasoning++
    else if (part.type === 'tool-call') items.push(callItem(part, at, writer))
    else if (part.type === 'opaque' && part.kind === `${protocolId}/fields` && isObject(part.data)) {
      items.push({ fields: part.data })
    } else if (part.type === 'text') {
      if (part.text === '') continue
      // Neighbouring texts of a reply are one sentence as often as not: they are joined without a break.
      const text = cleanText(part.text, at, writer.notes)
      if (running) running.text += text
      else items.push((running = { text }))
      continue
    } else {
      const text = toldAsText(part, at, writer)
      if (text) items.push({ text })
    }
    if (part.type !== 'reasoning') running = undefined
  }
  if (reasoning > 0) {
    const why = 'reasoning is only sent back to the model that thought it, with the whole reply'
    writer.notes.push({ kind: 'dropped', what: `${reasoning} reasoning parts`, why, at })
  }
  if (writer.target.quirks.flattenToolHistory && callsOf(reply).length > 0) {
    const why = 'the model behind this server does not take tool messages'
    writer.notes.push({ kind: 'changed', what: 'tool calls to labelled text', why, at })
  }
  return items
}

function callItem(part: ToolCallPart, at: string, writer: Writer): Item {
  const isSound = part.malformed === undefined && isObject(part.input)
  if (!isSound) {
    const why = 'they were not a JSON object'
    writer.notes.push({ kind: 'changed', what: `arguments of the call of ${part.name}`, why, at })
  }
  const input = isSound ? part.input : malformedInput(part.malformed ?? JSON.stringify(part.input))
  const args = cleanJson(input, at, writer.notes)
  if (writer.target.quirks.flattenToolHistory) return { text: flatCall(part.name, args) }
  return { call: { id: writer.idOf(part.callId), function: { name: part.name, arguments: args } } }
}

function toldAsText(part: Part, at: string, writer: Writer): string | undefined {
  const { notes } = writer
  switch (part.type) {
    case 'refusal':
      return cleanText(part.text, at, notes)
    case 'media':
      notes.push({ kind: 'dropped', what: part.mediaType, why: 'a reply carries no media here', at })
      return mediaStandIn(part.mediaType, part.name)
    case 'compaction':
      if (part.text) return cleanText(`${summaryLabel}\n${part.text}`, at, notes)
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
      return cleanText(`${flatCall(part.name, part.input ?? {})}\n${result}`, at, notes)
    }
    case 'opaque':
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
