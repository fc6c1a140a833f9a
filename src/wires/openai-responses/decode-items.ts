// One output item while it streams: the content of its deltas so far, and the parts of the reply it has opened.
//
// Deltas are stored as pieces and joined once. The server's finished item is used; what is built here from pieces
// replaces it only if that item never arrived.

import type { Json, JsonObject } from '../../core/json.ts'
import type { Part } from '../../core/message.ts'
import { type Decoding, endPart, growPart, startPart, toolName } from '../shared/decoding.ts'
import { calledName, isWrapperName, marksOf, readItem } from './read-reply.ts'
import { asksClient, type Item, numberField, stringField, typeOf } from './types.ts'

interface OpenItem {
  /** The server's `output_index`. */
  index: number
  /** The item as it was announced. */
  added: Item
  /** The item as it was finished. */
  final?: Item
  /** The parts of the reply from this item, in order. */
  parts: OpenPart[]
  /** The contents of a message, by `content_index`. */
  contents: Map<number, OpenPart>
  /** Our id of the call, assigned when it was announced. */
  callId?: string
  /** The arguments are complete, even if the item was never finished. */
  argumentsDone?: boolean
}

interface OpenPart {
  /** The part's index in the reply. */
  index: number
  /** As last emitted: by `part-start`, or by `part-end`. */
  part: Part
  ended: boolean
  pieces: string[]
  /** Pieces of a reasoning summary, by its index. */
  summary: Map<number, string[]>
  annotations: Json[]
}

function openPart(index: number, part: Part): OpenPart {
  return { index, part, ended: false, pieces: [], summary: new Map(), annotations: [] }
}

/** The text so far of a part. */
function textSoFar(open: OpenPart): string {
  if (open.pieces.length > 0) return open.pieces.join('')
  return [...open.summary.values()].map((pieces) => pieces.join('')).join('\n\n')
}

/** The part so far, for an interrupted reply. */
function partSoFar(open: OpenPart): Part {
  const { part } = open
  const text = textSoFar(open)
  switch (part.type) {
    case 'text':
      return { type: 'text', text, ...(open.annotations.length > 0 && { citations: open.annotations }) }
    case 'refusal':
      return { type: 'refusal', text }
    case 'reasoning':
      return { type: 'reasoning', text, ...(open.pieces.length === 0 && { hidden: true }) }
    case 'tool-call':
      return { ...part, malformed: text }
    default:
      return part
  }
}

/** The item built from the pieces. */
function itemSoFar(slot: OpenItem, status: 'completed' | 'incomplete'): Item {
  const item: Item = { ...slot.added }
  switch (typeOf(item)) {
    case 'message':
      return { ...item, type: 'message', role: 'assistant', status, content: slot.parts.map(contentSoFar) }
    case 'function_call':
      return {
        ...item,
        status,
        arguments: slot.parts.map(textSoFar).join('') || (stringField(item, 'arguments') ?? ''),
      }
    case 'custom_tool_call':
      return { ...item, status, input: slot.parts.map(textSoFar).join('') || (stringField(item, 'input') ?? '') }
    case 'reasoning':
      return reasoningSoFar(item, slot.parts[0])
    default:
      return item
  }
}

function contentSoFar(open: OpenPart): JsonObject {
  const text = textSoFar(open)
  if (open.part.type === 'refusal') return { type: 'refusal', refusal: text }
  return { type: 'output_text', text, annotations: open.annotations }
}

/** The ciphertext of an announced item may be incomplete, so it is not stored (checked 2026-11). */
function reasoningSoFar(item: Item, open: OpenPart | undefined): Item {
  const { encrypted_content: _, ...rest } = item
  if (!open) return rest
  const summary = [...open.summary.values()].map((pieces) => ({ type: 'summary_text', text: pieces.join('') }))
  return {
    ...rest,
    ...(summary.length > 0 && { summary }),
    ...(open.pieces.length > 0 && { content: [{ type: 'reasoning_text', text: open.pieces.join('') }] }),
  }
}

const plainMessage: Item = { type: 'message', role: 'assistant' }

export interface State extends Decoding {
  /** The items in the order in which they were announced. */
  readonly items: OpenItem[]
  /** The response as it was last sent. */
  response: JsonObject
  /** The response that the last event brought. */
  terminal: JsonObject | undefined
  queued: boolean
}

export function announce(state: State, index: number, item: Item): OpenItem {
  const opened: OpenItem = { index, added: item, parts: [], contents: new Map() }
  state.items.push(opened)
  const type = typeOf(item)
  if (type === 'reasoning') beginPart(state, opened, { type: 'reasoning', text: '' })
  const isCall = type === 'function_call' || (type === 'custom_tool_call' && asksClient(item))
  // The children of a `parallel` call are not known before its arguments are complete.
  if (isCall && !isWrapperName(stringField(item, 'name'))) {
    const alias = stringField(item, 'call_id') || undefined
    opened.callId = state.nextCallId(alias)
    const name = toolName(state, calledName(item))
    const call = { callId: opened.callId, ...(alias && { alias }), name, input: {}, ...marksOf(item) }
    beginPart(state, opened, { type: 'tool-call', ...call })
  }
  return opened
}

/** The item of an event; an unannounced one is opened here. */
function itemFor(state: State, chunk: JsonObject, item: Item): OpenItem {
  return openItem(state, chunk, item) ?? announce(state, numberField(chunk, 'output_index') ?? state.items.length, item)
}

/** The same for an event that ends it: one that has ended, or is of another type, is another item. */
export function itemToClose(state: State, chunk: JsonObject, item: Item): OpenItem {
  const open = openItem(state, chunk, item)
  if (open && !open.final && typeOf(open.added) === typeOf(item)) return open
  return announce(state, numberField(chunk, 'output_index') ?? state.items.length, item)
}

function openItem({ items }: State, chunk: JsonObject, item: Item): OpenItem | undefined {
  const index = typeof chunk.output_index === 'number' ? chunk.output_index : undefined
  const last = items.at(-1)
  if (index !== undefined) return last?.index === index ? last : items.findLast((other) => other.index === index)
  const id = stringField(chunk, 'item_id') ?? stringField(item, 'id')
  return items.findLast((other) => id !== undefined && other.added.id === id) ?? last
}

function beginPart(state: State, item: OpenItem, part: Part): OpenPart {
  const opened = openPart(startPart(state, part), part)
  item.parts.push(opened)
  return opened
}

export function contentPart(state: State, chunk: JsonObject, kind: 'text' | 'refusal'): OpenPart {
  const item = itemFor(state, chunk, plainMessage)
  const place = typeof chunk.content_index === 'number' ? chunk.content_index : 0
  const existing = item.contents.get(place)
  if (existing) return existing
  const opened = beginPart(state, item, { type: kind, text: '' })
  item.contents.set(place, opened)
  return opened
}

/** Adds text to a part. With `isWhole` it is the complete text again, used only if no delta came before it. */
export function readText(state: State, chunk: JsonObject, kind: DeltaKind, text: string, isWhole: boolean): void {
  if (kind === 'text' || kind === 'refusal') {
    const part = contentPart(state, chunk, kind)
    if (!isWhole || part.pieces.length === 0) addText(state, part, text)
    return
  }
  const item = itemFor(state, chunk, { type: kind === 'summary' ? 'reasoning' : kind })
  if (kind === 'summary') {
    const [part] = item.parts
    if (part) addSummary(state, part, numberField(chunk, 'summary_index') ?? 0, text, isWhole)
    return
  }
  if (isWhole && kind !== 'reasoning') item.argumentsDone = true
  const part = (item.parts[0] ??= hiddenPart())
  if (isWhole && part.pieces.length > 0) return
  // The text of a free-form call is shown when the item is whole.
  if (kind !== 'custom_tool_call') addText(state, part, text)
  else if (text !== '') part.pieces.push(text)
}

function addText(state: State, part: OpenPart, text: string): void {
  if (text === '') return
  part.pieces.push(text)
  if (!part.ended && part.index >= 0) growPart(state, part.index, text)
}

function addSummary(state: State, part: OpenPart, index: number, text: string, isWhole: boolean): void {
  const pieces = part.summary.get(index) ?? []
  part.summary.set(index, pieces)
  if (text === '' || (isWhole && pieces.length > 0)) return
  const lead = pieces.length === 0 && part.summary.size > 1 && part.pieces.length === 0 ? '\n\n' : ''
  pieces.push(text)
  if (!part.ended) growPart(state, part.index, lead + text)
}

export function closeItem(state: State, open: OpenItem, item: Item): void {
  const from = state.items.filter((other) => other.final).length
  open.final = item
  const callId = (alias: string | undefined) => takeId(open) ?? state.nextCallId(alias)
  const parts = readItem(item, from, { callId, toolName: (name) => toolName(state, name) })
  const begun = open.parts.filter((part) => part.index >= 0)
  open.parts = parts.map((part, place) => {
    const opened = begun[place] ?? openPart(startPart(state, emptyPart(part)), part)
    return finishPart(state, opened, part)
  })
  // Parts that were streamed but are not in the finished item were withdrawn: they stay in the reply, outside of `native`.
  for (const leftover of begun.slice(parts.length)) open.parts.push(finishPart(state, leftover, partSoFar(leftover)))
}

function finishPart(state: State, open: OpenPart, part: Part): OpenPart {
  endPart(state, open.index, part)
  return { ...open, part, ended: true }
}

/** Ends an item that the server never finished; `finished`: the response was. */
export function finishItem(state: State, item: OpenItem, finished: boolean): void {
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
    finishPart(state, part.index >= 0 ? part : showCall(state, item, part), partSoFar(part)),
  )
}

/** A `parallel` call that was cut off before its children were known is shown as an ordinary call. */
function showCall(state: State, item: OpenItem, hidden: OpenPart): OpenPart {
  const alias = stringField(item.added, 'call_id') || undefined
  const name = stringField(item.added, 'name') ?? ''
  hidden.part = { type: 'tool-call', callId: state.nextCallId(alias), ...(alias && { alias }), name, input: {} }
  hidden.index = startPart(state, hidden.part)
  return hidden
}

/** The finished items in the server's order. Parts whose item moved are emitted again. */
export function nativeItems(state: State): Json[] {
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

/** Keeps the pieces of a call that is shown only when it is complete. */
function hiddenPart(): OpenPart {
  return openPart(-1, { type: 'text', text: '' })
}

export function isSame(a: Item, b: Item): boolean {
  return JSON.stringify(a) === JSON.stringify(b)
}

function takeId(slot: OpenItem): string | undefined {
  const id = slot.callId
  delete slot.callId
  return id
}

/** A part at its start, for items that arrived only when they were complete. */
function emptyPart(part: Part): Part {
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

// The content of each stream event, and which ones were already seen. Events that are not named here, or in the
// decoder, add nothing to the finished items.

type DeltaKind = 'text' | 'refusal' | 'reasoning' | 'summary' | 'function_call' | 'custom_tool_call'

export const contentKinds = new Map<string, DeltaKind>(
  Object.entries({
    output_text: 'text',
    text: 'text',
    refusal: 'refusal',
    reasoning_text: 'reasoning',
  }),
)

export const deltaKinds = new Map<string, { kind: DeltaKind; field: string; whole?: true }>(
  Object.entries({
    'response.output_text.delta': { kind: 'text', field: 'delta' },
    'response.output_text.done': { kind: 'text', field: 'text', whole: true },
    'response.refusal.delta': { kind: 'refusal', field: 'delta' },
    'response.refusal.done': { kind: 'refusal', field: 'refusal', whole: true },
    'response.reasoning_text.delta': { kind: 'reasoning', field: 'delta' },
    'response.reasoning_text.done': { kind: 'reasoning', field: 'text', whole: true },
    'response.reasoning_summary_text.delta': { kind: 'summary', field: 'delta' },
    'response.reasoning_summary_text.done': { kind: 'summary', field: 'text', whole: true },
    'response.function_call_arguments.delta': { kind: 'function_call', field: 'delta' },
    'response.function_call_arguments.done': { kind: 'function_call', field: 'arguments', whole: true },
    'response.custom_tool_call_input.delta': { kind: 'custom_tool_call', field: 'delta' },
    'response.custom_tool_call_input.done': { kind: 'custom_tool_call', field: 'input', whole: true },
  }),
)
