// What the rules of OpenAI's two wires share: how an issue is written, as an error too, and what the name of a model
// says about it. The API reveals nothing else.

import type { Json } from '../../core/json.ts'
import type { Issue, Profile } from '../wire.ts'

export function invalid(rule: string, message: string, param: string | null = null, code: string | null = null): Issue {
  return { rule, status: 400, message, type: 'invalid_request_error', param, code }
}

export function tooLong(rule: string, param: string, limit: number, text: string): Issue {
  const message = `Invalid '${param}': string too long. Expected a string with maximum length ${limit}, but got a string with length ${text.length} instead.`
  return invalid(rule, message, param, 'string_above_max_length')
}

/** The error body. Most providers nest it as OpenAI does; some have a different shape (checked 2026-11). */
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

/** `gpt-5.4-mini-2026-03-05` is 5.4; the series without a number after the point is .0; undefined for other families. */
export function openaiVersion(model: string): number | undefined {
  const match = /^gpt-(\d+(?:\.\d+)?)(?!\d)/.exec(model)
  return match?.[1] === undefined || model.startsWith('gpt-4') ? undefined : Number(match[1])
}

export function isOSeries(model: string): boolean {
  return /^o\d(-|$)/.test(model)
}

/** `gpt-5-chat-latest` answers without reasoning, like the models before it. */
export function isReasoning(model: string): boolean {
  return isOSeries(model) || ((openaiVersion(model) ?? 0) >= 5 && !model.includes('-chat'))
}
