// Reads the events of one streamed reply.
//
// Events are routed by `output_index`: some servers change `item_id` with every event (checked 2026-11). A finished item
// is taken from `response.output_item.done`, because the announced one may hold half of the ciphertext, and the one in
// `response.completed` is encrypted again.

import type { Failure } from '../../core/error.ts'
import type { ReplyEvent } from '../../core/event.ts'
import { isObject, type Json, type JsonObject } from '../../core/json.ts'
import type { Origin, Part } from '../../core/message.ts'
import { stopAfterInterruption, type Outcome } from '../shared/interruption.ts'
import { callIds } from '../shared/call-ids.ts'
import { readFailure } from '../shared/failure.ts'
import type { Decoder, DecoderOptions, EndCause } from '../wire.ts'
import { contentKinds, deltaKinds, duplicates, type DeltaKind } from './events.ts'
import { isWrapperName } from './parallel.ts'
import { calledName, marksOf, readItem } from './read-item.ts'
import { itemSoFar, openPart, partSoFar, type OpenPart, type OpenItem } from './open-part.ts'
import { readStop } from './stop.ts'
import { readUsage } from './usage.ts'
import { asksClient, numberIn, objectIn, objectsIn, stringIn, typeOf, type Item } from './types.ts'

const plainMessage: Item = { type: 'message', role: 'assistant' }

export function decoder(given: Origin, options?: DecoderOptions): Decoder {
  const nextCallId = callIds(options)
  const toolName = (name: string) => named(options?.toolNames, name)
  const slots: OpenItem[] = []
  const isDuplicate = duplicates()
  let origin = given
  let started = false
  let nextPart = 0
  let response: JsonObject = {}
  let terminal: JsonObject | undefined
  let failure: Failure | undefined
  let queued = false

  return {
    get done() {
      return terminal !== undefined || failure !== undefined
    },
    push(chunk) {
      if (!isObject(chunk) || terminal || failure || isDuplicate(chunk)) return []
      const events: ReplyEvent[] = []
      learn(chunk)
      start(events)
      handle(chunk, events)
      return events
    },
    end(cause) {
      const events: ReplyEvent[] = []
      start(events)
      const finished = terminal !== undefined && failure === undefined
      for (const slot of slots) if (!slot.final) finish(slot, finished, events)
      const native = settleNative(events)
      const { stop, failure: why } = outcome(cause)
      const usage = readUsage(response.usage)
      events.push({
        type: 'reply-end',
        origin,
        stop,
        native,
        ...(usage && { usage }),
        ...(why && { failure: why }),
      })
      return events
    },
  }

  function start(events: ReplyEvent[]): void {
    if (started) return
    started = true
    events.push({ type: 'reply-start', origin })
  }

  function learn(chunk: JsonObject): void {
    const told = chunk.response
    if (!isObject(told)) return
    response = told
    // A server may give each event another id (checked 2026-11): the last one is the one that can be continued from.
    const replyId = stringIn(told, 'id') ?? origin.replyId
    const model = origin.model || stringIn(told, 'model') || ''
    origin = { ...origin, model, ...(replyId !== undefined && { replyId }) }
  }

  function handle(chunk: JsonObject, events: ReplyEvent[]): void {
    const type = typeof chunk.type === 'string' ? chunk.type : ''
    const delta = deltaKinds.get(type)
    if (delta) {
      queued = false
      grow(chunk, delta.kind, stringIn(chunk, delta.field) ?? '', delta.whole === true, events)
      return
    }
    queued = type === 'response.queued'
    switch (type) {
      case 'response.output_item.added': {
        const item = objectIn(chunk, 'item')
        if (item && !isKnown(chunk, item)) announce(numberIn(chunk, 'output_index') ?? slots.length, item, events)
        break
      }
      case 'response.output_item.done': {
        const item = objectIn(chunk, 'item')
        if (item && !isFinished(chunk, item)) close(slotFor(chunk, item, events, true), item, events)
        break
      }
      case 'response.content_part.added':
      case 'response.content_part.done': {
        const part = objectIn(chunk, 'part') ?? {}
        const kind = contentKinds.get(stringIn(part, 'type') ?? '')
        if (kind) grow(chunk, kind, stringIn(part, kind === 'refusal' ? 'refusal' : 'text') ?? '', true, events)
        break
      }
      case 'response.output_text.annotation.added': {
        const open = contentPart(chunk, 'text', events)
        const annotation = chunk.annotation
        if (annotation !== undefined && annotation !== null) open.annotations.push(annotation)
        break
      }
      case 'response.completed':
      case 'response.incomplete':
      case 'response.cancelled':
      case 'response.failed':
        finishWith(objectIn(chunk, 'response') ?? {}, type, events)
        break
      case 'error': {
        const { type: _, sequence_number: __, ...flat } = chunk
        fail(objectIn(chunk, 'error') ?? flat, numberIn(chunk, 'status'))
        break
      }
      case '':
        if (chunk.error !== undefined && chunk.error !== null) fail(chunk.error, numberIn(chunk, 'status'))
    }
  }

  /** Said twice, by a server that does not count its events. */
  function isKnown(chunk: JsonObject, item: Item): boolean {
    return slots.some((slot) => slot.index === chunk.output_index && !slot.final && isSame(slot.added, item))
  }

  function isFinished(chunk: JsonObject, item: Item): boolean {
    return slots.some((slot) => slot.index === chunk.output_index && slot.final && isSame(slot.final, item))
  }

  function announce(index: number, item: Item, events: ReplyEvent[]): OpenItem {
    const slot: OpenItem = { index, added: item, parts: [], contents: new Map() }
    slots.push(slot)
    const type = typeOf(item)
    if (type === 'reasoning') open(slot, { type: 'reasoning', text: '' }, events)
    const isCall = type === 'function_call' || (type === 'custom_tool_call' && asksClient(item))
    // The children of a `parallel` call are not known before its arguments are whole.
    if (isCall && !isWrapperName(stringIn(item, 'name'))) {
      const alias = stringIn(item, 'call_id') || undefined
      slot.callId = nextCallId(alias)
      const name = toolName(calledName(item))
      const call = { callId: slot.callId, ...(alias && { alias }), name, input: {}, ...marksOf(item) }
      open(slot, { type: 'tool-call', ...call }, events)
    }
    return slot
  }

  /** The slot an event belongs to; one that was never announced is opened here. */
  function slotFor(chunk: JsonObject, item: Item, events: ReplyEvent[], closing = false): OpenItem {
    const index = typeof chunk.output_index === 'number' ? chunk.output_index : undefined
    const last = slots.at(-1)
    const found = index !== undefined && last?.index === index ? last : earlierSlot(chunk, item, index)
    if (found && !(closing && (found.final || typeOf(found.added) !== typeOf(item)))) return found
    return announce(index ?? slots.length, item, events)
  }

  function earlierSlot(chunk: JsonObject, item: Item, index: number | undefined): OpenItem | undefined {
    if (index !== undefined) return slots.findLast((slot) => slot.index === index)
    const id = stringIn(chunk, 'item_id') ?? stringIn(item, 'id')
    return slots.findLast((slot) => id !== undefined && slot.added.id === id) ?? slots.at(-1)
  }

  function open(slot: OpenItem, part: Part, events: ReplyEvent[]): OpenPart {
    const opened = openPart(nextPart++, part)
    slot.parts.push(opened)
    events.push({ type: 'part-start', index: opened.index, part })
    return opened
  }

  function contentPart(chunk: JsonObject, kind: 'text' | 'refusal', events: ReplyEvent[]): OpenPart {
    const slot = slotFor(chunk, plainMessage, events)
    const place = typeof chunk.content_index === 'number' ? chunk.content_index : 0
    const known = slot.contents.get(place)
    if (known) return known
    const opened = open(slot, { type: kind, text: '' }, events)
    slot.contents.set(place, opened)
    return opened
  }

  /** Adds text to a part. `whole` is the text once more in full: it counts only if no delta came before it. */
  function grow(chunk: JsonObject, kind: DeltaKind, text: string, whole: boolean, events: ReplyEvent[]): void {
    if (kind === 'text' || kind === 'refusal') {
      const part = contentPart(chunk, kind, events)
      if (!whole || part.pieces.length === 0) say(part, part.pieces, text, events)
      return
    }
    const slot = slotFor(chunk, { type: kind === 'summary' ? 'reasoning' : kind }, events)
    if (kind === 'summary') {
      const part = slot.parts[0]
      if (!part) return
      const at = numberIn(chunk, 'summary_index') ?? 0
      let pieces = part.summary.get(at)
      if (!pieces) part.summary.set(at, (pieces = []))
      const lead = pieces.length === 0 && part.summary.size > 1 && part.pieces.length === 0 ? '\n\n' : ''
      if (text === '' || (whole && pieces.length > 0)) return
      pieces.push(text)
      if (!part.ended) events.push({ type: 'part-delta', index: part.index, text: lead + text })
      return
    }
    if (whole && kind !== 'reasoning') slot.argumentsDone = true
    const part = (slot.parts[0] ??= hiddenPart())
    if (!whole || part.pieces.length === 0) say(part, part.pieces, text, kind === 'custom_tool_call' ? [] : events)
  }

  function say(part: OpenPart, pieces: string[], text: string, events: ReplyEvent[]): void {
    if (text === '') return
    pieces.push(text)
    if (!part.ended && part.index >= 0) events.push({ type: 'part-delta', index: part.index, text })
  }

  function close(slot: OpenItem, item: Item, events: ReplyEvent[]): void {
    const from = slots.filter((other) => other.final).length
    slot.final = item
    const ids = (alias: string | undefined) => takeId(slot) ?? nextCallId(alias)
    const parts = readItem(item, from, { callId: ids, toolName })
    const opened = slot.parts.filter((part) => part.index >= 0)
    slot.parts = parts.map((part, place) => {
      const kept = opened[place] ?? openPart(nextPart++, part)
      if (!opened[place]) events.push({ type: 'part-start', index: kept.index, part: emptied(part) })
      return end(kept, part, events)
    })
    // What was streamed but is not in the finished item was taken back; it stays in the reply, outside of native.
    for (const left of opened.slice(parts.length)) slot.parts.push(end(left, partSoFar(left), events))
  }

  function end(open: OpenPart, part: Part, events: ReplyEvent[]): OpenPart {
    events.push({ type: 'part-end', index: open.index, part })
    return { ...open, part, ended: true }
  }

  function finishWith(told: JsonObject, type: string, events: ReplyEvent[]): void {
    const items = objectsIn(told, 'output')
    if (items.length > slots.filter((slot) => slot.final).length) {
      for (const [index, item] of items.entries()) {
        const slot = slots.find((other) => other.index === index)
        if (!slot?.final) close(slotFor({ output_index: index }, item, events, true), item, events)
      }
    }
    terminal = { ...told, status: stringIn(told, 'status') ?? type.slice('response.'.length) }
    if (terminal.status === 'failed') fail(objectIn(told, 'error') ?? { message: 'The response failed.' }, undefined)
  }

  function fail(error: Json, status: number | undefined): void {
    failure = readFailure({
      body: isObject(error) ? { error } : error,
      ...(status !== undefined && { status }),
      provider: origin.provider,
    })
  }

  function finish(slot: OpenItem, finished: boolean, events: ReplyEvent[]): void {
    const type = typeOf(slot.added)
    const isText = type === 'message' && slot.parts.some((part) => part.pieces.length > 0)
    if (finished || isText || slot.argumentsDone) {
      close(slot, itemSoFar(slot, finished || slot.argumentsDone ? 'completed' : 'incomplete'), events)
      return
    }
    if (slot.parts.length === 0 && type === 'function_call') slot.parts.push(hiddenPart())
    else if (slot.parts.length === 0 && type !== 'message') {
      const begun = readItem(slot.added, undefined, { callId: nextCallId, toolName })
      for (const part of begun) open(slot, part, events)
    }
    slot.parts = slot.parts.map((part) =>
      end(part.index >= 0 ? part : shown(slot, part, events), partSoFar(part), events),
    )
  }

  /** A `parallel` call that was cut off before its children were known is shown as the call it is. */
  function shown(slot: OpenItem, hidden: OpenPart, events: ReplyEvent[]): OpenPart {
    const alias = stringIn(slot.added, 'call_id') || undefined
    const name = stringIn(slot.added, 'name') ?? ''
    hidden.part = { type: 'tool-call', callId: nextCallId(alias), ...(alias && { alias }), name, input: {} }
    hidden.index = nextPart++
    events.push({ type: 'part-start', index: hidden.index, part: hidden.part })
    return hidden
  }

  /** The finished items in the server's order. Parts whose item moved on the way are told again. */
  function settleNative(events: ReplyEvent[]): Json[] {
    const came = slots.filter((slot) => slot.final)
    const distinct = new Set(came.map((slot) => slot.index)).size === came.length
    const ordered = distinct ? came.toSorted((a, b) => a.index - b.index) : came
    for (const [from, slot] of ordered.entries()) {
      for (const open of slot.parts) {
        const told = open.part
        if (!('from' in told) || told.from === undefined || told.from === from) continue
        events.push({ type: 'part-end', index: open.index, part: { ...told, from } })
      }
    }
    return ordered.flatMap((slot) => (slot.final ? [slot.final] : []))
  }

  function outcome(cause: EndCause | undefined): Outcome {
    if (failure) return { stop: { reason: 'failed', raw: stringIn(terminal ?? {}, 'status') ?? 'error' }, failure }
    const parts = slots.flatMap((slot) => slot.parts.map(({ part }) => part))
    if (terminal) return { stop: readStop(terminal, parts) }
    return queued && !cause ? { stop: { reason: 'paused', raw: 'queued' } } : stopAfterInterruption(cause)
  }
}

/** Keeps the pieces of a call that is shown only when it is whole. */
function hiddenPart(): OpenPart {
  return openPart(-1, { type: 'text', text: '' })
}

function named(names: Record<string, string> | undefined, name: string): string {
  return names && Object.hasOwn(names, name) ? (names[name] ?? name) : name
}

function isSame(a: Item, b: Item): boolean {
  return JSON.stringify(a) === JSON.stringify(b)
}

function takeId(slot: OpenItem): string | undefined {
  const id = slot.callId
  delete slot.callId
  return id
}

/** A part as it looks when it begins, for items that came only when they were whole. */
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
