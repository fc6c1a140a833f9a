// A run under way, as its caller holds it: the events, the text, the checked answer, and ways to steer it. Events and text
// are queued apart, so that each can be read without taking from the other.

import type { RunEvent } from '../core/event.ts'
import { badInput, SynapseError } from '../core/error.ts'
import { joinDeltas } from '../core/fold.ts'
import { textOf, type Reply } from '../core/message.ts'
import type { RunSettings } from '../settings/run.ts'
import { answerOutput } from './answer-schema.ts'
import { channel } from './channel.ts'
import { eventResponse } from './event-response.ts'
import type { RunEnd } from './loop.ts'
import type { UserInput } from './settings.ts'
import { uiMessageResponse } from './ui-message-stream.ts'

/** A run under way. It continues whether or not its events are read; only `abort` stops it. */
export interface Run<Answer = unknown> extends AsyncIterable<RunEvent> {
  /** How it ended. Never rejects: what went wrong is in the outcome. */
  ended: Promise<RunEnd>
  /** Stops it; what was said so far is kept. */
  abort(): void
  /** Says something while it continues: the model gets it with its next request. */
  steer(message: UserInput): void
  /** Other tools, another model, another policy: from the next request on. */
  update(change: Partial<RunSettings>): void
  /** The text of the final reply; rejects if the run failed. */
  text(): Promise<string>
  /** The text as it comes, without reasoning and tool arguments; throws at its end if the run failed. Read it once. */
  textStream: AsyncIterable<string>
  /** The final answer by the schema that was given as `answer`; rejects if the run failed or the answer does not match. */
  object(): Promise<Answer>
  /** The events as server-sent events, each with its type and its JSON. The run continues if the client goes away. */
  toResponse(init?: ResponseInit): Response
  /** The run in the UI message stream of the AI SDK, for `useChat`. The run continues if the client goes away. */
  toUIMessageStreamResponse(init?: ResponseInit): Response
}

type Controls = Pick<Run, 'abort' | 'steer' | 'update'>

/** Begins a run and gives its handle. `answer`: the schema in force when the run ends. */
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

async function checkedAnswer(end: RunEnd, schema: object | undefined): Promise<unknown> {
  const { failure, answer, outcome } = end
  if (failure) throw new SynapseError(failure)
  if (!answer && outcome === 'done') {
    throw badInput('There is no schema to read the answer by: give one as `answer`, such as send(text, { answer }).')
  }
  if (!answer) throw new SynapseError({ kind: 'aborted', message: `The run ended as ${outcome}, without an answer.` })
  if ('problem' in answer) throw new SynapseError({ kind: 'malformed-reply', message: answer.problem })
  return answerOutput(schema, answer.value)
}

async function succeeded(ended: Promise<RunEnd>): Promise<Reply> {
  const { failure, reply } = await ended
  if (failure) throw new SynapseError(failure)
  if (!reply) throw new SynapseError({ kind: 'aborted', message: 'The run ended before the model said anything.' })
  return reply
}

/** Deltas of one reply become longer ones, and of a call only the end is left, which has all of it. */
function joinEvents(a: RunEvent, b: RunEvent): RunEvent | undefined {
  if (a.type !== 'reply-event' || b.type !== 'reply-event' || a.exchangeId !== b.exchangeId) return undefined
  const [before, after] = [a.event, b.event]
  if (before.type === 'part-start' && before.part.type === 'tool-call') {
    if (after.type === 'part-delta' && after.index === before.index) return a
    if (after.type === 'part-end' && after.index === before.index) return b
  }
  const event = joinDeltas(before, after, 64 * 1024)
  return event && { ...a, event }
}
