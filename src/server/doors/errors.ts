// Errors with the text and status of the client's API: clients use these to decide whether to retry, to compact their
// conversation, or to ask for another key.

import type { Failure } from '../../core/error.ts'
import type { WireService } from '../../wires/service.ts'
import type { Issue } from '../../wires/wire.ts'

type ErrorForm = Pick<Issue, 'status' | 'type' | 'code'>

/** In OpenAI's terms; the other wires have a type for each status. */
const forms: Partial<Record<Failure['kind'], ErrorForm>> = {
  auth: { status: 401, type: 'invalid_request_error', code: 'invalid_api_key' },
  permission: { status: 403, type: 'invalid_request_error', code: 'permission_denied' },
  refused: { status: 403, type: 'invalid_request_error', code: 'content_policy_violation' },
  'not-found': { status: 404, type: 'invalid_request_error', code: null },
  'bad-input': { status: 400, type: 'invalid_request_error', code: null },
  'invalid-request': { status: 400, type: 'invalid_request_error', code: null },
  'too-large': { status: 413, type: 'invalid_request_error', code: null },
  conflict: { status: 409, type: 'invalid_request_error', code: null },
  'rate-limit': { status: 429, type: 'requests', code: 'rate_limit_exceeded' },
  quota: { status: 429, type: 'insufficient_quota', code: 'insufficient_quota' },
  overloaded: { status: 503, type: 'service_unavailable_error', code: 'server_is_overloaded' },
  storage: { status: 503, type: 'service_unavailable_error', code: 'server_is_overloaded' },
  timeout: { status: 504, type: 'server_error', code: null },
  network: { status: 502, type: 'server_error', code: null },
  'malformed-reply': { status: 502, type: 'server_error', code: null },
  // The same reply would be too large again.
  limit: { status: 502, type: 'server_error', code: null },
}

const unforeseen: ErrorForm = { status: 500, type: 'server_error', code: null }

/** `tokens` and `window`: the estimated size of the prompt, and the model's window, for a prompt that is too long. */
export function issueOf(
  { overflow, door, home }: Pick<WireService, 'overflow' | 'door' | 'home'>,
  failure: Failure,
  size: { tokens: number; window: number },
): Issue {
  const { kind, message, code, param = null } = failure
  if (kind === 'context-overflow') {
    const tokens = Math.max(size.tokens, size.window + 1)
    return overflow({ provider: home, tokens, window: size.window })
  }
  // A provider that failed is not overloaded: clients wait for the one, and change the model for the other.
  const isBroken = kind === 'overloaded' && failure.status === 500
  const { status, type, code: usual } = (isBroken ? undefined : forms[kind]) ?? unforeseen
  // Some mistakes of clients have their own code.
  const own = status < 429 ? code : undefined
  if (door?.codes !== 'always') {
    // A code of another provider means nothing to the client.
    const reported = door?.codes === 'some' && failure.status === undefined ? own : undefined
    const statusHere = status === 503 ? (door?.overloaded ?? status) : status
    return { rule: 'door', status: statusHere, message, ...(reported !== undefined && { code: reported }) }
  }
  const named = own ?? usual
  return { rule: 'door', status, message, ...(type !== undefined && { type }), code: named ?? null, param }
}
