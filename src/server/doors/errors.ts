// What went wrong, in the words and with the status of the API that the client speaks: clients decide by these whether to
// try again, to compact their conversation, or to ask for another key.

import type { Failure } from '../../core/error.ts'
import type { WireService } from '../../wires/service.ts'
import type { Issue } from '../../wires/wire.ts'
import type { DoorWire } from './door.ts'

type Words = Pick<Issue, 'status' | 'type' | 'code'>

/** In the words of OpenAI; the other wires have a type for each status. */
const words: Partial<Record<Failure['kind'], Words>> = {
  auth: { status: 401, type: 'invalid_request_error', code: 'invalid_api_key' },
  permission: { status: 403, type: 'invalid_request_error', code: 'permission_denied' },
  refused: { status: 403, type: 'invalid_request_error', code: 'content_policy_violation' },
  'not-found': { status: 404, type: 'invalid_request_error', code: null },
  'bad-input': { status: 400, type: 'invalid_request_error', code: null },
  'invalid-request': { status: 400, type: 'invalid_request_error', code: null },
  'too-large': { status: 413, type: 'invalid_request_error', code: null },
  conflict: { status: 409, type: 'invalid_request_error', code: null },
  'rate-limit': { status: 429, type: 'requests', code: 'rate_limit_exceeded' },
  limit: { status: 429, type: 'requests', code: 'rate_limit_exceeded' },
  quota: { status: 429, type: 'insufficient_quota', code: 'insufficient_quota' },
  overloaded: { status: 503, type: 'service_unavailable_error', code: 'server_is_overloaded' },
  storage: { status: 503, type: 'service_unavailable_error', code: 'server_is_overloaded' },
  timeout: { status: 504, type: 'server_error', code: null },
  network: { status: 502, type: 'server_error', code: null },
  'malformed-reply': { status: 502, type: 'server_error', code: null },
}

const unforeseen: Words = { status: 500, type: 'server_error', code: null }

/** `tokens` and `window`: of the prompt by estimate, and of the model, for a prompt that is too long. */
export function issueOf(
  wire: DoorWire,
  { overflow }: Pick<WireService, 'overflow'>,
  failure: Failure,
  size: { tokens: number; window: number },
): Issue {
  const { kind, message, code } = failure
  if (kind === 'context-overflow') {
    const tokens = Math.max(size.tokens, size.window + 1)
    return overflow({ provider: 'openai', tokens, window: size.window })
  }
  const { status, type, code: usual } = words[kind] ?? unforeseen
  const isOpenAi = wire === 'openai-chat' || wire === 'openai-responses'
  if (!isOpenAi) {
    // Anthropic has a status of its own for this.
    return { rule: 'door', status: wire === 'anthropic-messages' && status === 503 ? 529 : status, message }
  }
  // What is wrong with a request of the client has a code of its own here and there.
  const named = status < 429 && code !== undefined ? code : usual
  return { rule: 'door', status, message, ...(type !== undefined && { type }), code: named ?? null, param: null }
}
