// One output item while it streams: the content of its deltas so far, and the parts of the reply it has opened.
//
// Deltas are stored as pieces and joined once. The server's finished item is used; what is built here from pieces
// replaces it only if that item never arrived.

import type { Json, JsonObject } from '../../core/json.ts'
import type { Part } from '../../core/message.ts'
import { stringIn, typeOf, type Item } from './types.ts'

export interface OpenItem {
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

export interface OpenPart {
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

export function openPart(index: number, part: Part): OpenPart {
  return { index, part, ended: false, pieces: [], summary: new Map(), annotations: [] }
}

/** The text so far of a part. */
function textSoFar(open: OpenPart): string {
  if (open.pieces.length > 0) return open.pieces.join('')
  return [...open.summary.values()].map((pieces) => pieces.join('')).join('\n\n')
}

/** The part so far, for an interrupted reply. */
export function partSoFar(open: OpenPart): Part {
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
export function itemSoFar(slot: OpenItem, status: 'completed' | 'incomplete'): Item {
  const item: Item = { ...slot.added }
  switch (typeOf(item)) {
    case 'message':
      return { ...item, type: 'message', role: 'assistant', status, content: slot.parts.map(contentSoFar) }
    case 'function_call':
      return { ...item, status, arguments: slot.parts.map(textSoFar).join('') || (stringIn(item, 'arguments') ?? '') }
    case 'custom_tool_call':
      return { ...item, status, input: slot.parts.map(textSoFar).join('') || (stringIn(item, 'input') ?? '') }
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
