// An active run, as its caller uses it: the events, the text, the checked answer, and methods to steer it. Events and
// text have separate queues, so that reading one does not consume the other.

import type { RunEvent } from '../../core/event.ts'
import { badInput, SynapseError } from '../../core/error.ts'
import { joinDeltas } from '../../core/fold.ts'
import { textOf, type Reply } from '../../core/message.ts'
import type { RunSettings } from '../../settings/run.ts'
import { answerOutput, withoutFence } from '../answer.ts'
import { channel } from './channel.ts'
import { eventResponse } from './event-response.ts'
import type { RunEnd } from '../loop.ts'
import type { UserInput } from '../settings.ts'
import { uiMessageResponse } from './ui-message-stream.ts'
import { exceedsDepth, type Json } from '../../core/json.ts'

/** An active run. It continues whether or not its events are read; only `abort` stops it. */
export interface Run<Answer = unknown> extends AsyncIterable<RunEvent> {
  /** How it ended. Never rejects: what went wrong is in the outcome. */
  ended: Promise<RunEnd>
  /** Stops it; the partial reply is saved. */
  abort(): void
  /** Adds a user message during the run: the model gets it with its next request. */
  steer(message: UserInput): void
  /** Changes tools, model or policy from the next request on. */
  update(change: Partial<RunSettings>): void
  /** The text of the final reply; rejects if the run failed. */
  text(): Promise<string>
  /**
   * The text as it arrives, without reasoning and tool arguments; throws at its end if the run failed. Read it once.
   */
  textStream: AsyncIterable<string>
  /** The final answer, parsed with the `answer` schema; rejects if the run failed or the answer does not match. */
  object(): Promise<Answer>
  /**
   * The answer while it is written, each time as much of it as can be parsed. Not validated: `object()` returns the
   * complete one. Read it once, and not together with `textStream`.
   */
  partialObjectStream: AsyncIterable<DeepPartial<Answer>>
  /** The events as server-sent events, each with its type and its JSON. The run continues if the client goes away. */
  toResponse(init?: ResponseInit): Response
  /** The run in the UI message stream of the AI SDK, for `useChat`. The run continues if the client goes away. */
  toUIMessageStreamResponse(init?: ResponseInit): Response
}

/** The current part of an object that is still being written. */
export type DeepPartial<T> = T extends readonly (infer E)[]
  ? DeepPartial<E>[]
  : T extends object
    ? { [K in keyof T]?: DeepPartial<T[K]> }
    : T

type Controls = Pick<Run, 'abort' | 'steer' | 'update'>

/** Starts a run and returns its handle. `answer`: the schema in force when the run ends. */
export function runHandle(
  controls: Controls,
  answer: () => object | undefined,
  begin: (emit: (event: RunEvent) => void) => Promise<RunEnd>,
): Run {
  const events = channel<RunEvent>(joinEvents)
  const texts = channel<string>((a, b) => a + b)
  const ended = begin((event) => {
    events.push(event)
    const text = textIn(event)
    if (text) texts.push(text)
  }).finally(() => {
    events.end()
    texts.end()
  })
  return {
    ...controls,
    ended,
    text: async () => textOf((await succeeded(ended)).parts),
    textStream: textUntilEnd(texts, ended),
    partialObjectStream: partialsOf(textUntilEnd(texts, ended)),
    object: async () => checkedAnswer(await ended, answer()),
    toResponse: (init) => eventResponse(events, init),
    toUIMessageStreamResponse: (init) => uiMessageResponse(events, init),
    [Symbol.asyncIterator]: () => events[Symbol.asyncIterator](),
  }
}

/** What an event adds to the text that the user reads. */
function textIn(event: RunEvent): string {
  if (event.type !== 'reply-event') return ''
  const { event: inner } = event
  if (inner.type === 'part-delta') return inner.partType === 'text' ? inner.text : ''
  return inner.type === 'part-start' && inner.part.type === 'text' ? inner.part.text : ''
}

async function* textUntilEnd(texts: AsyncIterable<string>, ended: Promise<RunEnd>): AsyncIterable<string> {
  yield* texts
  const { failure } = await ended
  if (failure) throw new SynapseError(failure)
}

async function* partialsOf(texts: AsyncIterable<string>): AsyncIterable<DeepPartial<unknown>> {
  let [text, last] = ['', '']
  for await (const more of texts) {
    text += more
    const value = partialJson(text)
    const written = JSON.stringify(value)
    if (value === undefined || written === last) continue
    last = written
    yield value
  }
}

async function checkedAnswer(end: RunEnd, schema: object | undefined): Promise<unknown> {
  const { failure, answer, outcome } = end
  if (failure) throw new SynapseError(failure)
  if (!answer && outcome === 'done') {
    throw badInput('There is no answer schema: give one as `answer`, such as send(text, { answer }).')
  }
  if (!answer) throw new SynapseError({ kind: 'aborted', message: `The run ended as ${outcome}, without an answer.` })
  if ('problem' in answer) throw new SynapseError({ kind: 'malformed-reply', message: answer.problem })
  return answerOutput(schema, answer.value)
}

async function succeeded(ended: Promise<RunEnd>): Promise<Reply> {
  const { failure, reply } = await ended
  if (failure) throw new SynapseError(failure)
  if (!reply) throw new SynapseError({ kind: 'aborted', message: 'The run ended before the model answered.' })
  return reply
}

/** Deltas of one reply are merged, and of a call only the end is left, which has all of it. */
function joinEvents(a: RunEvent, b: RunEvent): RunEvent | undefined {
  if (a.type !== 'reply-event' || b.type !== 'reply-event' || a.exchangeId !== b.exchangeId) return undefined
  const [before, after] = [a.event, b.event]
  if (after.type === 'part-start' && after.part.type === 'tool-call') return a
  if (after.type === 'part-delta' && after.partType === 'tool-call') return a
  const event = joinDeltas(before, after, 64 * 1024)
  return event && { ...a, event }
}

// Partial JSON, parsed as far as possible: open strings, lists and objects are closed, and what cannot be parsed yet is
// left out.

/** Undefined: nothing can be parsed yet, or it is nested too deeply to be handled. */
function partialJson(text: string): Json | undefined {
  for (const end of ends(withoutFence(text))) {
    try {
      const value = JSON.parse(end) as Json
      return exceedsDepth(value) ? undefined : value
    } catch {
      // A name without its value, or half a number: the text before it is tried.
    }
  }
  return undefined
}

/** The text closed at its end, and then after the last value before that. */
function* ends(text: string): Generator<string> {
  let closers: Closers
  const stops: { at: number; close: Closers }[] = []
  let [inText, escaped] = [false, false]
  for (let i = 0; i < text.length; i++) {
    const c = text[i]
    if (inText) {
      if (escaped) escaped = false
      else if (c === '\\') escaped = true
      else if (c === '"') inText = false
      continue
    }
    if (c === '"') inText = true
    else if (c === '{' || c === '[') {
      closers = { close: c === '{' ? '}' : ']', outer: closers }
      stops.push({ at: i + 1, close: closers })
    } else if (c === '}' || c === ']') closers = closers?.outer
    else if (c === ',') stops.push({ at: i, close: closers })
  }
  const open = escaped ? text.slice(0, -1) : text.replace(/\\u[0-9a-f]{0,3}$/i, '')
  yield open + (inText ? '"' : '') + closing(closers)
  for (const { at, close } of stops.slice(-3).toReversed()) yield text.slice(0, at) + closing(close)
}

/** What closes the lists and objects that are open at a place, the innermost first. */
type Closers = { close: string; outer: Closers } | undefined

function closing(closers: Closers): string {
  let text = ''
  for (let next = closers; next; next = next.outer) text += next.close
  return text
}
