// A reply as items of an assistant turn: its native data if this host wrote it, otherwise built from its parts.
// Reasoning never becomes text.

import type { Note } from '../../core/context.ts'
import { isObject, type Json, type JsonObject } from '../../core/json.ts'
import {
  callsOf,
  type MediaPart,
  type Part,
  type Reply,
  type ServerToolPart,
  type ToolCallPart,
  type ToolMessage,
} from '../../core/message.ts'
import { textOfCall } from '../../core/tool-kinds.ts'
import { cleanJson } from '../shared/clean-json.ts'
import {
  emptyResultText,
  flatCall,
  flatResult,
  flatResultLabel,
  malformedInput,
  mediaStandIn,
  summaryLabel,
} from '../shared/injected-text.ts'
import { isReplayable } from '../shared/replayable.ts'
import { serverToolText, withSources } from '../shared/server-tool-text.ts'
import { cleanText } from '../shared/text.ts'
import type { Target } from '../wire.ts'
import { type Dialect, type Item, textPart, type Encoding } from './dialect.ts'

/** Whether the native reply is sent. */
export function isReplayed(reply: Reply, target: Target, dialect: Dialect, flat: string | undefined): boolean {
  if (!isReplayable(reply, dialect.id, target)) return false
  const [message] = reply.native
  if (reply.native.length !== 1 || !isObject(message) || isObject(message.function_call)) return false
  if (target.quirks.stringContent && Array.isArray(message.content)) return false
  const calls = callsOf(reply)
  if (calls.length > 0 && flat) return false
  if (target.quirks.flatArguments && calls.some(({ input }) => isNested(input))) return false
  return answerableCalls(message).length === calls.length
}

export function encodeReply(reply: Reply, at: string, encoding: Encoding): Item[] {
  const { dialect, target, flat } = encoding
  if (!isReplayed(reply, target, dialect, flat)) {
    const items = fromParts(withSources(reply, at, encoding.notes), at, encoding)
    return dialect.built ? dialect.built(items, reply, at, encoding) : items
  }
  const message = dialect.replay(reply, reply.native[0] as JsonObject, at, encoding)
  return message ? [{ message: cleanJson(message, at, encoding.notes) }] : []
}

function answerableCalls(message: JsonObject): JsonObject[] {
  const calls = Array.isArray(message.tool_calls) ? message.tool_calls.filter(isObject) : []
  return calls.filter((call) => isObject(call.function) || isObject(call.custom))
}

/** The original calls of a reply, without what the wire would refuse in them. */
export function sendableCalls(reply: Reply, native: JsonObject, at: string, encoding: Encoding): JsonObject[] {
  const parts = callsOf(reply)
  const calls = answerableCalls(native)
  const count = Array.isArray(native.tool_calls) ? native.tool_calls.length : 0
  if (count > calls.length) {
    const why = 'only calls of tools can be answered here, and an unanswered call is refused'
    const { otherCalls: rule } = encoding.dialect.rules
    encoding.notes.push({ kind: 'dropped', what: `${count - calls.length} calls`, why, at, ...(rule && { rule }) })
  }
  return calls.map((call, index) => sendableCall(call, parts[index] as ToolCallPart, at, encoding))
}

function sendableCall(call: JsonObject, part: ToolCallPart, at: string, encoding: Encoding): JsonObject {
  const { dialect, notes } = encoding
  const { callId, callName, arguments: inArguments } = dialect.rules
  const settled: JsonObject = { ...call }
  if (!dialect.callIndex) delete settled.index
  const change = (what: string, why: string, rule?: string) =>
    notes.push({ kind: 'changed', what, why, at, ...(rule && { rule }) })

  const id = encoding.idOf(part.callId)
  if (!encoding.isIdless(part.callId) && call.id !== id) {
    settled.id = id
    change(
      `id of the call of ${part.name} to ${JSON.stringify(id)}`,
      call.id ? 'it is too long or used twice' : 'it had none',
      callId,
    )
  }
  if (isObject(call.custom) || isFreeForm(part, encoding)) return withForm(settled, builtCall(part, at, encoding))
  const fn: JsonObject = isObject(call.function) ? { ...call.function } : {}
  const name = encoding.names.toWire(part.name)
  if (fn.name !== name) {
    fn.name = name
    change(
      `name of the call of ${part.name} to ${JSON.stringify(name)}`,
      'the tool has this name on the wire',
      callName,
    )
  }
  if (part.malformed !== undefined) {
    fn.arguments = dialect.arguments.write(sendableInput(part, at, encoding))
  } else if (!dialect.arguments.isValid(fn.arguments)) {
    fn.arguments = dialect.arguments.write(part.input)
    change(`arguments of the call of ${part.name}`, 'hosts want a JSON object, also for no arguments', inArguments)
  } else {
    const clean = cleanJson(part.input, at, notes)
    if (clean !== part.input) fn.arguments = dialect.arguments.write(clean)
  }
  settled.function = fn
  return settled
}

/** The call in the form that its tool has now, with the unknown fields of the original. */
function withForm({ function: _function, custom, ...original }: JsonObject, call: JsonObject): JsonObject {
  const unknownFields = isObject(custom) && isObject(call.custom) && { custom: { ...custom, ...call.custom } }
  return { ...original, ...call, ...unknownFields }
}

/** Whether the target has a form for calls of free-form tools, and the tool of this call is one. */
function isFreeForm(part: ToolCallPart, { dialect, target, toolKind }: Encoding): boolean {
  if (!dialect.freeFormCall || target.capabilities.toolKinds !== true) return false
  return (toolKind(part.name) ?? part.kind) === 'free-form'
}

function builtCall(part: ToolCallPart, at: string, encoding: Encoding): JsonObject {
  const { dialect, notes } = encoding
  const id = encoding.idOf(part.callId)
  const name = encoding.names.toWire(part.name)
  if (dialect.freeFormCall && isFreeForm(part, encoding)) {
    return dialect.freeFormCall(id, name, cleanText(textOfCall(part), at, notes))
  }
  return dialect.call(id, name, sendableInput(part, at, encoding))
}

/** Half a surrogate pair is well-formed in this text, as an escape, but breaks the host that parses it. */
function sendableInput(part: ToolCallPart, at: string, { dialect, notes, target }: Encoding): Json {
  if (part.malformed === undefined && isObject(part.input)) {
    const clean = cleanJson(part.input, at, notes)
    return target.quirks.flatArguments && isNested(clean) ? flattenInput(clean, part.name, at, notes) : clean
  }
  const what = `arguments of the call of ${part.name}`
  const { arguments: rule } = dialect.rules
  notes.push({ kind: 'changed', what, why: 'they were not a JSON object', at, ...(rule && { rule }) })
  return malformedInput(cleanText(part.malformed ?? JSON.stringify(part.input), at, notes))
}

function isNested(input: Json): boolean {
  return isObject(input) && !Object.values(input).every(isPlain)
}

function isPlain(value: Json | undefined): boolean {
  return typeof value !== 'object' || value === null
}

function flattenInput(input: JsonObject, name: string, at: string, notes: Note[]): JsonObject {
  const what = `lists and objects in the arguments of the call of ${name} to JSON text`
  notes.push({ kind: 'changed', what, why: "the model's chat template shows only plain values", at })
  return Object.fromEntries(
    Object.entries(input).map(([key, value]) => [key, isPlain(value) ? value : JSON.stringify(value)]),
  )
}

function fromParts(reply: Reply, at: string, encoding: Encoding): Item[] {
  const { dialect, notes, flat } = encoding
  const items: Item[] = []
  let previous: Part['type'] | undefined
  for (const part of reply.parts) {
    const item = itemOf(part, reply, at, encoding)
    const last = items.at(-1)
    const joins = dialect.joinsTexts && part.type === 'text' && previous === 'text'
    if (joins && item && 'part' in item && last && 'part' in last) {
      items[items.length - 1] = { part: textPart(`${String(last.part.text)}${String(item.part.text)}`) }
    } else if (item) items.push(item)
    previous = part.type
  }
  const reasoning = reply.parts.filter((part) => part.type === 'reasoning').length
  if (reasoning > 0 && !dialect.handlesReasoning) {
    const why = 'reasoning is only sent back to the model that wrote it, with the whole reply'
    notes.push({ kind: 'dropped', what: `${reasoning} reasoning parts`, why, at })
  }
  if (flat && callsOf(reply).length > 0) {
    notes.push({ kind: 'changed', what: 'tool calls to labelled text', why: flat, at })
  }
  return items
}

function itemOf(part: Part, reply: Reply, at: string, encoding: Encoding): Item | undefined {
  const { dialect, target, notes } = encoding
  if (part.type === 'opaque') {
    const content = dialect.ownReplyContent(part, reply, target)
    if (content) return content
    const reason = dialect.unsendable?.(part) ?? { why: 'it belongs to another host' }
    notes.push({ kind: 'dropped', what: part.kind, at, ...reason })
    return undefined
  }
  if (part.type === 'tool-call' && !encoding.flat) return { call: builtCall(part, at, encoding) }
  const text = partText(part, at, encoding)
  return text ? { part: textPart(cleanText(text, at, notes)) } : undefined
}

function partText(part: Exclude<Part, { type: 'opaque' }>, at: string, encoding: Encoding): string | undefined {
  const { notes } = encoding
  const dropped = (what: string, why: string): undefined => {
    notes.push({ kind: 'dropped', what, why, at })
  }
  switch (part.type) {
    case 'text':
      return part.text
    case 'refusal':
      if (part.text !== '')
        notes.push({ kind: 'changed', what: 'refusal to text', why: 'every host supports text', at })
      return part.text
    case 'media':
      return standIn(part, at, notes).text
    case 'tool-call':
      return flatCall(part.name, sendableInput(part, at, encoding))
    case 'compaction':
      return part.text ? `${summaryLabel}\n${part.text}` : dropped('compaction', 'it has no text')
    case 'server-tool':
      return (
        serverToolAsText(part, at, encoding) ??
        dropped(`call of the provider's ${part.name}`, 'it has no input or output')
      )
    case 'tool-result':
      return dropped(`result of ${part.name} inside a reply`, 'the wire has no place for it')
    default:
      return undefined
  }
}

function serverToolAsText(part: ServerToolPart, at: string, { notes }: Encoding): string | undefined {
  const text = serverToolText(part)
  if (text === undefined) return undefined
  const why = 'a tool that the provider ran itself has no place in the history of this wire'
  notes.push({ kind: 'changed', what: `call of the provider's ${part.name} to labelled text`, why, at })
  return text
}

// Tool results: one message each, text only unless the host supports media there. A failed result says so in its text,
// because these wires have no flag for it.

/** Media goes to `following`, to be shown in a user message after the whole block of results. */
export function toolItems(message: ToolMessage, at: string, encoding: Encoding, following: Item[]): Item[] {
  const { dialect, target, notes } = encoding
  return message.parts.map((result) => {
    const lines: string[] = []
    const media: JsonObject[] = []
    for (const piece of result.output) {
      if (piece.type === 'text') {
        if (piece.text !== '') lines.push(cleanText(piece.text, at, notes))
        continue
      }
      const inside = dialect.media(piece, target, target.capabilities.resultMedia)
      const after = inside ? undefined : dialect.media(piece, target)
      if (inside) media.push(inside)
      else if (after) {
        lines.push(mediaFollows(piece))
        following.push({ part: after })
        const what = `${piece.mediaType} of a result of ${result.name} to a user message after the results`
        const { resultMedia: rule } = dialect.rules
        notes.push({ kind: 'changed', what, why: 'a tool message can only have text', at, ...(rule && { rule }) })
      } else lines.push(standIn(piece, at, notes).text)
    }
    const text = resultText(lines, result.failed === true, media.length > 0)
    return { message: dialect.result(result, { text, media }, encoding) }
  })
}

export function flatResults(message: ToolMessage, at: string, encoding: Encoding, why: string): Item[] {
  const { dialect, target, notes } = encoding
  const items: Item[] = []
  for (const result of message.parts) {
    const lines: string[] = []
    const media: Item[] = []
    for (const piece of result.output) {
      const part = piece.type === 'media' ? dialect.media(piece, target) : undefined
      if (part) media.push({ part })
      else if (piece.type === 'media') lines.push(standIn(piece, at, notes).text)
      else if (piece.text !== '') lines.push(cleanText(piece.text, at, notes))
    }
    const text = lines.join('\n') || emptyResultText
    items.push({ part: textPart(flatResult(flatResultLabel, result.name, text, result.failed === true)) }, ...media)
  }
  if (items.length > 0) notes.push({ kind: 'changed', what: 'tool results to labelled user text', why, at })
  return items
}

function resultText(lines: readonly string[], failed: boolean, mayBeEmpty: boolean): string {
  const text = lines.join('\n')
  if (failed) return text.startsWith('Error: ') ? text : `Error: ${text || emptyResultText}`
  return text || (mayBeEmpty ? '' : emptyResultText)
}

export function standIn(part: MediaPart, at: string, notes: Note[]): { type: 'text'; text: string } {
  notes.push({
    kind: 'dropped',
    what: part.mediaType,
    why: 'the model does not support it; a line of text replaces it',
    at,
  })
  return textPart(mediaStandIn(part.mediaType, part.name))
}

function mediaFollows(part: MediaPart): string {
  return `[${part.mediaType}${part.name ? ` ${JSON.stringify(part.name)}` : ''}, shown below the tool results]`
}
