// What a server of the Responses API needs besides encoding and decoding.

import { SynapseError, type Failure } from '../../core/error.ts'
import { isObject, type Json, type JsonObject } from '../../core/json.ts'
import type { ProviderReference, ReplyFacts, StoredReplies, WireService } from '../service.ts'
import { listIn, objectsIn, textIn, valueAt } from '../shared/json-fields.ts'
import { openaiModels } from '../shared/model-forms.ts'
import { blocksOf, cacheOptions, withEnd, type Prompt, segment } from '../shared/prompt.ts'
import {
  allowedToolsIn,
  effortIn,
  readOptions,
  invalidBackground,
  reasoningByEffort,
  schemaIn,
  toolChoiceIn,
} from '../shared/request-options.ts'
import { serverErrorText } from '../shared/refusal.ts'
import { clientToolName, hasUnknownTools } from './client-tools.ts'
import { requestDefaults } from './emulate.ts'
import { readServerTool } from './options.ts'
import { storedItems } from './stored-items.ts'
import { stringField } from './types.ts'
import { untranslatable } from './untranslatable.ts'

export const openaiResponsesService: WireService = {
  home: 'openai',
  route(method, path) {
    if (method === 'POST') {
      if (path.endsWith('/responses')) return { do: 'reply' }
      if (path.endsWith('/responses/compact')) return { do: 'other', name: 'compact' }
      if (path.endsWith('/responses/input_tokens')) return { do: 'count' }
    }
    const stored = /\/(responses|conversations)(?:\/([^/]+)(?:\/([a-z_]+)(?:\/([^/]+))?)?)?$/.exec(path)
    if (!stored) return undefined
    const [, name = '', id, part, item] = stored
    if (name === 'responses' && (id === undefined || item !== undefined)) return undefined
    return { do: 'other', name, ...(id && { id }), ...(part && { part }), ...(item && { item }) }
  },
  listField: 'input',
  request: (input, model) => ({ model, input }),
  options: (body) =>
    readOptions({
      toolChoice: toolChoiceIn(withName(body.tool_choice)),
      allowedTools: allowedToolsIn(withNames(body.tool_choice)),
      parallelTools: body.parallel_tool_calls !== false,
      reasoning: reasoningByEffort(valueAt(body, 'reasoning', 'effort')),
      answerSchema: schemaIn(valueAt(body, 'text', 'format')),
      maxOutput: [body.max_output_tokens],
      temperature: body.temperature,
      topP: body.top_p,
      effort: effortIn(valueAt(body, 'reasoning', 'effort')),
    }),
  readServerTool,
  prompt: promptOf,
  counting: {
    answer: (tokens) => ({ object: 'response.input_tokens', input_tokens: tokens }),
    unknownField: (field) => ({ message: `Unknown parameter: '${field}'.`, code: 'unknown_parameter' }),
  },
  replyPrefix: 'resp_',
  hidesReasoning: true,
  complete: (reply, facts) => withReasoningStatus(withWrittenTokens(reply, facts), facts),
  door: {
    barePaths: /^\/(?:responses|conversations)(?:\/.+)?$/,
    writer: async () => (await import('./write-stream.ts')).writer,
    models: openaiModels,
    codes: 'always',
    requestId: 'x-request-id',
    sockets: async () => (await import('./socket.ts')).serveSocket,
    unsupported: (body) => invalidBackground(body) ?? twoPredecessors(body),
    untranslatable,
    isForOthers: hasUnknownTools,
    unportable: ['context_management', 'top_logprobs'],
    reference: ({ prompt }) => (isObject(prompt) ? templateReference(prompt) : undefined),
    session: ({ prompt_cache_key: key }) => key,
    asksForSummary: ({ input }) => valueAt(listIn(input).at(-1), 'type') === 'compaction_trigger',
    stored: storedResponses(),
  },
  refusedRequests: async () => (await import('./refused.ts')).refusedRequests,
  ends: /"response\.(?:completed|incomplete|failed)"/,
  overflow: () => ({
    rule: 'context',
    status: 400,
    message: 'Your input exceeds the context window of this model. Please adjust your input and try again.',
    type: 'invalid_request_error',
    code: 'context_length_exceeded',
    param: 'input',
  }),
  errorEvent: { type: 'error', code: 'server_error', message: serverErrorText, param: null, sequence_number: 0 },
  stateIds: ({ previous_response_id: id, conversation }) => [
    id,
    isObject(conversation) ? conversation.id : conversation,
  ],
  state: async () => (await import('./state.ts')).createResponsesState(),
}

/** A choice of a tool that has a type in place of a name. */
function withName(choice: Json | undefined): Json | undefined {
  const name = isObject(choice) && typeof choice.type === 'string' ? clientToolName(choice.type) : undefined
  return name !== undefined && isObject(choice) ? { name, ...choice } : choice
}

function withNames(choice: Json | undefined): Json | undefined {
  if (!isObject(choice) || !Array.isArray(choice.tools)) return choice
  return { ...choice, tools: choice.tools.map((tool) => withName(tool) ?? null) }
}

/** What the model reads of a body of the Responses API. */
export function promptOf(body: JsonObject): Prompt {
  const segments = [
    ...listIn(body.tools).map((tool) => segment('tools', 'tools', tool)),
    ...blocksOf(body.instructions, 'input_text').map((block) => segment('system', 'system', block)),
  ]
  const input: Json[] = typeof body.input === 'string' ? [{ role: 'user', content: body.input }] : listIn(body.input)
  for (const item of input) {
    if (!isObject(item)) continue
    if (typeof item.role === 'string') {
      const place = item.role === 'system' || item.role === 'developer' ? 'system' : 'messages'
      const blocks = blocksOf(item.content, item.role === 'assistant' ? 'output_text' : 'input_text')
      segments.push(...withEnd(blocks.map((block) => segment(place, textIn(item.role), block))))
    } else {
      const { id: _id, status: _status, ...rest } = item
      const role = textIn(item.type).endsWith('_output') ? 'tool' : 'assistant'
      segments.push(...withEnd([segment('messages', role, rest)]))
    }
  }
  const text = isObject(body.text) ? body.text : {}
  const { effort } = isObject(body.reasoning) ? body.reasoning : {}
  return {
    segments,
    settings: JSON.stringify([text.format ?? null, text.verbosity ?? null, effort ?? null, body.service_tier ?? null]),
    messageSettings: '',
    ...cacheOptions(body),
  }
}

/** Responses that a server stores for its clients: the fields that repeat the request, their items, and compaction. */
function storedResponses(): StoredReplies {
  return {
    keeps: ({ store }) => store !== false,
    fields(body) {
      const id = conversationId(body)
      return { ...requestFields(body), ...(id !== undefined && { conversation: { id } }) }
    },
    previousId: (body) => stringField(body, 'previous_response_id'),
    conversationId,
    unknownPrevious: (id) => ({
      kind: 'bad-input',
      // The code that OpenAI's clients expect.
      code: 'previous_response_not_found',
      param: 'previous_response_id',
      message: `Previous response with id '${id}' not found.`,
    }),
    retrieval: {
      endpoint: 'responses',
      unknown: (id) => ({ kind: 'not-found', message: `Response with id '${id}' not found.` }),
      deleted: (id) => ({ id, object: 'response', deleted: true }),
      missing: missingEvents,
      unfinished: (empty, { status, failure }) => ({
        ...empty,
        status,
        completed_at: null,
        error: failure ? { code: errorCode(failure), message: failure.message } : null,
        usage: null,
      }),
      notCancellable:
        'Cannot cancel a synchronous response. Only responses created with background=true can be cancelled.',
    },
    items: storedItems,
  }
}

function missingEvents(events: readonly Json[], query: URLSearchParams): readonly Json[] {
  const given = query.get('starting_after')
  if (given === null) return events
  if (!/^-?\d+$/.test(given)) {
    const message = `Invalid type for 'starting_after': expected an integer, but got a string instead.`
    throw new SynapseError({ kind: 'bad-input', code: 'invalid_type', param: 'starting_after', message })
  }
  // The client may have read a stream of smaller pieces, with higher numbers: it gets the end in any case.
  return events.filter(
    (event, i) => i === events.length - 1 || Number(valueAt(event, 'sequence_number')) > Number(given),
  )
}

/** Of those that the API has for a failed response. */
function errorCode({ kind }: Failure): string {
  if (kind === 'rate-limit') return 'rate_limit_exceeded'
  return kind === 'invalid-request' || kind === 'context-overflow' ? 'invalid_prompt' : 'server_error'
}

function twoPredecessors({ previous_response_id: previousId, conversation }: JsonObject): Failure | undefined {
  if (!previousId || !conversation) return undefined
  const message =
    "Mutually exclusive parameters: 'previous_response_id' and 'conversation'. Ensure you are only providing one of them."
  return { kind: 'bad-input', code: 'mutually_exclusive_parameters', message }
}

function templateReference(prompt: JsonObject): ProviderReference {
  return {
    what: 'prompt names a template',
    instead: 'send its text as instructions',
    question: `prompt: ${JSON.stringify(prompt)}`,
  }
}

function conversationId(body: JsonObject): string | undefined {
  return isObject(body.conversation) ? stringField(body.conversation, 'id') : stringField(body, 'conversation')
}

export function requestFields(body: JsonObject): JsonObject {
  const echoed = Object.entries(requestDefaults).map(([name, value]) => [name, body[name] ?? value])
  const reasoning = isObject(body.reasoning) ? body.reasoning : {}
  const text = isObject(body.text) ? body.text : {}
  return {
    ...Object.fromEntries(echoed),
    reasoning: { effort: null, summary: null, ...reasoning },
    text: { verbosity: 'medium', ...text, format: formatOf(text.format) },
    tools: Array.isArray(body.tools) ? body.tools.map(toolOf) : [],
    // `auto` may be requested, but is never the value that was used.
    service_tier: typeof body.service_tier === 'string' && body.service_tier !== 'auto' ? body.service_tier : 'default',
  }
}

function formatOf(format: Json | undefined): JsonObject {
  if (!isObject(format)) return { type: 'text' }
  return format.type === 'json_schema' ? { description: null, strict: false, ...format } : format
}

function toolOf(tool: Json): Json {
  return isObject(tool) && tool.type === 'function'
    ? { description: null, parameters: null, strict: true, ...tool }
    : tool
}

function withWrittenTokens(reply: JsonObject, { charge: { written } }: ReplyFacts): JsonObject {
  const { usage } = reply
  if (!isObject(usage) || !isObject(usage.input_tokens_details) || Object.keys(written).length === 0) return reply
  const cache_write_tokens_details = { ttl_30m_tokens: written['30m'] ?? 0, ttl_12h_tokens: written['12h'] ?? 0 }
  const input_tokens_details = { ...usage.input_tokens_details, cache_write_tokens_details }
  return { ...reply, usage: { ...usage, input_tokens_details } }
}

/** Reasoning has a status at xAI; OpenAI's has none. */
function withReasoningStatus(reply: JsonObject, { provider }: ReplyFacts): JsonObject {
  if (provider !== 'xai') return reply
  const output = objectsIn(reply.output).map((item) =>
    item.type === 'reasoning' ? { status: 'completed', ...item } : item,
  )
  return { ...reply, output }
}
