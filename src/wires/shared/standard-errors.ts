// The common errors for statuses that no request can avoid, as recorded (checked 2026-11).

import type { ErrorWords } from '../service.ts'

export const overloadedText = 'The model is overloaded. Please try again later.'
export const serverErrorText =
  'The server had an error processing your request. Sorry about that! You can retry your request, or contact us through our help center if the error persists.'

export const standardErrors: Record<number, ErrorWords> = {
  429: { message: 'Rate limit reached. Please try again in 1s.', type: 'requests', code: 'rate_limit_exceeded' },
  500: { message: serverErrorText, type: 'server_error', code: null },
  503: { message: overloadedText, type: 'service_unavailable_error', code: 'server_is_overloaded' },
}
