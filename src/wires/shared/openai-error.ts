// The error body of OpenAI's wires. Most providers nest it as OpenAI does; some have a different shape (checked
// 2026-11).

import type { Json } from '../../core/json.ts'
import type { Issue, Profile } from '../wire.ts'

export function openaiErrorBody(issue: Issue, { provider }: Profile = {}): Json {
  const { status, message, type, code = null, param = null } = issue
  switch (provider) {
    // The number of the status, and no type.
    case 'openrouter':
      return { error: { message, code: status } }
    case 'llama.cpp':
      return { error: { code: status, message, type: type ?? 'invalid_request_error' } }
    // Errors of its own request validation are flat.
    case 'xai':
      if (type === undefined) return code === null ? { error: message } : { code, error: message }
  }
  return { error: { message, type: type ?? 'invalid_request_error', param, code } }
}
