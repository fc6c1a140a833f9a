// The assistant message that grows out of a stream's deltas: our parts as they come, and at the end the message in
// Mistral's own words. Pieces are collected and joined once, so that a long reply costs no more than its length.

import type { ReplyEvent } from '../../core/event.ts'
import { isObject, type Json, type JsonObject } from '../../core/json.ts'
import type { Part, ReasoningPart, TextPart, ToolCallPart } from '../../core/message.ts'
import { readArguments } from '../shared/arguments.ts'
import { callFragments, type GatheredCall } from '../shared/call-fragments.ts'
import { callIds } from '../shared/call-ids.ts'
import type { DecoderOptions } from '../wire.ts'
import { protocolId } from './types.ts'

export interface Assembly {
  add(delta: JsonObject): ReplyEvent[]
  /** `whole`: the reply came to its own end; otherwise what is still open is left out of the native message. */
  end(whole: boolean): { events: ReplyEvent[]; native?: JsonObject; calls: number }
}

interface Block {
  kind: 'text' | 'thinking' | 'other'
  fields: JsonObject
  /** Runs of text, and between them what a thinking chunk holds besides text. */
  runs: (string[] | { item: Json })[]
  part?: number
}

export function assembling(options: DecoderOptions | undefined): Assembly {
  const nextCallId = callIds(options)
  const blocks: Block[] = []
  const fragments = callFragments()
  const opened = new Map<GatheredCall, { callId: string; place: number }>()
  const extra: JsonObject = {}
  const seen = { string: false, list: false, null: false }
  let role: Json = 'assistant'
  let open: Block | undefined
  let parts = 0

  function add(delta: JsonObject): ReplyEvent[] {
    const events: ReplyEvent[] = []
    for (const field in delta) {
      const value = delta[field]
      if (field === 'content') addContent(value, events)
      else if (field === 'tool_calls') {
        if (Array.isArray(value)) for (const fragment of value) if (isObject(fragment)) addCall(fragment, events)
      } else if (field === 'role') role = value ?? role
      else if (value !== undefined) extra[field] = value
    }
    return events
  }

  function addContent(content: Json | undefined, events: ReplyEvent[]): void {
    if (content === null) seen.null = true
    if (typeof content === 'string') {
      seen.string = true
      if (content !== '') addText(block('text', { type: 'text' }, false, events), content, events)
    }
    if (!Array.isArray(content)) return
    seen.list = true
    let before: Json | undefined
    for (const chunk of content) {
      const type = isObject(chunk) ? chunk.type : undefined
      addChunk(chunk, type !== undefined && type === before, events)
      before = type
    }
  }

  function addChunk(chunk: Json, isNew: boolean, events: ReplyEvent[]): void {
    if (isObject(chunk) && chunk.type === 'text' && typeof chunk.text === 'string') {
      const { text: _, ...fields } = chunk
      addText(block('text', fields, isNew, events), chunk.text, events)
    } else if (isObject(chunk) && chunk.type === 'thinking' && Array.isArray(chunk.thinking)) {
      const { thinking: _, ...fields } = chunk
      const thought = block('thinking', fields, isNew, events)
      for (const item of chunk.thinking) {
        if (isObject(item) && item.type === 'text' && typeof item.text === 'string') addText(thought, item.text, events)
        else thought.runs.push({ item })
      }
    } else {
      close(events, true)
      blocks.push({ kind: 'other', fields: isObject(chunk) ? chunk : {}, runs: [{ item: chunk }] })
      const type = isObject(chunk) && typeof chunk.type === 'string' ? chunk.type : 'chunk'
      const part: Part = { type: 'opaque', kind: `${protocolId}/${type}`, data: chunk, from: 0 }
      events.push({ type: 'part-start', index: parts, part }, { type: 'part-end', index: parts, part })
      parts++
    }
  }

  /** The block that this delta continues with, or a new one. */
  function block(kind: 'text' | 'thinking', fields: JsonObject, isNew: boolean, events: ReplyEvent[]): Block {
    if (open?.kind === kind && !isNew) {
      Object.assign(open.fields, fields)
      return open
    }
    close(events, true)
    open = { kind, fields: { ...fields }, runs: [] }
    blocks.push(open)
    return open
  }

  function addText(target: Block, text: string, events: ReplyEvent[]): void {
    if (text === '') return
    if (target.part === undefined) {
      target.part = parts++
      events.push({ type: 'part-start', index: target.part, part: partOf(target, '') })
    }
    const last = target.runs.at(-1)
    if (Array.isArray(last)) last.push(text)
    else target.runs.push([text])
    events.push({ type: 'part-delta', index: target.part, text })
  }

  /** Ends the open block; `kept` says whether it stands in the native message. */
  function close(events: ReplyEvent[], kept: boolean): void {
    if (open?.part !== undefined) {
      const part = partOf(open, textOfRuns(open))
      events.push({ type: 'part-end', index: open.part, part: kept ? { ...part, from: 0 } : part })
    }
    open = undefined
  }

  function addCall(fragment: JsonObject, events: ReplyEvent[]): void {
    const { call, text } = fragments.push(fragment)
    const known = opened.get(call)
    if (known && text !== '') events.push({ type: 'part-delta', index: known.place, text })
    else if (!known && call.name !== '') openCall(call, events)
  }

  function openCall(call: GatheredCall, events: ReplyEvent[]): { callId: string; place: number } {
    close(events, true)
    const begun = { callId: nextCallId(call.id), place: parts++ }
    opened.set(call, begun)
    events.push({ type: 'part-start', index: begun.place, part: { ...callHead(call, begun.callId), input: {} } })
    if (call.length > 0) events.push({ type: 'part-delta', index: begun.place, text: call.pieces.join('') })
    return begun
  }

  function callHead(call: GatheredCall, callId: string): Omit<ToolCallPart, 'input'> {
    return { type: 'tool-call', callId, ...(call.id !== undefined && { alias: call.id }), name: ourName(call.name) }
  }

  function ourName(wire: string): string {
    const names = options?.toolNames
    return names && Object.hasOwn(names, wire) ? (names[wire] ?? wire) : wire
  }

  function end(whole: boolean): ReturnType<Assembly['end']> {
    const events: ReplyEvent[] = []
    const dangling = open?.kind === 'thinking' && !whole ? open : undefined
    close(events, dangling === undefined)

    // In the order of their parts, by which each is found again when it is sent back: a name may come late, or never.
    const calls = [...new Set([...opened.keys(), ...fragments.calls()])]
    const kept = whole ? calls : calls.slice(0, -1)
    for (const call of calls) {
      const { callId, place } = opened.get(call) ?? openCall(call, events)
      const read = call.object ? { input: call.object } : readArguments(call.pieces.join(''))
      const part: ToolCallPart = { ...callHead(call, callId), ...read, ...(kept.includes(call) && { from: 0 }) }
      events.push({ type: 'part-end', index: place, part })
    }
    const finished = blocks.filter((candidate) => candidate !== dangling)
    const isEmpty = finished.length === 0 && kept.length === 0
    const native = isEmpty && !(whole && (seen.string || seen.list)) ? undefined : nativeMessage(finished, kept)
    return { events, ...(native && { native }), calls: calls.length }
  }

  function nativeMessage(content: readonly Block[], kept: readonly GatheredCall[]): JsonObject {
    const message: JsonObject = { role }
    if (seen.list) message.content = content.map(nativeChunk)
    else if (seen.string) message.content = content.map(textOfRuns).join('')
    else if (seen.null) message.content = null
    if (kept.length > 0) message.tool_calls = kept.map(nativeCall)
    return { ...message, ...extra }
  }

  return { add, end }
}

function partOf(block: Block, text: string): TextPart | ReasoningPart {
  return block.kind === 'thinking' ? { type: 'reasoning', text } : { type: 'text', text }
}

function textOfRuns(block: Block): string {
  return block.runs.map((run) => (Array.isArray(run) ? run.join('') : '')).join('')
}

function nativeChunk(block: Block): Json {
  const { type: _, ...rest } = block.fields
  if (block.kind === 'text') return { type: 'text', text: textOfRuns(block), ...rest }
  if (block.kind === 'thinking') {
    const thinking = block.runs.map((run) => (Array.isArray(run) ? { type: 'text', text: run.join('') } : run.item))
    return { type: 'thinking', thinking, ...rest }
  }
  const [only] = block.runs
  return only && !Array.isArray(only) ? only.item : null
}

function nativeCall({ id, type, name, index, object, pieces, rest, innerRest }: GatheredCall): JsonObject {
  return {
    ...(id !== undefined && { id }),
    ...(type !== undefined && { type }),
    function: { name, ...innerRest, arguments: object ?? pieces.join('') },
    ...(index !== undefined && { index }),
    ...rest,
  }
}
