// What a server of the Messages API needs besides encoding and decoding.

import { isObject, type Json, type JsonObject } from '../../core/json.ts'
import type { WireService } from '../service.ts'
import { listIn, objectIn, textIn, valueAt } from '../shared/json-fields.ts'
import { noDate } from '../shared/model-forms.ts'
import { blocksOf, withEnd, markOf, type Prompt, segment } from '../shared/prompt.ts'
import { effortWithThinking, readOptions, schemaIn, toolChoiceIn } from '../shared/request-options.ts'
import { readServerTool } from './options.ts'
import { toolChangesIn } from './types.ts'
import { decodedName } from '../shared/path.ts'

/** Fields that the API always has, with null for what is not known (checked 2026-11). */
const unknownAboutModel: JsonObject = {
  capabilities: null,
  deprecated_at: null,
  lifecycle: 'active',
  line: null,
  max_input_tokens: null,
  max_tokens: null,
  retires_at: null,
}

export const anthropicMessagesService: WireService = {
  home: 'anthropic',
  route(method, path) {
    if (method !== 'POST') return undefined
    const [, invoked, streamed] = /\/model\/([^/]+)\/invoke(-with-response-stream)?$/.exec(path) ?? []
    if (invoked !== undefined) {
      const framing = { kind: 'aws-events', wrapped: true } as const
      return { do: 'reply', model: decodedName(invoked), stream: streamed !== undefined, framing }
    }
    const [, predicted] = /\/models\/([^/:]+):(?:streamR|r)awPredict$/.exec(path) ?? []
    if (predicted === 'count-tokens') return { do: 'count' }
    if (predicted !== undefined) return { do: 'reply', model: decodedName(predicted) }
    if (path.endsWith('/messages') && !path.includes('/conversations/')) return { do: 'reply' }
    return path.endsWith('/messages/count_tokens') ? { do: 'count' } : undefined
  },
  listField: 'messages',
  request: (messages, model) => ({ model, max_tokens: 4096, messages }),
  options(body) {
    const thinking = valueAt(body, 'thinking', 'type')
    return readOptions({
      toolChoice: toolChoiceIn(body.tool_choice),
      parallelTools: valueAt(body, 'tool_choice', 'disable_parallel_tool_use') !== true,
      reasoning: thinking === undefined || thinking === 'disabled' ? 'off' : 'on',
      // The first name of the field, while it was in beta, is `output_format`.
      answerSchema: schemaIn(valueAt(body, 'output_config', 'format') ?? body.output_format),
      maxOutput: [body.max_tokens],
      stop: body.stop_sequences,
      temperature: body.temperature,
      topP: body.top_p,
      topK: body.top_k,
      effort: effortWithThinking(valueAt(body, 'output_config', 'effort'), body.thinking),
    })
  },
  readServerTool,
  prompt: promptOf,
  counting: {
    answer: (tokens, body, unedited) => ({
      input_tokens: tokens,
      ...(isObject(body.context_management) && { context_management: { original_input_tokens: unedited() } }),
    }),
    unknownField: (field) => ({ message: `${field}: Extra inputs are not permitted`, code: null }),
  },
  replyPrefix: 'msg_',
  callId: (letters) => `toolu_${letters(24)}`,
  complete(reply, { charge: { written } }) {
    if (!isObject(reply.usage)) return reply
    const cache_creation = {
      ephemeral_5m_input_tokens: written['5m'] ?? 0,
      ephemeral_1h_input_tokens: written['1h'] ?? 0,
    }
    return { ...reply, usage: { ...reply.usage, cache_creation } }
  },
  door: {
    recognises: (path, headers) => /^\/v1\b/.test(path) && headers.has('anthropic-version'),
    writer: async () => (await import('./write-stream.ts')).writer,
    models: {
      one: (name) => ({ type: 'model', id: name, display_name: name, created_at: noDate, ...unknownAboutModel }),
      list: modelPage,
    },
    callId: (key) => `toolu_${key}`,
    codes: 'some',
    overloaded: 529,
    requestId: 'request-id',
    ownHeaders: /^anthropic-/,
    unportable: ['container', 'context_management', 'fallbacks', 'mcp_servers'],
    session: sessionOf,
    asksForSummary: ({ compaction }) => valueAt(compaction, 'type') === 'summarize',
    // Message threads (beta, checked 2026-11): the tool runner of the official SDK uses them by default.
    stored: {
      // What continues a thread has the tools of its first request. If they were changed, clients send everything again.
      keeps: ({ thread, messages }) =>
        isObject(thread) && !listIn(messages).some((one) => toolChangesIn(one).length > 0),
      fields: () => ({}),
      previousId: ({ thread }) =>
        valueAt(thread, 'type') === 'continue' ? textIn(valueAt(thread, 'previous_message_id')) : undefined,
      ofFirst: ['system', 'tools'],
      unknownPrevious: (id) => ({
        kind: 'not-found',
        // The code for which clients send the whole conversation again.
        code: 'thread_not_found',
        message: `No usable thread state was found for previous_message_id ${id}.`,
      }),
    },
  },
  refusedRequests: async () => (await import('./refused.ts')).refusedRequests,
  ends: /"message_stop"/,
  overflow: ({ tokens, window }) => ({
    rule: 'context',
    status: 400,
    message: `prompt is too long: ${tokens} tokens > ${window} maximum`,
    type: 'invalid_request_error',
  }),
  largest: {
    size: 32 * 1024 * 1024,
    issue: { rule: 'size', status: 413, type: 'request_too_large', message: 'Request exceeds the maximum size' },
  },
  errors: {
    429: {
      message: "This request would exceed your account's rate limit. Please try again later.",
      type: 'rate_limit_error',
    },
    500: { message: 'Internal server error', type: 'api_error' },
    503: { message: 'Overloaded', type: 'overloaded_error' },
    504: { message: 'Request timed out', type: 'timeout_error' },
    529: { message: 'Overloaded', type: 'overloaded_error' },
  },
  errorEvent: { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } },
  stateIds: ({ thread }) => [valueAt(thread, 'previous_message_id')],
  state: async () => (await import('./state.ts')).createAnthropicState(),
}

/** Claude Code ends it with `session_ID`; since 2.1.78 it is JSON with a `session_id` (checked 2026-11). */
function sessionOf({ metadata }: JsonObject): string | undefined {
  return /session(?:_id)?[\s_":]*([0-9a-f-]{36})/.exec(textIn(valueAt(metadata, 'user_id')))?.[1]
}

/** A page after or before a model; all models if no size is requested, as many clients read one page only. */
function modelPage(models: readonly Json[], names: readonly string[], query: URLSearchParams): Json {
  const after = names.indexOf(query.get('after_id') ?? '') + 1
  const before = names.indexOf(query.get('before_id') ?? '')
  const end = before < 0 ? names.length : before
  const limit = Math.max(1, Number(query.get('limit')) || names.length)
  const from = before < 0 ? after : Math.max(after, end - limit)
  const to = Math.min(end, from + limit)
  return {
    data: models.slice(from, to),
    has_more: before < 0 ? to < names.length : from > 0,
    first_id: names[from] ?? null,
    last_id: names[to - 1] ?? null,
  }
}

/** What the model reads of a body of the Messages API. */
export function promptOf(body: JsonObject): Prompt {
  const segments = [
    ...listIn(body.tools).map((tool) => segment('tools', 'tools', tool)),
    ...blocksOf(body.system, 'text').map((block) => segment('system', 'system', block)),
  ]
  for (const message of listIn(body.messages)) {
    if (!isObject(message)) continue
    segments.push(
      ...withEnd(blocksOf(message.content, 'text').map((block) => segment('messages', textIn(message.role), block))),
    )
  }
  // Automatic caching: one mark on the last block that can have one; it moves forward with every request.
  if (isObject(body.cache_control)) {
    const last = segments.findLast((candidate) => !/^\S+ \{"type":"(redacted_)?thinking"/.test(candidate.text))
    const mark = markOf(body.cache_control)
    if (last && mark) last.mark ??= mark
  }
  const { effort } = objectIn(body.output_config)
  const pictures = segments.some((candidate) => candidate.media > 0)
  return {
    segments,
    settings: '',
    messageSettings: JSON.stringify([body.tool_choice ?? null, body.thinking ?? null, effort ?? null, pictures]),
  }
}
