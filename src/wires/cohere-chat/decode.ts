// Cohere's events in, reply events out. `tool_plan` and thinking are both reasoning; a call is a single object, not a
// list.

import type { Failure } from '../../core/error.ts'
import { isObject, type JsonObject } from '../../core/json.ts'
import type { Origin, StopReason } from '../../core/message.ts'
import type { Usage } from '../../core/usage.ts'
import { decoding, endReply, startReply, takeEvents } from '../shared/decoding.ts'
import { readFailure } from '../shared/failure.ts'
import { stopAfterInterruption, type Outcome } from '../shared/interruption.ts'
import { numberIn, textIn } from '../shared/json-fields.ts'
import type { Decoder, DecoderOptions, EndCause } from '../wire.ts'
import {
  addCall,
  addCitation,
  addContent,
  addPlan,
  assembling,
  beginMessage,
  closeContent,
  endMessage,
  markCallEnd,
  messageIn,
  startContent,
  type Assembly,
} from './assemble.ts'

interface State extends Assembly {
  ended: boolean
  /** The delta of the last event. */
  last: JsonObject | undefined
}

export function decoder(origin: Origin, options?: DecoderOptions): Decoder {
  const state: State = { ...assembling(decoding(origin, options)), ended: false, last: undefined }
  return {
    push(event) {
      if (!state.ended && !state.last && isObject(event)) push(state, event)
      return takeEvents(state)
    },
    end(cause) {
      if (state.ended) return []
      state.ended = true
      startReply(state)
      const { last, failure } = state
      const { native, calls } = endMessage(state, last !== undefined && failure === undefined)
      const usage = last && isObject(last.usage) ? readUsage(last.usage) : undefined
      return endReply(state, { ...outcome(state, calls > 0, cause), native, usage })
    },
    get done() {
      return state.last !== undefined
    },
  }
}

function push(state: State, event: JsonObject): void {
  if (!state.started && typeof event.id === 'string') state.origin = { ...state.origin, replyId: event.id }
  startReply(state)
  // An error without a type and text.
  if (event.type === undefined && typeof event.message === 'string') {
    state.failure ??= readFailure({ body: event, provider: state.origin.provider })
  } else read(state, event)
}

function read(state: State, event: JsonObject): void {
  const message = messageIn(event)
  const { content, tool_plan: plan, tool_calls: call, citations } = message
  switch (event.type) {
    case 'message-start':
      beginMessage(state, message)
      break
    case 'tool-plan-delta':
      addPlan(state, textIn(plan))
      break
    case 'content-start':
      if (isObject(content)) startContent(state, content)
      break
    case 'content-delta':
      if (isObject(content)) addContent(state, content)
      break
    case 'content-end':
      closeContent(state)
      break
    case 'citation-start':
      if (citations !== undefined) addCitation(state, citations)
      break
    case 'tool-call-start':
    case 'tool-call-delta':
      if (isObject(call)) addCall(state, call, event.index)
      break
    case 'tool-call-end':
      markCallEnd(state, event.index)
      break
    case 'message-end':
      state.last = isObject(event.delta) ? event.delta : {}
  }
}

function outcome({ failure, last, origin }: State, hasCalls: boolean, cause: EndCause | undefined): Outcome {
  if (failure) return { stop: { reason: 'failed' }, failure }
  return last ? finished(last, hasCalls, origin.provider) : stopAfterInterruption(cause)
}

const reasons: Record<string, StopReason> = {
  COMPLETE: 'done',
  STOP_SEQUENCE: 'done',
  MAX_TOKENS: 'length',
  TOOL_CALL: 'tool-calls',
  ERROR: 'failed',
  TIMEOUT: 'failed',
}

function finished(last: JsonObject, hasCalls: boolean, provider: string): Outcome {
  const raw = textIn(last.finish_reason)
  const reason = reasons[raw] ?? 'done'
  if (reason === 'failed') return { stop: { reason, raw }, failure: failureIn(last, raw, provider) }
  if (reason === 'tool-calls' && !hasCalls) return { stop: { reason: 'done', raw } }
  return { stop: { reason: reason === 'done' && hasCalls ? 'tool-calls' : reason, raw } }
}

function failureIn({ error }: JsonObject, raw: string, provider: string): Failure {
  const message = `The provider ended the reply with finish_reason "${raw}".`
  if (raw === 'TIMEOUT') return { kind: 'timeout', message }
  if (typeof error === 'string') return readFailure({ body: { message: error }, provider })
  return { kind: 'malformed-reply', message }
}

/** `tokens` is what the model read and wrote; what is billed is in `billed_units`, which is far less with tools. */
function readUsage(usage: JsonObject): Usage {
  const billed = isObject(usage.billed_units) ? usage.billed_units : {}
  const tokens = isObject(usage.tokens) ? usage.tokens : billed
  const input = numberIn(tokens.input_tokens) + numberIn(tokens.image_tokens)
  return {
    input,
    output: numberIn(tokens.output_tokens),
    cacheRead: Math.min(input, numberIn(usage.cached_tokens)),
    cacheWrite: 0,
    reasoning: numberIn(tokens.reasoning_tokens),
    raw: usage,
  }
}
