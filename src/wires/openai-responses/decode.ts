// Reads the events of one streamed reply.
//
// Events are routed by `output_index`: some servers change `item_id` with every event (checked 2026-11). A finished
// item is read from `response.output_item.done`, because the announced one may have half of the ciphertext, and the one
// in `response.completed` is encrypted again.

import { isObject, type Json, type JsonObject } from '../../core/json.ts'
import type { Origin, Part } from '../../core/message.ts'
import {
  decoding,
  endPart,
  endReply,
  growPart,
  startPart,
  startReply,
  takeEvents,
  toolName,
  type Decoding,
} from '../shared/decoding.ts'
import { readFailure } from '../shared/failure.ts'
import { stopAfterInterruption, type Outcome } from '../shared/interruption.ts'
import type { Decoder, DecoderOptions, EndCause } from '../wire.ts'
import { contentKinds, deltaKinds, duplicates, type DeltaKind } from './events.ts'
import { isWrapperName } from './parallel.ts'
import { calledName, marksOf, readItem } from './read-item.ts'
import { itemSoFar, openPart, partSoFar, type OpenPart, type OpenItem } from './open-part.ts'
import { readStop } from './stop.ts'
import { readUsage } from './usage.ts'
import { asksClient, numberIn, objectIn, objectsIn, stringIn, typeOf, type Item } from './types.ts'

const plainMessage: Item = { type: 'message', role: 'assistant' }

interface State extends Decoding {
  /** The items in the order in which they were announced. */
  readonly items: OpenItem[]
  /** The response as it was last sent. */
  response: JsonObject
  /** The response that the last event brought. */
  terminal: JsonObject | undefined
  queued: boolean
}

export function decoder(given: Origin, options?: DecoderOptions): Decoder {
  const state: State = { ...decoding(given, options), items: [], response: {}, terminal: undefined, queued: false }
  const isDuplicate = duplicates()
  return {
    push(chunk) {
      if (!isObject(chunk) || isDone(state) || isDuplicate(chunk)) return []
      if (isObject(chunk.response)) learnOrigin(state, chunk.response)
      startReply(state)
      read(state, chunk)
      return takeEvents(state)
    },
    end(cause) {
      startReply(state)
      const finished = state.terminal !== undefined && state.failure === undefined
      for (const item of state.items) if (!item.final) finishItem(state, item, finished)
      const native = nativeItems(state)
      return endReply(state, { ...outcome(state, cause), native, usage: readUsage(state.response.usage) })
    },
    get done() {
      return isDone(state)
    },
  }
}

function isDone({ terminal, failure }: State): boolean {
  return terminal !== undefined || failure !== undefined
}

function learnOrigin(state: State, response: JsonObject): void {
  state.response = response
  // A server may give each event another id (checked 2026-11): the last one can be continued.
  const { origin } = state
  const replyId = stringIn(response, 'id') ?? origin.replyId
  const model = origin.model || stringIn(response, 'model') || ''
  state.origin = { ...origin, model, ...(replyId !== undefined && { replyId }) }
}

function read(state: State, chunk: JsonObject): void {
  const type = typeof chunk.type === 'string' ? chunk.type : ''
  const delta = deltaKinds.get(type)
  state.queued = type === 'response.queued'
  if (delta) {
    readText(state, chunk, delta.kind, stringIn(chunk, delta.field) ?? '', delta.whole === true)
    return
  }
  switch (type) {
    case 'response.output_item.added':
      return readItemAdded(state, chunk)
    case 'response.output_item.done':
      return readItemDone(state, chunk)
    case 'response.content_part.added':
    case 'response.content_part.done':
      return readContentPart(state, chunk)
    case 'response.output_text.annotation.added':
      return readAnnotation(state, chunk)
    case 'response.completed':
    case 'response.incomplete':
    case 'response.cancelled':
    case 'response.failed':
      return readTerminal(state, objectIn(chunk, 'response') ?? {}, type)
    case 'error': {
      const { type: _, sequence_number: __, ...flat } = chunk
      return fail(state, objectIn(chunk, 'error') ?? flat, numberIn(chunk, 'status'))
    }
    case '':
      if (chunk.error !== undefined && chunk.error !== null) fail(state, chunk.error, numberIn(chunk, 'status'))
  }
}

function readItemAdded(state: State, chunk: JsonObject): void {
  const item = objectIn(chunk, 'item')
  if (!item) return
  // Repeated by a server that does not number its events.
  const isKnown = state.items.some(
    ({ index, added, final }) => index === chunk.output_index && !final && isSame(added, item),
  )
  if (!isKnown) announce(state, numberIn(chunk, 'output_index') ?? state.items.length, item)
}

function readItemDone(state: State, chunk: JsonObject): void {
  const item = objectIn(chunk, 'item')
  if (!item) return
  const isFinished = state.items.some(
    ({ index, final }) => index === chunk.output_index && final && isSame(final, item),
  )
  if (!isFinished) closeItem(state, itemToClose(state, chunk, item), item)
}

function readContentPart(state: State, chunk: JsonObject): void {
  const part = objectIn(chunk, 'part') ?? {}
  const kind = contentKinds.get(stringIn(part, 'type') ?? '')
  if (kind) readText(state, chunk, kind, stringIn(part, kind === 'refusal' ? 'refusal' : 'text') ?? '', true)
}

function readAnnotation(state: State, chunk: JsonObject): void {
  const part = contentPart(state, chunk, 'text')
  const { annotation } = chunk
  if (annotation !== undefined && annotation !== null) part.annotations.push(annotation)
}

function readTerminal(state: State, response: JsonObject, type: string): void {
  const items = objectsIn(response, 'output')
  if (items.length > state.items.filter((item) => item.final).length) {
    for (const [index, item] of items.entries()) {
      const known = state.items.find((other) => other.index === index)
      if (!known?.final) closeItem(state, itemToClose(state, { output_index: index }, item), item)
    }
  }
  const status = stringIn(response, 'status') ?? type.slice('response.'.length)
  state.terminal = { ...response, status }
  if (status === 'failed') fail(state, objectIn(response, 'error') ?? { message: 'The response failed.' }, undefined)
}

function fail(state: State, error: Json, status: number | undefined): void {
  state.failure = readFailure({
    body: isObject(error) ? { error } : error,
    ...(status !== undefined && { status }),
    provider: state.origin.provider,
  })
}

function announce(state: State, index: number, item: Item): OpenItem {
  const opened: OpenItem = { index, added: item, parts: [], contents: new Map() }
  state.items.push(opened)
  const type = typeOf(item)
  if (type === 'reasoning') beginPart(state, opened, { type: 'reasoning', text: '' })
  const isCall = type === 'function_call' || (type === 'custom_tool_call' && asksClient(item))
  // The children of a `parallel` call are not known before its arguments are complete.
  if (isCall && !isWrapperName(stringIn(item, 'name'))) {
    const alias = stringIn(item, 'call_id') || undefined
    opened.callId = state.nextCallId(alias)
    const name = toolName(state, calledName(item))
    const call = { callId: opened.callId, ...(alias && { alias }), name, input: {}, ...marksOf(item) }
    beginPart(state, opened, { type: 'tool-call', ...call })
  }
  return opened
}

/** The item of an event; an unannounced one is opened here. */
function itemFor(state: State, chunk: JsonObject, item: Item): OpenItem {
  return openItem(state, chunk, item) ?? announce(state, numberIn(chunk, 'output_index') ?? state.items.length, item)
}

/** The same for an event that ends it: one that has ended, or is of another type, is another item. */
function itemToClose(state: State, chunk: JsonObject, item: Item): OpenItem {
  const found = openItem(state, chunk, item)
  if (found && !found.final && typeOf(found.added) === typeOf(item)) return found
  return announce(state, numberIn(chunk, 'output_index') ?? state.items.length, item)
}

function openItem({ items }: State, chunk: JsonObject, item: Item): OpenItem | undefined {
  const index = typeof chunk.output_index === 'number' ? chunk.output_index : undefined
  const last = items.at(-1)
  if (index !== undefined) return last?.index === index ? last : items.findLast((other) => other.index === index)
  const id = stringIn(chunk, 'item_id') ?? stringIn(item, 'id')
  return items.findLast((other) => id !== undefined && other.added.id === id) ?? last
}

function beginPart(state: State, item: OpenItem, part: Part): OpenPart {
  const opened = openPart(startPart(state, part), part)
  item.parts.push(opened)
  return opened
}

function contentPart(state: State, chunk: JsonObject, kind: 'text' | 'refusal'): OpenPart {
  const item = itemFor(state, chunk, plainMessage)
  const place = typeof chunk.content_index === 'number' ? chunk.content_index : 0
  const known = item.contents.get(place)
  if (known) return known
  const opened = beginPart(state, item, { type: kind, text: '' })
  item.contents.set(place, opened)
  return opened
}

/** Adds text to a part. `whole` is the complete text again: it is used only if no delta came before it. */
function readText(state: State, chunk: JsonObject, kind: DeltaKind, text: string, whole: boolean): void {
  if (kind === 'text' || kind === 'refusal') {
    const part = contentPart(state, chunk, kind)
    if (!whole || part.pieces.length === 0) addText(state, part, text)
    return
  }
  const item = itemFor(state, chunk, { type: kind === 'summary' ? 'reasoning' : kind })
  if (kind === 'summary') {
    const [part] = item.parts
    if (part) addSummary(state, part, numberIn(chunk, 'summary_index') ?? 0, text, whole)
    return
  }
  if (whole && kind !== 'reasoning') item.argumentsDone = true
  const part = (item.parts[0] ??= hiddenPart())
  if (whole && part.pieces.length > 0) return
  // The text of a free-form call is shown when the item is whole.
  if (kind !== 'custom_tool_call') addText(state, part, text)
  else if (text !== '') part.pieces.push(text)
}

function addText(state: State, part: OpenPart, text: string): void {
  if (text === '') return
  part.pieces.push(text)
  if (!part.ended && part.index >= 0) growPart(state, part.index, text)
}

function addSummary(state: State, part: OpenPart, at: number, text: string, whole: boolean): void {
  const pieces = part.summary.get(at) ?? []
  part.summary.set(at, pieces)
  if (text === '' || (whole && pieces.length > 0)) return
  const lead = pieces.length === 0 && part.summary.size > 1 && part.pieces.length === 0 ? '\n\n' : ''
  pieces.push(text)
  if (!part.ended) growPart(state, part.index, lead + text)
}

function closeItem(state: State, open: OpenItem, item: Item): void {
  const from = state.items.filter((other) => other.final).length
  open.final = item
  const callId = (alias: string | undefined) => takeId(open) ?? state.nextCallId(alias)
  const parts = readItem(item, from, { callId, toolName: (name) => toolName(state, name) })
  const begun = open.parts.filter((part) => part.index >= 0)
  open.parts = parts.map((part, place) => {
    const known = begun[place] ?? openPart(startPart(state, emptied(part)), part)
    return finishPart(state, known, part)
  })
  // What was streamed but is not in the finished item was withdrawn; it stays in the reply, outside of native.
  for (const left of begun.slice(parts.length)) open.parts.push(finishPart(state, left, partSoFar(left)))
}

function finishPart(state: State, open: OpenPart, part: Part): OpenPart {
  endPart(state, open.index, part)
  return { ...open, part, ended: true }
}

/** Ends an item that the server never finished; `finished`: the response was. */
function finishItem(state: State, item: OpenItem, finished: boolean): void {
  const type = typeOf(item.added)
  const isText = type === 'message' && item.parts.some((part) => part.pieces.length > 0)
  if (finished || isText || item.argumentsDone) {
    closeItem(state, item, itemSoFar(item, finished || item.argumentsDone ? 'completed' : 'incomplete'))
    return
  }
  if (item.parts.length === 0 && type === 'function_call') item.parts.push(hiddenPart())
  else if (item.parts.length === 0 && type !== 'message') {
    const callbacks = { callId: state.nextCallId, toolName: (name: string) => toolName(state, name) }
    for (const part of readItem(item.added, undefined, callbacks)) beginPart(state, item, part)
  }
  item.parts = item.parts.map((part) =>
    finishPart(state, part.index >= 0 ? part : shownCall(state, item, part), partSoFar(part)),
  )
}

/** A `parallel` call that was cut off before its children were known is shown as an ordinary call. */
function shownCall(state: State, item: OpenItem, hidden: OpenPart): OpenPart {
  const alias = stringIn(item.added, 'call_id') || undefined
  const name = stringIn(item.added, 'name') ?? ''
  hidden.part = { type: 'tool-call', callId: state.nextCallId(alias), ...(alias && { alias }), name, input: {} }
  hidden.index = startPart(state, hidden.part)
  return hidden
}

/** The finished items in the server's order. Parts whose item moved are emitted again. */
function nativeItems(state: State): Json[] {
  const came = state.items.filter((item) => item.final)
  const distinct = new Set(came.map((item) => item.index)).size === came.length
  const ordered = distinct ? came.toSorted((a, b) => a.index - b.index) : came
  for (const [from, item] of ordered.entries()) {
    for (const { index, part } of item.parts) {
      if (!('from' in part) || part.from === undefined || part.from === from) continue
      endPart(state, index, { ...part, from })
    }
  }
  return ordered.flatMap((item) => (item.final ? [item.final] : []))
}

function outcome({ failure, terminal, items, queued }: State, cause: EndCause | undefined): Outcome {
  if (failure) return { stop: { reason: 'failed', raw: stringIn(terminal ?? {}, 'status') ?? 'error' }, failure }
  const parts = items.flatMap((item) => item.parts.map(({ part }) => part))
  if (terminal) return { stop: readStop(terminal, parts) }
  return queued && !cause ? { stop: { reason: 'paused', raw: 'queued' } } : stopAfterInterruption(cause)
}

/** Keeps the pieces of a call that is shown only when it is complete. */
function hiddenPart(): OpenPart {
  return openPart(-1, { type: 'text', text: '' })
}

function isSame(a: Item, b: Item): boolean {
  return JSON.stringify(a) === JSON.stringify(b)
}

function takeId(slot: OpenItem): string | undefined {
  const id = slot.callId
  delete slot.callId
  return id
}

/** A part at its start, for items that arrived only when they were complete. */
function emptied(part: Part): Part {
  switch (part.type) {
    case 'text':
    case 'reasoning':
    case 'refusal':
      return { type: part.type, text: '' }
    case 'tool-call': {
      const { malformed: _, from: __, ...rest } = part
      return { ...rest, input: {} }
    }
    default:
      return part
  }
}
