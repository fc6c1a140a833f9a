// A stream of the Interactions API: named events, each with its `event_type`. The last one is `interaction.completed`,
// whatever its outcome; `status` has it. Event ids are meant for resuming a stream; here they only identify repeated
// events.

import type { Failure } from '../../core/error.ts'
import { isObject, type Json, type JsonObject } from '../../core/json.ts'
import type { Origin, StopReason } from '../../core/message.ts'
import type { Usage } from '../../core/usage.ts'
import {
  decoderOf,
  createDecoding,
  endReply,
  startReply,
  takeEvents,
  failedWith,
  type Outcome,
  stopAfterInterruption,
} from '../shared/decoding.ts'
import { readFailure } from '../shared/failure.ts'
import { countIn } from '../shared/json-fields.ts'
import type { Decoder, DecoderOptions, EndCause } from '../wire.ts'
import { closeSteps, nativeSteps, noSteps, startStep, type Steps, stopStep } from './read-reply.ts'

interface State extends Steps {
  status: string | undefined
  done: boolean
  usage: JsonObject | undefined
  /** The id of the last event. */
  lastEvent: Json | undefined
}

export function decoder(origin: Origin, options?: DecoderOptions): Decoder {
  const state: State = {
    ...noSteps(createDecoding(origin, options)),
    status: undefined,
    done: false,
    usage: undefined,
    lastEvent: undefined,
  }
  return decoderOf({
    push(chunk) {
      if (isObject(chunk)) read(state, chunk)
      return takeEvents(state)
    },
    end(cause) {
      startReply(state)
      closeSteps(state, state.done && !state.failure)
      const { usage } = state
      return endReply(state, {
        ...outcome(state, cause),
        native: nativeSteps(state),
        usage: usage && readUsage(usage),
      })
    },
    isDone: () => state.done || state.failure !== undefined,
  })
}

function read(state: State, event: JsonObject): void {
  if (typeof event.event_id === 'string' && event.event_id === state.lastEvent) return
  state.lastEvent = event.event_id
  if (isObject(event.interaction)) readInteraction(state, event.interaction)
  else if (typeof event.interaction_id === 'string') learnId(state, event.interaction_id)
  startReply(state)
  if (isObject(event.metadata) && isObject(event.metadata.usage)) state.usage = event.metadata.usage
  if (typeof event.status === 'string') state.status = event.status
  const index = typeof event.index === 'number' ? event.index : 0
  switch (event.event_type) {
    case 'step.start':
      if (isObject(event.step)) startStep(state, index, event.step)
      break
    case 'step.delta':
      if (isObject(event.delta)) state.open.get(index)?.delta(event.delta)
      break
    case 'step.stop':
      stopStep(state, index)
      break
    case 'interaction.completed':
      state.done = true
      break
    default:
      if (isObject(event.error)) state.failure = readFailure({ body: event, provider: state.origin.provider })
  }
}

function readInteraction(state: State, { id, model, status, usage, error }: JsonObject): void {
  if (typeof id === 'string') learnId(state, id)
  if (typeof model === 'string' && state.origin.model === '') state.origin = { ...state.origin, model }
  if (typeof status === 'string') state.status = status
  if (isObject(usage)) state.usage = usage
  if (isObject(error)) state.failure = readFailure({ body: { error }, provider: state.origin.provider })
}

/** An empty id means that the interaction was not stored. */
function learnId(state: State, id: string): void {
  if (id !== '' && state.origin.replyId !== id) state.origin = { ...state.origin, replyId: id }
}

function outcome({ failure, done, status, calls }: State, cause: EndCause | undefined): Outcome {
  if (failure) return failedWith(failure)
  if (!done || status === undefined) return stopAfterInterruption(cause)
  const reason = stopReason(status, calls)
  const message = 'The provider reported that the interaction failed, without a reason.'
  const unnamed: Failure = { kind: 'malformed-reply', message, code: status }
  return { stop: { reason, raw: status }, ...(reason === 'failed' && { failure: unnamed }) }
}

/** Checked 2026-11. */
export const reasons: Partial<Record<string, StopReason>> = {
  completed: 'done',
  requires_action: 'tool-calls',
  incomplete: 'length',
  budget_exceeded: 'length',
  failed: 'failed',
  cancelled: 'cancelled',
  requires_continuation: 'paused',
  queued: 'paused',
  in_progress: 'paused',
}

/** An unknown status also ends the interaction. */
function stopReason(status: string, calls: number): StopReason {
  const reason = reasons[status] ?? 'done'
  if (reason === 'done' && calls > 0) return 'tool-calls'
  return reason === 'tool-calls' && calls === 0 ? 'paused' : reason
}

// Tokens on this wire: the input includes the cached part, but not what server tools added to the prompt, and thoughts
// are counted separately from the output (checked 2026-11: the four add up to the total).

function readUsage(raw: JsonObject): Usage {
  const thoughts = countIn(raw.total_thought_tokens)
  return {
    input: countIn(raw.total_input_tokens) + countIn(raw.total_tool_use_tokens),
    output: countIn(raw.total_output_tokens) + thoughts,
    cacheRead: countIn(raw.total_cached_tokens),
    cacheWrite: 0,
    reasoning: thoughts,
    raw,
  }
}
