// The assistant message that grows out of a stream's deltas: our parts as they come, and at the end the message in
// Mistral's own words. Pieces are collected and joined once, so that a long reply costs no more than its length.

import type { ReplyEvent } from '../../core/event.ts'
import { isObject, type Json, type JsonObject } from '../../core/json.ts'
import type { Part, ReasoningPart, TextPart, ToolCallPart } from '../../core/message.ts'
import { readArguments } from '../shared/arguments.ts'
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

interface Call {
  fields: JsonObject
  fn: JsonObject
  arguments: string[]
  /** Arguments that came as an object, as the wire also allows. */
  object?: JsonObject
  index: Json | undefined
  part: ToolCallPart
  place: number
}

export function assembling(options: DecoderOptions | undefined): Assembly {
  const nextCallId = callIds(options)
  const blocks: Block[] = []
  const calls: Call[] = []
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
    const fn = isObject(fragment.function) ? fragment.function : {}
    let call = callFor(fragment)
    if (!call) {
      close(events, true)
      const { function: _, ...fields } = fragment
      const { arguments: __, ...named } = fn
      const alias = typeof fragment.id === 'string' && fragment.id !== '' ? fragment.id : undefined
      const part: ToolCallPart = {
        type: 'tool-call',
        callId: nextCallId(alias),
        ...(alias !== undefined && { alias }),
        name: ourName(named.name),
        input: {},
      }
      call = { fields, fn: named, arguments: [], index: fragment.index, part, place: parts++ }
      calls.push(call)
      events.push({ type: 'part-start', index: call.place, part: { ...part } })
    } else {
      if (typeof fragment.id === 'string' && fragment.id !== '') {
        call.fields.id = fragment.id
        call.part.alias = fragment.id
      }
      if (typeof fn.name === 'string' && fn.name !== '') {
        call.fn.name = fn.name
        call.part.name = ourName(fn.name)
      }
    }
    if (isObject(fn.arguments)) call.object = fn.arguments
    const text = isObject(fn.arguments) ? JSON.stringify(fn.arguments) : fn.arguments
    if (typeof text !== 'string' || text === '') return
    call.arguments.push(text)
    events.push({ type: 'part-delta', index: call.place, text })
  }

  /** A fragment belongs to the call of its id; without one to that of its index; without either to the last. */
  function callFor(fragment: JsonObject): Call | undefined {
    const id = typeof fragment.id === 'string' && fragment.id !== '' ? fragment.id : undefined
    if (id !== undefined) {
      const same = calls.find((call) => call.fields.id === id)
      if (same) return same
    }
    if (typeof fragment.index === 'number') {
      const same = calls.findLast((call) => call.index === fragment.index)
      return same && (id === undefined || same.part.alias === undefined) ? same : undefined
    }
    const isNew = id !== undefined || (isObject(fragment.function) && Boolean(fragment.function.name))
    return isNew ? undefined : calls.at(-1)
  }

  function ourName(name: Json | undefined): string {
    const wire = typeof name === 'string' ? name : ''
    const names = options?.toolNames
    return names && Object.hasOwn(names, wire) ? (names[wire] ?? wire) : wire
  }

  function end(whole: boolean): ReturnType<Assembly['end']> {
    const events: ReplyEvent[] = []
    const dangling = open?.kind === 'thinking' && !whole ? open : undefined
    close(events, dangling === undefined)

    const kept = whole ? calls : calls.slice(0, -1)
    for (const call of calls) {
      const read = call.object ? { input: call.object } : readArguments(call.arguments.join(''))
      const part: ToolCallPart = { ...call.part, ...read, ...(kept.includes(call) && { from: 0 }) }
      events.push({ type: 'part-end', index: call.place, part })
    }
    const finished = blocks.filter((candidate) => candidate !== dangling)
    const isEmpty = finished.length === 0 && kept.length === 0
    const native = isEmpty && !(whole && (seen.string || seen.list)) ? undefined : nativeMessage(finished, kept)
    return { events, ...(native && { native }), calls: calls.length }
  }

  function nativeMessage(content: readonly Block[], kept: readonly Call[]): JsonObject {
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

function nativeCall(call: Call): JsonObject {
  const args = call.object ?? call.arguments.join('')
  return { ...call.fields, function: { ...call.fn, arguments: args } }
}
