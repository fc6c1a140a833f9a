// A stream of the Interactions API: named events, each with its `event_type`. The last one is
// `interaction.completed`, whatever became of the interaction; its `status` tells. Event ids are there to take a
// stream up again; here they only tell an event that came twice.

import type { Failure } from '../../core/error.ts'
import type { ReplyEvent } from '../../core/event.ts'
import { isObject, type Json, type JsonObject } from '../../core/json.ts'
import type { Origin } from '../../core/message.ts'
import { stopAfterInterruption, type Outcome } from '../shared/interruption.ts'
import { readFailure } from '../shared/failure.ts'
import type { Decoder, DecoderOptions, EndCause } from '../wire.ts'
import { splitText } from '../shared/text.ts'
import { stepReader } from './read-steps.ts'
import { stopReason } from './stop.ts'
import { readUsage } from './usage.ts'
import { serverToolOf, type Step } from './types.ts'

export function decoder(given: Origin, options?: DecoderOptions): Decoder {
  let origin = given
  let events: ReplyEvent[] = []
  let started = false
  let status: string | undefined
  let done = false
  let failure: Failure | undefined
  let usage: JsonObject | undefined
  let lastEvent: Json | undefined
  const reader = stepReader((event) => events.push(event), options)

  return {
    push(chunk) {
      if (isObject(chunk)) readEvent(chunk)
      return taken()
    },
    end(cause) {
      start()
      reader.close(done && !failure)
      const { stop, failure: wrong } = outcome(cause)
      events.push({
        type: 'reply-end',
        origin,
        stop,
        native: reader.native,
        ...(usage && { usage: readUsage(usage) }),
        ...(wrong && { failure: wrong }),
      })
      return taken()
    },
    get done() {
      return done || failure !== undefined
    },
  }

  function taken(): ReplyEvent[] {
    const all = events
    events = []
    return all
  }

  function start(): void {
    if (started) return
    started = true
    events.push({ type: 'reply-start', origin })
  }

  function readEvent(event: JsonObject): void {
    if (typeof event.event_id === 'string' && event.event_id === lastEvent) return
    lastEvent = event.event_id
    if (isObject(event.interaction)) readInteraction(event.interaction)
    else if (typeof event.interaction_id === 'string') named(event.interaction_id)
    start()
    if (isObject(event.metadata) && isObject(event.metadata.usage)) usage = event.metadata.usage
    if (typeof event.status === 'string') status = event.status
    const index = typeof event.index === 'number' ? event.index : 0
    switch (event.event_type) {
      case 'step.start':
        if (isObject(event.step)) reader.start(index, event.step)
        break
      case 'step.delta':
        if (isObject(event.delta)) reader.delta(index, event.delta)
        break
      case 'step.stop':
        reader.stop(index)
        break
      case 'interaction.completed':
        done = true
        break
      default:
        if (isObject(event.error)) failure = readFailure({ body: event, provider: origin.provider })
    }
  }

  function readInteraction(interaction: JsonObject): void {
    if (typeof interaction.id === 'string') named(interaction.id)
    if (typeof interaction.model === 'string' && origin.model === '') origin = { ...origin, model: interaction.model }
    if (typeof interaction.status === 'string') status = interaction.status
    if (isObject(interaction.usage)) usage = interaction.usage
    if (isObject(interaction.error)) {
      failure = readFailure({ body: { error: interaction.error }, provider: origin.provider })
    }
  }

  /** Nothing is stored under an empty id: an interaction that is not kept has none. */
  function named(id: string): void {
    if (id !== '' && origin.replyId !== id) origin = { ...origin, replyId: id }
  }

  function outcome(cause: EndCause | undefined): Outcome {
    if (failure) return { stop: { reason: 'failed', ...(failure.code && { raw: failure.code }) }, failure }
    if (done && status !== undefined) {
      const reason = stopReason(status, reader.calls)
      const message = 'The provider says that the interaction failed, and not why.'
      const unnamed: Failure = { kind: 'malformed-reply', message, code: status }
      return { stop: { reason, raw: status }, ...(reason === 'failed' && { failure: unnamed }) }
    }
    return stopAfterInterruption(cause)
  }
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
    ...steps.flatMap((step, index) => (isObject(step) ? stepEvents(step, index, piece) : [])),
    { interaction, event_type: 'interaction.completed' },
  ]
}

function stepEvents(step: Step, index: number, piece: number): Json[] {
  const { frame, deltas } = inPieces(step, piece)
  return [
    { index, step: frame, event_type: 'step.start' },
    ...deltas.map((delta) => ({ index, delta, event_type: 'step.delta' })),
    { index, event_type: 'step.stop' },
  ]
}

/** What a step is started with, and what comes after. */
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

/** Deltas cannot tell where one text ends and the next begins: such an output is started with all it has. */
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
