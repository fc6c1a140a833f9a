// What a server of the Responses API needs besides encoding and decoding.

import { openaiModels } from '../shared/model-forms.ts'
import { isObject } from '../../core/json.ts'
import { at, readOptions, reasoningByEffort, schemaIn, toolChoiceIn } from '../shared/request-options.ts'
import { serverErrorText } from '../shared/standard-errors.ts'
import type { WireService } from '../service.ts'
import { storedResponses } from './door.ts'
import { promptOf } from './prompt.ts'
import { readServerTool } from './server-tools.ts'

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
      toolChoice: toolChoiceIn(body.tool_choice),
      parallelTools: body.parallel_tool_calls !== false,
      reasoning: reasoningByEffort(at(body, 'reasoning', 'effort')),
      answerSchema: schemaIn(at(body, 'text', 'format')),
      maxOutput: [body.max_output_tokens],
    }),
  prompt: promptOf,
  counting: {
    answer: (tokens) => ({ object: 'response.input_tokens', input_tokens: tokens }),
    unknownField: (field) => ({ message: `Unknown parameter: '${field}'.`, code: 'unknown_parameter' }),
  },
  replyPrefix: 'resp_',
  hidesReasoning: true,
  complete(whole, { charge: { written } }) {
    const { usage } = whole
    if (!isObject(usage) || !isObject(usage.input_tokens_details) || Object.keys(written).length === 0) return whole
    const cache_write_tokens_details = { ttl_30m_tokens: written['30m'] ?? 0, ttl_12h_tokens: written['12h'] ?? 0 }
    const input_tokens_details = { ...usage.input_tokens_details, cache_write_tokens_details }
    return { ...whole, usage: { ...usage, input_tokens_details } }
  },
  readServerTool,
  door: {
    writer: async () => (await import('./write-stream.ts')).writer,
    models: openaiModels,
    codes: true,
    sockets: true,
    stored: storedResponses,
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
