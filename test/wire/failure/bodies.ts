// Error bodies as the wires write them, and what each case expects of one.

import type { ErrorKind } from '../../../src/core/error.ts'
import type { Json } from '../../../src/core/json.ts'

export interface Case {
  status?: number
  body: Json
  kind: ErrorKind
  code?: string
  wait?: number
  headers?: Record<string, string>
}

export const openai = (
  message: string,
  code: string | null = null,
  type = 'invalid_request_error',
  param: string | null = null,
) => ({
  error: { message, type, param, code },
})
export const anthropic = (type: string, message: string, errorCode?: string) => ({
  type: 'error',
  error: { type, message, ...(errorCode && { details: { error_code: errorCode } }) },
  request_id: 'req_1',
})
export const gemini = (code: number, status: string, message: string, details: Json[] = []) => ({
  error: { code, message, status, details },
})
export const mistral = (message: string, type: string, code: string) => ({
  object: 'error',
  message,
  type,
  param: null,
  code,
})
