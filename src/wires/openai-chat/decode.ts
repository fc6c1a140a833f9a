// Chunks in, events out. A reply is one message, however many deltas bring it: its text is one part, its reasoning is
// one part, and each call is one; they stay open until the end, because hosts come back to text after a call. `[DONE]`
// is the framing's; here a reply is complete when it has a finish reason, or when the usage came after it.

import type { Failure } from '../../core/error.ts'
import type { ReplyEvent } from '../../core/event.ts'
import { isObject, type Json, type JsonObject } from '../../core/json.ts'
import type { Origin, Part, Stop } from '../../core/message.ts'
import { readArguments } from '../shared/arguments.ts'
import { stopAfterInterruption, type Outcome } from '../shared/interruption.ts'
import { legacyType, type GatheredCall } from '../shared/call-fragments.ts'
import { callIds } from '../shared/call-ids.ts'
import { readFailure } from '../shared/failure.ts'
import { mediaFromUrl } from '../shared/media.ts'
import type { Decoder, DecoderOptions, EndCause } from '../wire.ts'
import { assembling, foreignCallKind, isForeign, wireCall } from './assemble.ts'
import { audioPart, contentPart, executedTool, serverCall } from './read-parts.ts'
import { detailsText } from './reasoning-details.ts'
import { failureOfFinish, stopReason } from './stop.ts'
import { readUsage, usageIn } from './usage.ts'
import { reasoningFields } from './types.ts'

export function decoder(origin: Origin, options?: DecoderOptions): Decoder {
  let from: Origin = origin
  let started = false
  let finish: string | undefined
  let failure: Failure | undefined
  let usage: JsonObject | undefined
  let plainChunks = 0
  let closedByUsage = false
  let usageAfterFinish = false
  let sawDelta = false
  let citations: Json[] = []

  const assembly = assembling()
  const nextCallId = callIds(options)
  const texts = new Map<'text' | 'reasoning' | 'refusal', { index: number; pieces: string[] }>()
  const calls = new Map<GatheredCall, { index: number; callId: string }>()
  let speaker: string | undefined
  let parts = 0

  return {
    get done() {
      return failure !== undefined || (finish !== undefined && usageAfterFinish)
    },

    push(chunk) {
      if (!isObject(chunk)) return []
      const events: ReplyEvent[] = []
      start(events, chunk)
      const failed = chunk.error !== undefined && chunk.error !== null
      if (failed || chunk.object === 'error' || chunk.type === 'error') {
        failure ??= readFailure({ body: chunk, ...(from.provider !== '' && { provider: from.provider }) })
      }
      for (const choice of Array.isArray(chunk.choices) ? chunk.choices : []) {
        if (isObject(choice) && (choice.index ?? 0) === 0) readChoice(choice, events)
      }
      readRest(chunk, events.length > 0)
      return events
    },

    end(cause) {
      const events: ReplyEvent[] = []
      start(events, {})
      const complete = failure === undefined && (finish !== undefined || closedByUsage)
      const ended = complete ? undefined : endOf(cause)
      const stop = ended?.stop ?? completeStop()
      const known =
        ended?.failure ?? (stop.reason === 'failed' ? failureOfFinish(finish ?? '', from.provider) : undefined)
      const whole = complete && stop.reason !== 'failed'
      const native = nativeMessage(whole)
      closeParts(events, whole, native.length > 0)
      events.push({
        type: 'reply-end',
        origin: from,
        stop,
        native,
        ...(usage && { usage: readUsage(usage) }),
        ...(known && { failure: known }),
      })
      return events
    },
  }

  function start(events: ReplyEvent[], chunk: JsonObject): void {
    if (from.replyId === undefined && typeof chunk.id === 'string' && chunk.id !== '')
      from = { ...from, replyId: chunk.id }
    if (from.model === '' && typeof chunk.model === 'string') from = { ...from, model: chunk.model }
    if (started) return
    started = true
    events.push({ type: 'reply-start', origin: from })
  }

  function readChoice(choice: JsonObject, events: ReplyEvent[]): void {
    if (isObject(choice.delta)) {
      sawDelta = true
      readDelta(choice.delta, events)
    } else if (isObject(choice.message) && !sawDelta) {
      readDelta(withPositions(choice.message), events)
    }
    if (typeof choice.finish_reason === 'string' && choice.finish_reason !== '') finish = choice.finish_reason
  }

  /** Usage alone, behind chunks that had none, comes when all is said: some hosts send no finish reason (checked 2026-11). */
  function readRest(chunk: JsonObject, broughtMore: boolean): void {
    const numbers = usageIn(chunk)
    if (numbers) {
      usage = numbers
      usageAfterFinish ||= finish !== undefined
      closedByUsage = plainChunks > 0 && !broughtMore
    } else {
      plainChunks++
      if (broughtMore) closedByUsage = false
    }
    const list = chunk.search_results ?? chunk.citations
    if (Array.isArray(list) && list.length > 0) citations = list
  }

  function readDelta(delta: JsonObject, events: ReplyEvent[]): void {
    assembly.add(delta)
    readReasoning(delta, events)
    if (typeof delta.content === 'string') say('text', delta.content, events)
    if (Array.isArray(delta.content)) for (const part of delta.content) readContent(part, events)
    if (typeof delta.refusal === 'string') say('refusal', delta.refusal, events)
    if (isObject(delta.audio) && typeof delta.audio.transcript === 'string') say('text', delta.audio.transcript, events)
    for (const image of Array.isArray(delta.images) ? delta.images : []) {
      const url = isObject(image) && isObject(image.image_url) ? image.image_url.url : undefined
      if (typeof url === 'string') put({ ...mediaFromUrl(url, 'image/png'), from: 0 }, events)
    }
    if (Array.isArray(delta.tool_calls)) {
      for (const fragment of delta.tool_calls) if (isObject(fragment)) readCall(fragment, events)
    }
    if (isObject(delta.function_call)) {
      readCall({ index: -1, type: legacyType, function: delta.function_call }, events)
    }
  }

  /** Hosts send the same thoughts in two fields at once: the first that says something is heard, all are kept. */
  function readReasoning(delta: JsonObject, events: ReplyEvent[]): void {
    for (const field of reasoningFields) {
      const value = delta[field]
      const text = typeof value === 'string' ? value : Array.isArray(value) ? detailsText(value) : ''
      if (text !== '') speaker ??= field
      if (field === speaker) say('reasoning', text, events)
      else if (Array.isArray(value) && value.some(isEncrypted)) open('reasoning', events)
    }
  }

  function readContent(part: Json, events: ReplyEvent[]): void {
    const read = contentPart(part)
    if (read.type === 'text' || read.type === 'reasoning' || read.type === 'refusal') say(read.type, read.text, events)
    else put(read, events)
  }

  function readCall(fragment: JsonObject, events: ReplyEvent[]): void {
    const { call, text } = assembly.calls.push(fragment)
    if (isForeign(call)) return
    const known = calls.get(call)
    if (known) {
      if (text !== '') events.push({ type: 'part-delta', index: known.index, text })
      return
    }
    if (call.name === '') return
    openCall(call, events)
  }

  function openCall(call: GatheredCall, events: ReplyEvent[]): { index: number; callId: string } {
    const opened = { index: parts++, callId: nextCallId(call.id) }
    calls.set(call, opened)
    events.push({ type: 'part-start', index: opened.index, part: { ...callHead(call, opened.callId), input: {} } })
    if (call.length > 0) events.push({ type: 'part-delta', index: opened.index, text: call.pieces.join('') })
    return opened
  }

  function callHead(
    call: GatheredCall,
    callId: string,
  ): { type: 'tool-call'; callId: string; alias?: string; name: string } {
    const names = options?.toolNames ?? {}
    const name = Object.hasOwn(names, call.name) ? (names[call.name] ?? call.name) : call.name
    return { type: 'tool-call', callId, ...(call.id !== undefined && { alias: call.id }), name }
  }

  function say(type: 'text' | 'reasoning' | 'refusal', text: string, events: ReplyEvent[]): void {
    if (text === '') return
    const part = open(type, events)
    part.pieces.push(text)
    events.push({ type: 'part-delta', index: part.index, text })
  }

  function open(type: 'text' | 'reasoning' | 'refusal', events: ReplyEvent[]): { index: number; pieces: string[] } {
    const known = texts.get(type)
    if (known) return known
    const part = { index: parts++, pieces: [] }
    texts.set(type, part)
    events.push({ type: 'part-start', index: part.index, part: { type, text: '' } })
    return part
  }

  function put(part: Part, events: ReplyEvent[]): void {
    const index = parts++
    events.push({ type: 'part-start', index, part }, { type: 'part-end', index, part })
  }

  function completeStop(): Stop {
    const has = { calls: assembly.calls.calls().some((call) => !isForeign(call)), refusal: texts.has('refusal') }
    return { reason: stopReason(finish ?? 'stop', has), ...(finish !== undefined && { raw: finish }) }
  }

  function endOf(cause: EndCause | undefined): Outcome {
    const raw = finish !== undefined && { raw: finish }
    if (failure) return { stop: { reason: 'failed', ...raw }, failure }
    return stopAfterInterruption(cause)
  }

  /** An unfinished reply keeps its text and those calls whose arguments are whole. */
  function nativeMessage(whole: boolean): JsonObject[] {
    const message = assembly.message(callsInOrder().filter((call) => whole || (!isForeign(call) && isWhole(call))))
    if (whole) return [message]
    const said = texts.size > 0 || assembly.list('images').length > 0
    const called = Array.isArray(message.tool_calls) && message.tool_calls.length > 0
    return said || called || isObject(message.function_call) ? [message] : []
  }

  /** In the order of their parts, by which each is found again when it is sent back: a name may come late, or never. */
  function callsInOrder(): GatheredCall[] {
    const all = assembly.calls.calls()
    const own = [...new Set([...calls.keys(), ...all])].filter((call) => !isForeign(call)).values()
    return all.map((call) => (isForeign(call) ? call : (own.next().value ?? call)))
  }

  function closeParts(events: ReplyEvent[], whole: boolean, hasNative: boolean): void {
    const place = hasNative && { from: 0 }
    for (const [type, { index, pieces }] of texts) {
      const text = pieces.join('')
      const cited = type === 'text' ? citationsOf() : []
      const extra = {
        ...(cited.length > 0 && { citations: cited }),
        ...(type === 'reasoning' && text === '' && { hidden: true }),
      }
      events.push({ type: 'part-end', index, part: { type, text, ...extra, ...place } })
    }
    const late: Part[] = []
    for (const call of assembly.calls.calls()) {
      if (!isForeign(call)) closeCall(call, whole, events)
      else late.push({ type: 'opaque', kind: foreignCallKind(call), data: wireCall(call), ...(whole && { from: 0 }) })
    }
    const audio = audioPart(assembly.field('audio'))
    if (audio) late.push({ ...audio, ...place })
    for (const entry of assembly.list('executed_tools')) late.push({ ...executedTool(entry), ...place })
    for (const entry of assembly.list('reasoning_details')) {
      const part = serverCall(entry)
      if (part) late.push({ ...part, ...place })
    }
    for (const part of late) put(part, events)
  }

  function closeCall(call: GatheredCall, whole: boolean, events: ReplyEvent[]): void {
    const { index, callId } = calls.get(call) ?? openCall(call, events)
    const text = call.pieces.join('')
    const kept = whole || isWhole(call)
    const input = kept || text !== '' ? readArguments(text) : { input: {}, malformed: '' }
    events.push({ type: 'part-end', index, part: { ...callHead(call, callId), ...input, ...(kept && { from: 0 }) } })
  }

  function citationsOf(): Json[] {
    const annotations = assembly.list('annotations')
    return annotations.length > 0 ? [...annotations] : citations
  }
}

/** Calls of a whole message need no index; given one, two of the same id stay two. */
function withPositions(message: JsonObject): JsonObject {
  if (!Array.isArray(message.tool_calls)) return message
  return {
    ...message,
    tool_calls: message.tool_calls.map((call, index) => (isObject(call) ? { ...call, index } : call)),
  }
}

function isEncrypted(entry: Json): boolean {
  return isObject(entry) && entry.type === 'reasoning.encrypted'
}

/** A part of a JSON object never parses as one, so what parses is whole. */
function isWhole(call: GatheredCall): boolean {
  const text = call.pieces.join('')
  return text.trim() !== '' && readArguments(text).malformed === undefined
}
