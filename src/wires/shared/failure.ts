// Any provider's error, read and classified: from a refused request, or from inside a stream that began with 200.
//
// Codes and messages come before the status, because statuses are unreliable: a wrong key is 400 at xAI and Gemini, a
// per-minute limit is 413 at Groq, an empty account is 429 at OpenAI. The first matching row of the table decides.

import { isRetryable, type ErrorKind, type Failure } from '../../core/error.ts'
import { isObject, parseJson, type Json, type JsonObject } from '../../core/json.ts'

export interface ErrorReply {
  status?: number
  body: Json
  headers?: Record<string, string>
  provider?: string
  /** Where the key came from, to tell the user where to look. */
  keyVariable?: string
  /** Milliseconds since 1970, to read a `retry-after` that is a date; by default the reply's own `date`. */
  now?: number
}

/** Whether it refuses the reasoning of an earlier reply: signed for another account or another prefix, or changed. */
export function refusesReasoning({ code, message }: Failure): boolean {
  const isAboutThinking =
    /Invalid `signature` in `thinking` block|`(?:redacted_)?thinking` blocks in the latest assistant message cannot be modified/
  return code === 'invalid_encrypted_content' || isAboutThinking.test(message)
}

export function readFailure(reply: ErrorReply): Failure {
  const evidence: Found = { texts: [], codes: [] }
  collect(reply.body, evidence, 0)
  // AWS names its errors in a header, some with a URL after the name.
  const [named] = reply.headers?.['x-amzn-errortype']?.split(':') ?? []
  if (named) evidence.codes.push({ field: 'type', value: named })
  const status = reply.status !== undefined && reply.status >= 400 ? reply.status : evidence.status
  const text = evidence.texts.join('\n')
  const kind = classify(evidence.codes, text, status)
  const code = evidence.codes
    .filter(({ field }) => field !== 'param')
    .toSorted((a, b) => codeFields.indexOf(a.field) - codeFields.indexOf(b.field))[0]?.value
  const wait = waitOf(reply, evidence, text)
  return {
    kind,
    message: messageFor(kind, reply, status, text),
    ...(status !== undefined && { status }),
    ...(code !== undefined && { code }),
    ...(wait !== undefined && isRetryable(kind) && { retryAfterMs: wait }),
    raw: reply.body,
  }
}

interface Row {
  kind: ErrorKind
  /** Matches if any code of the error does. */
  code?: RegExp
  text?: RegExp
  status?: readonly number[]
}

/** Every condition of a row must match. Texts and codes checked 2026-11. */
const table: readonly Row[] = [
  // Local servers answer 500 for a body that their chat template does not support; a retry would not help.
  { kind: 'invalid-request', text: /roles must alternate|Failed to parse tool call arguments as JSON/i },
  { kind: 'invalid-request', text: /\b(image|audio|video) input is not supported/i },
  // Groq answers 400 for a malformed call by its own model.
  { kind: 'malformed-reply', code: /^tool_use_failed$/ },

  { kind: 'state-lost', code: /^previous_response_not_found$/ },
  { kind: 'state-lost', code: /^thread_(not_found|already_continued|continue_in_flight|fingerprint_mismatch)$/ },
  { kind: 'state-lost', code: /^thread_unsupported_request$/ },
  { kind: 'state-lost', code: /^param:(previous_response_id|previous_interaction_id)$/ },
  { kind: 'state-lost', text: /previous[_ ]response[^\n]*(not found|cannot be used|not support)/i },
  { kind: 'state-lost', text: /not support '?previous_response_id/i },
  { kind: 'state-lost', text: /\b(response|interaction|conversation|thread)\b[^\n]*\bnot found/i },
  { kind: 'state-lost', text: /Item with id '[^']*' not found|Items are not persisted|Duplicate item found with id/ },

  // Before the texts about length: a limit per minute also mentions large requests.
  { kind: 'quota', code: /PerDay/ },
  { kind: 'quota', text: /Too many tokens per day|Quota exceeded for aiplatform\.googleapis\.com/i },
  { kind: 'rate-limit', text: /Too many (tokens|requests), please wait/i },
  { kind: 'rate-limit', code: /^(ThrottlingException|ModelNotReadyException)$/i },
  { kind: 'rate-limit', text: /\b(tokens|requests) per (second|minute|hour|day)\b|\([TR]P[MD]\)/i },

  { kind: 'context-overflow', code: /^(context_length_exceeded|exceed_context_size_error|model_context_exceeded)$/ },
  {
    kind: 'context-overflow',
    code: /^(prompt_too_long|too_many_prompt_tokens|too_many_tokens|token_limit_exceeded)$/i,
  },
  { kind: 'context-overflow', text: /maximum (context|prompt|model) length|max(imum)?_model_len\b/i },
  { kind: 'context-overflow', text: /exceed(s|ed)? (the |max |your )*(available |model'?s? )?context/i },
  {
    kind: 'context-overflow',
    text: /context (length|window|size|limit)[^\n]{0,40}exceed|context[_ ]length[_ ]exceeded/i,
  },
  { kind: 'context-overflow', text: /(prompt|input) (is )?too long\b|all messages is too long/i },
  { kind: 'context-overflow', text: /exceeds? the (maximum number of tokens|configured limit of \d+ tokens)/i },
  { kind: 'context-overflow', text: /input length[^\n]{0,60}exceeds? (the )?context|context the overflows/i },
  {
    kind: 'context-overflow',
    text: /greater than the context length|exceeded model token limit|too many (input )?tokens/i,
  },
  {
    kind: 'context-overflow',
    text: /reduce the length of the (messages|input|prompt)|Range of input length should be/i,
  },
  { kind: 'context-overflow', text: /`?inputs`? tokens \+ `?max_new_tokens`? must be/i },

  { kind: 'quota', code: /^(insufficient_quota|credit_balance_exhausted|billing_error|payment_required)$/ },
  { kind: 'quota', code: /^(usage_not_included|quota_exceeded|Arrearage|exceeded_current_quota_error)$/ },
  {
    kind: 'quota',
    text: /insufficient (balance|credits?|funds)|credit balance is too low|reached your specified API usage/i,
  },
  { kind: 'quota', status: [402] },

  { kind: 'auth', code: /^(authentication(_error)?|invalid_api_key|wrong_api_key|API_KEY_INVALID|UNAUTHENTICATED)$/ },
  {
    kind: 'auth',
    text: /incorrect api key|invalid api[- ]?key|api key not (valid|found)|security token[^\n]* is invalid/i,
  },
  { kind: 'auth', text: /Authentication failed: Please make sure your API Key is valid/i },
  {
    kind: 'auth',
    code: /^(IncompleteSignature|InvalidSignature|RequestExpired|UnrecognizedClient|ExpiredToken)(Exception)?$/i,
  },
  // A gateway of Foundry that could not reach the model; the caller's key is valid.
  { kind: 'overloaded', code: /^invalid_model_endpoint_authentication$/ },
  { kind: 'auth', status: [401] },

  {
    kind: 'refused',
    code: /^(content_filter|content_policy_violation|refusal|invalid_prompt|data_inspection_failed)$/,
  },
  { kind: 'refused', code: /^(bio_policy|cyber_policy|misalignment_policy_violation|image_content_policy_violation)$/ },
  { kind: 'refused', code: /^(ResponsibleAIPolicyViolation|DataInspectionFailed)$/ },
  { kind: 'refused', text: /flagged as potentially violating|content management policy|requires moderation on/i },
  { kind: 'refused', text: /may contain inappropriate content/i },

  { kind: 'rate-limit', code: /^(rate_limit_exceeded|rate_limit_error|rate_limited|too_many_requests|slow_down)$/ },
  { kind: 'rate-limit', code: /^(RESOURCE_EXHAUSTED|RATE_LIMIT_EXCEEDED|1300)$/ },
  { kind: 'rate-limit', status: [429] },

  { kind: 'overloaded', code: /^(overloaded_error|server_is_overloaded|service_unavailable(_error)?|UNAVAILABLE)$/ },
  { kind: 'overloaded', code: /^(provider_overloaded|provider_unavailable|capacity_exceeded|unavailable_error)$/ },
  { kind: 'overloaded', code: /^(compaction_unavailable|conversation_locked|insufficient_system_resource)$/ },
  { kind: 'overloaded', text: /\boverloaded\b|currently experiencing high demand|^Loading model$/im },

  { kind: 'overloaded', code: /^(InternalServer|ServiceUnavailable|ModelError|ModelStreamError)Exception$/i },
  { kind: 'overloaded', code: /^MPAgreementBeingCreated$/ },
  { kind: 'timeout', code: /^ModelTimeoutException$/i },
  { kind: 'quota', code: /^ServiceQuotaExceededException$/i },
  { kind: 'timeout', code: /^(timeout(_error)?|deadline_exceeded|vector_store_timeout)$/i },
  { kind: 'timeout', status: [408, 504, 524] },

  { kind: 'too-large', code: /^(request_too_large|payload_too_large|image_too_large|image_file_too_large)$/ },
  { kind: 'too-large', text: /request payload size exceeds|request entity too large|image exceeds \d+ MB/i },
  { kind: 'too-large', status: [413] },

  { kind: 'invalid-request', text: /did not allow prompt caching/i },
  { kind: 'permission', code: /^AccessDeniedException$/i },
  { kind: 'permission', code: /^(permission_error|permission_denied|data_residency_mismatch)$/i },
  { kind: 'permission', status: [403] },

  { kind: 'not-found', code: /^(not_found(_error)?|model_not_found)$/i },
  { kind: 'not-found', status: [404, 410] },

  // Some hosts call every error an invalid request, even their own outages.
  { kind: 'overloaded', status: [500, 502, 503, 529] },
  {
    kind: 'invalid-request',
    code: /^(invalid_request(_error)?|INVALID_ARGUMENT|FAILED_PRECONDITION|parameter_unknown)$/i,
  },
  { kind: 'invalid-request', code: /^(already_exists|out_of_range|unimplemented|unprocessable|extra_forbidden)$/i },
  // Another request locks the same object at the provider: a moment later it will not.
  { kind: 'overloaded', status: [409] },
  { kind: 'invalid-request', status: [501] },
]

function classify(codes: readonly Code[], text: string, status: number | undefined): ErrorKind {
  for (const row of table) {
    if (row.code && !codes.some((code) => row.code?.test(code.field === 'param' ? `param:${code.value}` : code.value)))
      continue
    if (row.text && !row.text.test(text)) continue
    if (row.status && (status === undefined || !row.status.includes(status))) continue
    return row.kind
  }
  if (status !== undefined && status < 500) return 'invalid-request'
  return status === undefined && text === '' && codes.length === 0 ? 'malformed-reply' : 'overloaded'
}

/** Fields with codes; the first one names the error. A number there is a status, or meaningless. */
const codeFields = [
  'error_code',
  'reason',
  'code',
  'error_type',
  'status',
  'type',
  '__type',
  'quotaId',
  'quota_limit',
  'param',
] as const

interface Code {
  field: (typeof codeFields)[number]
  value: string
}

interface Found {
  texts: string[]
  codes: Code[]
  status?: number
  waitMs?: number | undefined
}

/** For nested errors: the innermost come first, because gateways wrap the messages of others. */
const carriers = ['error', 'detail', 'details', 'metadata', 'violations'] as const
const textFields = ['message', 'Message', 'msg', 'raw'] as const

function collect(value: Json | undefined, evidence: Found, depth: number): void {
  if (depth > 6) return
  if (typeof value === 'string') {
    const inner = jsonInside(value)
    if (inner !== undefined) collect(inner, evidence, depth + 1)
    else addText(value, evidence)
  } else if (Array.isArray(value)) {
    for (const item of value.slice(0, 8)) collect(item, evidence, depth + 1)
  } else if (isObject(value)) {
    collectObject(value, evidence, depth)
  }
}

function collectObject(value: JsonObject, evidence: Found, depth: number): void {
  if (isObject(value.response)) collect(value.response.error, evidence, depth + 1)
  for (const carrier of carriers) collect(value[carrier], evidence, depth + 1)

  const steps = Array.isArray(value.loc) ? value.loc.filter((step) => typeof step !== 'object') : []
  const place = steps.length > 0 ? `${steps.join('.')}: ` : ''
  for (const field of textFields) {
    const text = value[field]
    if (typeof text === 'string' && jsonInside(text) === undefined) addText(place + text, evidence)
    else collect(text, evidence, depth + 1)
  }

  for (const field of codeFields) {
    const code = value[field]
    if (typeof code === 'string' && code !== '' && code !== 'error') evidence.codes.push({ field, value: code })
  }
  for (const field of ['status', 'status_code', 'code']) {
    const number = value[field]
    if (typeof number === 'number' && number >= 400 && number < 600) evidence.status ??= number
  }
  if (typeof value.retryDelay === 'string') evidence.waitMs ??= durationIn(value.retryDelay.slice(0, 100))
}

function addText(text: string, evidence: Found): void {
  const some = text.slice(0, 4000)
  const isPage = /^\s*<(!doctype|html)/i.test(some)
  const words = isPage ? some.replaceAll(/<(style|script)[^]*?<\/\1>|<[^>]*>/gi, ' ') : some
  const plain = words.replaceAll(/\s+/g, ' ').trim().slice(0, 2000)
  if (plain !== '' && !evidence.texts.includes(plain)) evidence.texts.push(plain)
}

function jsonInside(text: string): Json | undefined {
  return /^\s*[[{]/.test(text) ? parseJson(text) : undefined
}

function waitOf(reply: ErrorReply, evidence: Found, text: string): number | undefined {
  return waitInHeaders(reply.headers ?? {}, reply.now) ?? evidence.waitMs ?? waitInText(text)
}

function waitInHeaders(headers: Record<string, string>, now: number | undefined): number | undefined {
  const lower = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value.trim()]))
  const ms = lower['retry-after-ms']
  if (ms !== undefined && /^\d+(\.\d+)?$/.test(ms)) return Number(ms)
  const after = lower['retry-after']
  if (after === undefined) return undefined
  if (/^\d+(\.\d+)?$/.test(after)) return Number(after) * 1000
  // A bare number that is not a delay (negative, say) would otherwise be read as a year.
  const wait = /[a-z]/i.test(after) ? Date.parse(after) - (now ?? Date.parse(lower['date'] ?? '')) : Number.NaN
  return wait >= 0 ? wait : undefined
}

function waitInText(text: string): number | undefined {
  const match = /\b(?:try again|retry)(?: your request)? (?:in|after) ((?:\d+(?:\.\d+)?\s?[a-z]+\s?)+)/i.exec(text)
  return match?.[1] === undefined ? undefined : durationIn(match[1])
}

/** `41.724s`, `6m0s`, `120ms`, `20 seconds`. */
function durationIn(text: string): number | undefined {
  let total: number | undefined
  for (const [, amount, unit] of text.matchAll(
    /(\d+(?:\.\d+)?)\s?(ms|milliseconds?|h|hours?|m|min|minutes?|s|sec|seconds?)(?![a-z])/gi,
  )) {
    const letter = unit?.toLowerCase() ?? ''
    const scale = /^m(s|illi)/.test(letter) ? 1 : letter[0] === 's' ? 1000 : letter[0] === 'm' ? 60_000 : 3_600_000
    total = (total ?? 0) + Math.ceil(Number(amount) * scale)
  }
  return total
}

/** What the user can do about it. */
const advice: Partial<Record<ErrorKind, string>> = {
  auth: 'Check the API key.',
  permission: 'The key is valid, but may not use this model or feature; check its permissions.',
  quota: 'The account has no credit left; check its billing and limits, or use another provider.',
  'rate-limit': 'Wait a moment, or use another model or provider.',
  overloaded: 'The problem is at the provider; try again, or use another provider.',
  'context-overflow':
    'The conversation is longer than the model can read; compact it, or use a model with a larger window.',
  'too-large': 'The request has too many bytes; send fewer or smaller images and files.',
  'not-found': 'Check the name of the model and the base URL.',
  'state-lost': 'The provider no longer stores this conversation; send it again in full.',
  refused: 'The provider refuses to answer this; change the request.',
  timeout: 'Try again, or ask for less.',
}

function messageFor(kind: ErrorKind, reply: ErrorReply, status: number | undefined, text: string): string {
  const provider = reply.provider ?? 'The provider'
  const summary = status === undefined ? `${provider} reported an error` : `${provider} answered ${status}`
  const words = text.replaceAll('\n', ' · ')
  const excerpt = words.length > 600 ? `${words.slice(0, 600)}…` : words
  const ended = /[.!?…]$/.test(excerpt) ? excerpt : `${excerpt}.`
  const hint = kind === 'auth' && reply.keyVariable ? `Check the API key in ${reply.keyVariable}.` : advice[kind]
  return `${excerpt === '' ? `${summary} without saying why.` : `${summary}: ${ended}`}${hint ? ` ${hint}` : ''}`
}
