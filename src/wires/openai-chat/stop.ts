// Why a reply ended, in the terms of the many servers on this wire.

import type { Failure } from '../../core/error.ts'
import type { StopReason } from '../../core/message.ts'
import { readFailure } from '../shared/failure.ts'

/** Checked 2026-11: OpenAI's five, `eos` of Together, three of Z.ai, two of DeepSeek and OpenRouter, some of gateways. */
const reasons: Record<string, StopReason> = {
  stop: 'done',
  eos: 'done',
  end_turn: 'done',
  stop_sequence: 'done',
  length: 'length',
  max_tokens: 'length',
  model_length: 'length',
  model_context_window_exceeded: 'length',
  tool_calls: 'tool-calls',
  function_call: 'tool-calls',
  tool_use: 'tool-calls',
  content_filter: 'refusal',
  refusal: 'refusal',
  sensitive: 'refusal',
  error: 'failed',
  network_error: 'failed',
  insufficient_system_resource: 'failed',
}

/** A host may report `stop` with calls, and `tool_calls` without any: the content decides. */
export function stopReason(finish: string, has: { calls: boolean; refusal: boolean }): StopReason {
  const reason = Object.hasOwn(reasons, finish) ? (reasons[finish] ?? 'done') : 'done'
  if (reason !== 'done' && reason !== 'tool-calls') return reason
  if (has.calls) return 'tool-calls'
  return has.refusal ? 'refusal' : 'done'
}

export function failureOfFinish(finish: string, provider: string): Failure {
  const message = `The reply ended with the finish reason "${finish}".`
  return readFailure({ body: { error: { code: finish, message } }, ...(provider !== '' && { provider }) })
}

export function finishReason(reason: StopReason, hasRefusal: boolean): string {
  if (reason === 'length') return 'length'
  if (reason === 'tool-calls') return 'tool_calls'
  if (reason === 'refusal' && !hasRefusal) return 'content_filter'
  return reason === 'failed' ? 'error' : 'stop'
}
