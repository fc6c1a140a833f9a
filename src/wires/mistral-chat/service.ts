// What a server of Mistral's chat needs besides encoding and decoding.

import type { JsonObject } from '../../core/json.ts'
import { doneEvent } from '../shared/frame-text.ts'
import { valueAt } from '../shared/json-fields.ts'
import {
  effortWithThinking,
  readOptions,
  reasoningByEffort,
  schemaIn,
  severalAnswers,
  toolChoiceIn,
  type RequestOptions,
} from '../shared/request-options.ts'
import { chatPrompt } from '../shared/prompt.ts'
import type { WireService } from '../service.ts'

export const mistralChatService: WireService = {
  home: 'mistral',
  route(method, path) {
    if (method === 'POST' && path.endsWith('/chat/completions')) return { do: 'reply' }
    const conversations = /\/conversations(?:\/([^/]+)(?:\/([a-z_]+)(?:\/([^/]+))?)?)?$/.exec(path)
    if (!conversations) return undefined
    const [, id, part, item] = conversations
    return { do: 'other', name: 'conversations', ...(id && { id }), ...(part && { part }), ...(item && { item }) }
  },
  listField: 'messages',
  request: (messages, model) => ({ model, messages }),
  options(body) {
    return readOptions({
      toolChoice: toolChoiceIn(body.tool_choice),
      parallelTools: body.parallel_tool_calls !== false,
      reasoning: reasoningOf(body),
      answerSchema: schemaIn(body.response_format),
      maxOutput: [body.max_tokens],
      stop: body.stop,
      temperature: body.temperature,
      topP: body.top_p,
      seed: body.random_seed,
      presencePenalty: body.presence_penalty,
      frequencyPenalty: body.frequency_penalty,
      effort: effortWithThinking(body.reasoning_effort, body.thinking),
    })
  },
  prompt: chatPrompt,
  callId: (letters) => letters(9),
  door: {
    // With reasoning the content of a message is a list instead of a text, which is more than many clients read.
    showsReasoning: (body) =>
      reasoningOf(body) === 'on' ||
      body.prompt_mode === 'reasoning' ||
      (typeof body.model === 'string' && body.model.startsWith('magistral')),
    writer: async () => (await import('./write-stream.ts')).writer,
    models: {
      one: (name) => ({
        id: name,
        object: 'model',
        created: 0,
        owned_by: 'mistralai',
        type: 'base',
        capabilities: { completion_chat: true, function_calling: true },
      }),
      list: (data) => ({ object: 'list', data }),
    },
    // Exactly nine letters and digits.
    callId: (key) => key.slice(0, 9),
    unsupported: ({ n }) => severalAnswers('n', n),
    unportable: ['guardrails', 'prediction', 'safe_prompt'],
    session: ({ prompt_cache_key: key }) => key,
  },
  refusedRequests: async () => (await import('./refused.ts')).refusedRequests,
  ends: doneEvent,
  overflow: ({ tokens, window }) => ({
    rule: 'context',
    status: 400,
    message: `Prompt contains ${tokens} tokens … too large for model with ${window} maximum context length`,
    type: 'invalid_request_prompt',
    code: '3051',
  }),
  errors: { 429: { message: 'Rate limit exceeded', type: 'rate_limited', code: '1300' } },
  state: async () => (await import('./state.ts')).createMistralState(),
}

function reasoningOf(body: JsonObject): RequestOptions['reasoning'] {
  const thinking = valueAt(body, 'thinking', 'type')
  if (thinking === undefined) return reasoningByEffort(body.reasoning_effort)
  return thinking === 'disabled' ? 'off' : 'on'
}
