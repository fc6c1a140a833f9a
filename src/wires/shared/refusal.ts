// A refused request: the provider's status, body and message, thrown where the problem is found.

import type { Json } from '../../core/json.ts'
import type { ErrorWords } from '../service.ts'
import type { Issue, Profile, Wire } from '../wire.ts'

export class Refusal extends Error {
  override readonly name = 'Refusal'
  readonly status: number
  readonly body: Json
  readonly headers: Record<string, string>

  constructor(status: number, body: Json, headers: Record<string, string> = {}) {
    super(`refused with ${status}`)
    this.status = status
    this.body = body
    this.headers = headers
  }
}

export function refusalFor(protocol: Pick<Wire, 'errorBody'>, issue: Issue, profile?: Profile): Refusal {
  return new Refusal(issue.status, protocol.errorBody(issue, profile))
}

/** An error of Anthropic with `details.error_code`, which its clients branch on. */
export function anthropicRefusal(
  status: number,
  code: string,
  message: string,
  details: Record<string, Json> = {},
): Refusal {
  const type = status === 404 ? 'not_found_error' : status === 529 ? 'overloaded_error' : 'invalid_request_error'
  return new Refusal(status, { type: 'error', error: { type, message, details: { error_code: code, ...details } } })
}

export function anthropicNotFound(message: string): Refusal {
  return new Refusal(404, { type: 'error', error: { type: 'not_found_error', message } })
}

/** An error in the format of OpenAI and most compatible services. */
export function openaiRefusal(
  status: number,
  message: string,
  rest: { code?: string | null; param?: string | null; type?: string } = {},
): Refusal {
  const { code = null, param = null, type = 'invalid_request_error' } = rest
  return new Refusal(status, { error: { message, type, param, code } })
}

export const overloadedText = 'The model is overloaded. Please try again later.'
export const serverErrorText =
  'The server had an error processing your request. Sorry about that! You can retry your request, or contact us through our help center if the error persists.'

/** The common errors for statuses that no request can avoid, as recorded (checked 2026-11). */
export const standardErrors: Record<number, ErrorWords> = {
  429: { message: 'Rate limit reached. Please try again in 1s.', type: 'requests', code: 'rate_limit_exceeded' },
  500: { message: serverErrorText, type: 'server_error', code: null },
  503: { message: overloadedText, type: 'service_unavailable_error', code: 'server_is_overloaded' },
}
