// What each wire says when something is wrong that no request can help: for faults that name a status and no body, and
// for the error event inside a stream. Words as they are on record (checked 2026-11).

import type { Json } from '../core/json.ts'
import type { Issue, Profile, Wire } from '../wires/wire.ts'

export function standardError(protocol: Wire, status: number, profile: Profile): Json {
  const words = errors[protocol.id]?.[status] ?? general[status] ?? { message: `The server answered ${status}.` }
  return protocol.errorBody({ rule: 'fault', status, ...words }, profile)
}

/** The event that tells of an overload in the middle of a stream that began well. */
export function errorEvent(protocol: Wire, profile: Profile): Json {
  switch (protocol.id) {
    case 'anthropic-messages':
      return { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }
    case 'openai-responses':
      return { type: 'error', code: 'server_error', message: serverError, param: null, sequence_number: 0 }
    case 'gemini-interactions':
      return { event_type: 'error', error: { code: 'service_unavailable', message: overloaded } }
    default:
      return standardError(protocol, 503, profile)
  }
}

type Words = Pick<Issue, 'message' | 'type' | 'code'>

const overloaded = 'The model is overloaded. Please try again later.'
const serverError =
  'The server had an error processing your request. Sorry about that! You can retry your request, or contact us through our help center if the error persists.'

const general: Record<number, Words> = {
  429: { message: 'Rate limit reached. Please try again in 1s.', type: 'requests', code: 'rate_limit_exceeded' },
  500: { message: serverError, type: 'server_error', code: null },
  503: { message: overloaded, type: 'service_unavailable_error', code: 'server_is_overloaded' },
}

const errors: Record<string, Record<number, Words>> = {
  'anthropic-messages': {
    429: {
      message: "This request would exceed your account's rate limit. Please try again later.",
      type: 'rate_limit_error',
    },
    500: { message: 'Internal server error', type: 'api_error' },
    503: { message: 'Overloaded', type: 'overloaded_error' },
    504: { message: 'Request timed out', type: 'timeout_error' },
    529: { message: 'Overloaded', type: 'overloaded_error' },
  },
  'gemini-generate': {
    429: { message: 'Resource has been exhausted (e.g. check quota).', type: 'RESOURCE_EXHAUSTED' },
    500: { message: 'An internal error has occurred.', type: 'INTERNAL' },
    503: { message: overloaded, type: 'UNAVAILABLE' },
  },
  'gemini-interactions': {
    429: { message: 'Too many requests.', code: 'too_many_requests' },
    500: { message: 'An internal error has occurred.', code: 'api_error' },
    503: { message: overloaded, code: 'service_unavailable' },
  },
  'mistral-chat': {
    429: { message: 'Rate limit exceeded', type: 'rate_limited', code: '1300' },
  },
}
