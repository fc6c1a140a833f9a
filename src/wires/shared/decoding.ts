// The state of every decoder: the events so far, the numbers of the parts, the ids of the calls; and what all of them
// read in the same way: arguments, and how a reply ended. Each wire adds its own state and reads its chunks with
// functions over that one object.

import type { Note } from '../../core/context.ts'
import type { Failure } from '../../core/error.ts'
import type { ReplyEvent } from '../../core/event.ts'
import { isObject, parseJson, type Json, type JsonObject } from '../../core/json.ts'
import type { Origin, Part, Stop, StopReason, ToolCallPart } from '../../core/message.ts'
import type { Usage } from '../../core/usage.ts'
import type { Decoder, DecoderOptions, EndCause } from '../wire.ts'
import { textIn } from './json-fields.ts'

export interface Decoding {
  readonly options: DecoderOptions | undefined
  nextCallId: (alias: string | undefined) => string
  origin: Origin
  started: boolean
  /** How many parts have started. */
  parts: number
  /** An error inside the stream. */
  failure: Failure | undefined
  /** New events since the last `takeEvents`. */
  events: ReplyEvent[]
}

export function createDecoding(origin: Origin, options: DecoderOptions | undefined): Decoding {
  return {
    options,
    nextCallId: callIds(options),
    origin,
    started: false,
    parts: 0,
    failure: undefined,
    events: [],
  }
}

export function decoderOf(reading: Reading): Decoder {
  return new StateDecoder(reading)
}

interface Reading extends Omit<Decoder, 'done'> {
  isDone(): boolean
}

/**
 * A class, for the getter of its prototype. V8 allocates a getter of an object literal again for each object, in the old
 * space: everything that it can reach stays until a full collection, and the properties are in a hash table.
 */
class StateDecoder implements Decoder {
  readonly push: Decoder['push']
  readonly end: Decoder['end']
  readonly #isDone: () => boolean

  constructor({ push, end, isDone }: Reading) {
    this.push = push
    this.end = end
    this.#isDone = isDone
  }

  get done(): boolean {
    return this.#isDone()
  }
}

export function takeEvents(state: Decoding): ReplyEvent[] {
  const { events } = state
  state.events = []
  return events
}

export function startReply(state: Decoding): void {
  if (state.started) return
  state.started = true
  state.events.push({ type: 'reply-start', origin: state.origin })
}

/** Returns the index of the part. */
export function startPart(state: Decoding, part: Part): number {
  const index = state.parts++
  state.events.push({ type: 'part-start', index, part })
  return index
}

export function growPart(state: Decoding, index: number, text: string): void {
  const event = { type: 'part-delta', index, text } as const
  // Most chunks have one delta, and a list that grows takes room for many.
  if (state.events.length === 0) state.events = [event]
  else state.events.push(event)
}

export function endPart(state: Decoding, index: number, part: Part): void {
  state.events.push({ type: 'part-end', index, part })
}

/** A part that arrived complete. */
export function addPart(state: Decoding, part: Part): void {
  endPart(state, startPart(state, part), part)
}

interface End extends Outcome {
  native: Json[]
  usage?: Usage | undefined
  notes?: Note[]
}

export function endReply(state: Decoding, { stop, failure, native, usage, notes = [] }: End): ReplyEvent[] {
  state.events.push({
    type: 'reply-end',
    origin: state.origin,
    stop,
    native,
    ...(usage && { usage }),
    ...(failure && { failure }),
    ...(notes.length > 0 && { notes }),
  })
  return takeEvents(state)
}

/** A call that starts, with our id and our name of the tool. */
export function newCallPart(state: Decoding, id: Json | undefined, name: Json | undefined): ToolCallPart {
  const alias = typeof id === 'string' && id !== '' ? id : undefined
  return {
    type: 'tool-call',
    callId: state.nextCallId(alias),
    ...(alias !== undefined && { alias }),
    name: toolName(state, textIn(name)),
    input: {},
  }
}

/** Our name of a tool that the wire may have renamed. */
export function toolName({ options }: Pick<Decoding, 'options'>, name: string): string {
  const names = options?.toolNames
  return (names && Object.hasOwn(names, name) ? names[name] : undefined) ?? name
}

/** Our ids for the calls of one reply: the caller's scheme, or the provider's id if it is unique. */
export function callIds(options: DecoderOptions | undefined): (alias: string | undefined) => string {
  const used = new Set<string>()
  let position = 0
  return (alias) => {
    const n = position++
    if (options?.callId) return options.callId(n, alias)
    const id = alias && !used.has(alias) ? alias : `call-${n}`
    used.add(id)
    return id
  }
}

/**
 * The arguments of a call, from the text that a model wrote. Only a JSON object is an input; anything else is stored
 * unchanged, marked malformed, and never run.
 */
export function readArguments(text: string): { input: JsonObject; malformed?: string } {
  if (text.trim() === '') return { input: {} }
  const value = parseJson(text)
  return isObject(value) ? { input: value } : { input: {}, malformed: text }
}

/** How a reply ended. */
export interface Outcome {
  stop: Stop
  failure?: Failure
}

/** A reply that ended normally: hosts report a plain stop with calls, and calls without any, so the content decides. */
export function stopByContent(reason: StopReason, raw: string, hasCalls: boolean): Stop {
  const isNormal = reason === 'done' || reason === 'tool-calls'
  return { reason: isNormal ? (hasCalls ? 'tool-calls' : 'done') : reason, raw }
}

/** Of an interrupted reply; without a cause the stream just ended. */
export function stopAfterInterruption(cause: EndCause | undefined): Outcome {
  if (cause?.reason === 'cancelled') return { stop: { reason: 'cancelled' } }
  if (cause) return { stop: { reason: cause.reason }, failure: cause.failure }
  const message = 'The stream ended before the reply did.'
  return { stop: { reason: 'interrupted' }, failure: { kind: 'malformed-reply', message } }
}

/** An error came in the stream. */
export function failedWith(failure: Failure): Outcome {
  return { stop: { reason: 'failed', ...(failure.code !== undefined && { raw: failure.code }) }, failure }
}
