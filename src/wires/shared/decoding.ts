// The state of every decoder: the events so far, the numbers of the parts, the ids of the calls. Each wire adds its own
// state and reads its chunks with functions over that one object.

import type { Note } from '../../core/context.ts'
import type { Failure } from '../../core/error.ts'
import type { ReplyEvent } from '../../core/event.ts'
import type { Json } from '../../core/json.ts'
import type { Origin, Part, ToolCallPart } from '../../core/message.ts'
import type { Usage } from '../../core/usage.ts'
import type { DecoderOptions } from '../wire.ts'
import { callIds } from './call-ids.ts'
import type { Outcome } from './interruption.ts'

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

export function decoding(origin: Origin, options: DecoderOptions | undefined): Decoding {
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
export function startedCall(state: Decoding, id: Json | undefined, name: Json | undefined): ToolCallPart {
  const alias = typeof id === 'string' && id !== '' ? id : undefined
  return {
    type: 'tool-call',
    callId: state.nextCallId(alias),
    ...(alias !== undefined && { alias }),
    name: toolName(state, typeof name === 'string' ? name : ''),
    input: {},
  }
}

/** Our name of a tool that the wire may have renamed. */
export function toolName({ options }: Pick<Decoding, 'options'>, name: string): string {
  const names = options?.toolNames
  return (names && Object.hasOwn(names, name) ? names[name] : undefined) ?? name
}
