// What a server of Cohere's chat needs besides encoding and decoding.

import { isObject } from '../../core/json.ts'
import { doneEvent } from '../shared/frame-text.ts'
import { chatPrompt } from '../shared/prompt.ts'
import { valueAt } from '../shared/json-fields.ts'
import { effortWithThinking, readOptions } from '../shared/request-options.ts'
import type { WireService } from '../service.ts'
import { decodedName } from '../shared/path.ts'

export const cohereChatService: WireService = {
  home: 'cohere',
  route(method, path, provider) {
    if (method === 'POST' && path.endsWith('/v2/chat')) return { do: 'reply' }
    // Other providers have the same path.
    if (provider !== 'cohere') return undefined
    const models = /\/v1\/models(?:\/([^/]+))?$/.exec(path)
    if (method !== 'GET' || !models) return undefined
    return { do: 'models', ...(models[1] !== undefined && { id: decodedName(models[1]) }) }
  },
  modelsPath: '/v1/models?endpoint=chat',
  listField: 'messages',
  request: (messages, model) => ({ model, messages }),
  options(body) {
    const format = body.response_format
    const schema = valueAt(format, 'json_schema')
    const thinking = valueAt(body, 'thinking', 'type')
    return readOptions({
      toolChoice: body.tool_choice === 'REQUIRED' ? 'required' : body.tool_choice === 'NONE' ? 'none' : 'auto',
      reasoning: thinking === undefined ? 'free' : thinking === 'disabled' ? 'off' : 'on',
      answerSchema: isObject(schema) ? schema : valueAt(format, 'type') === 'json_object' ? {} : undefined,
      maxOutput: [body.max_tokens],
      stop: body.stop_sequences,
      temperature: body.temperature,
      topP: body.p,
      topK: body.k,
      seed: body.seed,
      presencePenalty: body.presence_penalty,
      frequencyPenalty: body.frequency_penalty,
      effort: effortWithThinking(undefined, body.thinking),
    })
  },
  prompt: chatPrompt,
  callId: (letters) => `call_${letters(12)}`,
  door: {
    compatiblePaths: /^\/compatibility\/v1\b/,
    writer: async () => (await import('./write-stream.ts')).writer,
    models: {
      one: (name) => ({ name, endpoints: ['chat'], context_length: 0, is_deprecated: false }),
      list: (models) => ({ models }),
    },
    callId: (key) => `call_${key.slice(0, 12)}`,
    unportable: ['citation_options', 'logprobs', 'safety_mode'],
  },
  refusedRequests: async () => (await import('./refused.ts')).refusedRequests,
  ends: doneEvent,
  overflow: ({ tokens, window }) => ({
    rule: 'CO-6',
    status: 400,
    message: `too many tokens: size limit exceeded by ${tokens - window} tokens. Try using shorter or fewer inputs. The limit for this model is ${window} tokens.`,
    type: 'TOO_MANY_TOKENS',
  }),
  errors: { 429: { message: 'You are past the per minute request limit, please wait and try again later.' } },
  keyErrors: {
    missing: [401, { message: 'no api key supplied' }],
    wrong: [401, { message: 'invalid api token' }],
  },
}
