// A stream of the Interactions API: named events, each with its `event_type`. The last one is `interaction.completed`,
// whatever its outcome; `status` has it. Event ids are meant for resuming a stream; here they only identify repeated
// events.

import type { Failure } from '../../core/error.ts'
import { isObject, type Json, type JsonObject } from '../../core/json.ts'
import type { Origin } from '../../core/message.ts'
import { decoding, endReply, startReply, takeEvents } from '../shared/decoding.ts'
import { readFailure } from '../shared/failure.ts'
import { failedWith, stopAfterInterruption, type Outcome } from '../shared/interruption.ts'
import type { Decoder, DecoderOptions, EndCause } from '../wire.ts'
import { splitText } from '../shared/text.ts'
import { closeSteps, nativeSteps, noSteps, startStep, stopStep, type Steps } from './read-steps.ts'
import { stopReason } from './stop.ts'
import { readUsage } from './usage.ts'
import { serverToolOf, type Step } from './types.ts'

interface State extends Steps {
  status: string | undefined
  done: boolean
  usage: JsonObject | undefined
  /** The id of the last event. */
  lastEvent: Json | undefined
}

export function decoder(given: Origin, options?: DecoderOptions): Decoder {
  const state: State = {
    ...noSteps(decoding(given, options)),
    status: undefined,
    done: false,
    usage: undefined,
    lastEvent: undefined,
  }
  return {
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
    get done() {
      return state.done || state.failure !== undefined
    },
  }
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
  const message = 'The provider says that the interaction failed, and not why.'
  const unnamed: Failure = { kind: 'malformed-reply', message, code: status }
  return { stop: { reason, raw: status }, ...(reason === 'failed' && { failure: unnamed }) }
}

export function split(whole: Json, piece = Number.POSITIVE_INFINITY): Json[] {
  if (!isObject(whole) || !Array.isArray(whole.steps)) {
    const failed = isObject(whole) && isObject(whole.error) && whole.event_type === undefined
    return [failed ? { ...whole, event_type: 'error' } : whole]
  }
  const { steps, ...interaction } = whole
  const { id = '', object = 'interaction', model } = whole
  const begun = { id, status: 'in_progress', object, ...(model !== undefined && { model }) }
  return [
    { interaction: begun, event_type: 'interaction.created' },
    { interaction_id: id, status: 'in_progress', event_type: 'interaction.status_update' },
    ...steps.flatMap((step, index) => (isObject(step) ? eventsOf(step, index, piece) : [])),
    { interaction, event_type: 'interaction.completed' },
  ]
}

/** A step as the events of a stream. */
export function eventsOf(step: Step, index: number, piece = Number.POSITIVE_INFINITY): Json[] {
  const { frame, deltas } = inPieces(step, piece)
  return [
    { index, step: frame, event_type: 'step.start' },
    ...deltas.map((delta) => ({ index, delta, event_type: 'step.delta' })),
    { index, event_type: 'step.stop' },
  ]
}

/** The initial content of a step, and the rest. */
function inPieces(step: Step, piece: number): { frame: Step; deltas: JsonObject[] } {
  if (step.type === 'function_call' && isObject(step.arguments)) {
    const texts = [...splitText(JSON.stringify(step.arguments), piece)]
    return {
      frame: { ...step, arguments: {} },
      deltas: texts.map((text) => ({ arguments: text, type: 'arguments_delta' })),
    }
  }
  if (step.type === 'thought') {
    const { signature, summary, ...frame } = step
    const items = Array.isArray(summary) ? summary : []
    return {
      frame,
      deltas: [
        ...items.map((content) => ({ content, type: 'thought_summary' })),
        ...(signature === undefined ? [] : [{ signature, type: 'thought_signature' }]),
      ],
    }
  }
  if (step.type === 'model_output' && Array.isArray(step.content)) return outputEvents(step, step.content, piece)
  if (serverToolOf(step) && typeof step.type === 'string') {
    const { arguments: input, result, ...frame } = step
    const rest = { ...(input !== undefined && { arguments: input }), ...(result !== undefined && { result }) }
    return { frame, deltas: Object.keys(rest).length > 0 ? [{ type: step.type, ...rest }] : [] }
  }
  return { frame: step, deltas: [] }
}

/** Deltas cannot mark where one text ends and the next begins: such an output starts with everything. */
function outputEvents(step: Step, content: Json[], piece: number): { frame: Step; deltas: JsonObject[] } {
  const isText = (item: Json | undefined) => isObject(item) && item.type === 'text'
  if (content.some((item, index) => !isObject(item) || (isText(item) && isText(content[index + 1])))) {
    return { frame: step, deltas: [] }
  }
  const { content: _, ...frame } = step
  const deltas = content.filter(isObject).flatMap((item): JsonObject[] => {
    if (item.type !== 'text' || typeof item.text !== 'string') return [item]
    const texts = item.text === '' ? [''] : [...splitText(item.text, piece)]
    return [
      ...texts.map((text) => ({ text, type: 'text' })),
      ...(item.annotations === undefined ? [] : [{ annotations: item.annotations, type: 'text_annotation_delta' }]),
    ]
  })
  return { frame, deltas }
}
