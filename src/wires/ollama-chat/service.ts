// What a server of Ollama's chat needs besides encoding and decoding.

import { hash } from 'node:crypto'
import { isObject, type Json, type JsonObject } from '../../core/json.ts'
import { noDate } from '../shared/model-forms.ts'
import { chatPrompt } from '../shared/prompt.ts'
import { effortIn, readOptions, toolChoiceIn } from '../shared/request-options.ts'
import type { DescribedModel, WireService } from '../service.ts'
import { listIn, valueAt } from '../shared/json-fields.ts'
import { generate } from './generate.ts'

/** Clients require a minimum; this is the version whose API is followed (checked 2026-11). */
const version = '0.32.15'

export const ollamaChatService: WireService = {
  home: 'ollama',
  route(method, path) {
    if (method === 'POST' && path.endsWith('/api/chat')) return { do: 'reply' }
    if (method === 'POST' && path.endsWith('/api/generate')) return { do: 'reply', form: 'generate' }
    if (method === 'POST' && path.endsWith('/api/show')) return { do: 'model' }
    if (method !== 'GET') return undefined
    if (path.endsWith('/api/version')) return { do: 'other', name: 'version' }
    if (path.endsWith('/api/ps')) return { do: 'other', name: 'running' }
    return path.endsWith('/api/tags') ? { do: 'models' } : undefined
  },
  modelsPath: '/api/tags',
  listField: 'messages',
  request: (messages, model) => ({ model, messages }),
  options: (body) =>
    readOptions({
      toolChoice: toolChoiceIn(body.tool_choice),
      reasoning: body.think === undefined ? 'free' : body.think === false ? 'off' : 'on',
      answerSchema: isObject(body.format) ? body.format : body.format === 'json' ? {} : undefined,
      maxOutput: [valueAt(body, 'options', 'num_predict')],
      stop: valueAt(body, 'options', 'stop'),
      temperature: valueAt(body, 'options', 'temperature'),
      topP: valueAt(body, 'options', 'top_p'),
      topK: valueAt(body, 'options', 'top_k'),
      seed: valueAt(body, 'options', 'seed'),
      presencePenalty: valueAt(body, 'options', 'presence_penalty'),
      frequencyPenalty: valueAt(body, 'options', 'frequency_penalty'),
      effort: effortIn(body.think, { isOn: typeof body.think === 'boolean' ? body.think : undefined }),
    }),
  prompt: chatPrompt,
  streams: (body) => body.stream !== false,
  forms: { generate },
  loading,
  describe,
  // No model occupies memory here.
  fixed: { version: { version }, running: { models: [] } },
  door: {
    // Chats at `/api/chat` are distinguished by their bodies from those of the AI SDK. What is not offered is refused in
    // the form that its clients read.
    barePaths: /^\/api\/(?:generate|show|tags|ps|version|pull|push|create|copy|delete|embed|embeddings)$/,
    compatiblePaths: /^\/v1\b/,
    writer: async () => (await import('./write-stream.ts')).writer,
    models: {
      one: (name, provider) => ({
        name,
        model: name,
        modified_at: noDate,
        size: 0,
        // Clients show its beginning, and tell models apart by it.
        digest: hash('sha256', name, 'hex'),
        details: detailsOf(/^[^/]+(?=\/)/.exec(name)?.[0] ?? provider),
      }),
      list: (models) => ({ models }),
      unknown: (name) => `model '${name}' not found`,
    },
    // Its documentation sends every body with `curl -d` alone.
    untypedBodies: true,
    unportable: ['logprobs', 'top_logprobs', 'options.min_p', 'options.repeat_penalty'],
  },
  refusedRequests: async () => (await import('./refused.ts')).refusedRequests,
  ends: /"done":\s*true/,
  overflow: () => ({ rule: 'context', status: 400, message: 'the input length exceeds the context length' }),
  window(body) {
    const requested = valueAt(body, 'options', 'num_ctx')
    return typeof requested === 'number' ? requested : undefined
  },
  truncate: (view, fits) => (view.truncate === false ? undefined : truncateFront(view, fits)),
}

/** A chat without messages, or a generation without a prompt, loads the model, or unloads it if it is kept for no time. */
function loading({ model, messages, keep_alive: lifetime }: JsonObject, now: number): JsonObject | undefined {
  const isEmpty = messages === undefined || messages === null || (Array.isArray(messages) && messages.length === 0)
  if (!isEmpty || typeof model !== 'string' || model === '') return undefined
  const isUnloaded = lifetime === 0 || (typeof lifetime === 'string' && /^0+[a-z]*$/.test(lifetime))
  return {
    model,
    created_at: new Date(now).toISOString(),
    message: { role: 'assistant', content: '' },
    done: true,
    done_reason: isUnloaded ? 'unload' : 'load',
  }
}

/** The name of the architecture is part of the names of other fields. */
function describe({ name, provider, model, capabilities }: DescribedModel): Json {
  const { contextWindow, tools, media, efforts } = capabilities
  const accepts = (kind: string) => media.some((type) => type.startsWith(kind))
  return {
    modelfile: `FROM ${name}`,
    parameters: '',
    template: '{{ .Prompt }}',
    details: { ...detailsOf(provider), parent_model: model },
    model_info: {
      'general.architecture': provider,
      'general.basename': name,
      ...(contextWindow !== undefined && { [`${provider}.context_length`]: contextWindow }),
    },
    capabilities: [
      'completion',
      ...(tools ? ['tools'] : []),
      ...(accepts('image/') ? ['vision'] : []),
      ...(accepts('audio/') ? ['audio'] : []),
      ...(efforts.some((effort) => effort !== 'none') ? ['thinking'] : []),
    ],
    modified_at: noDate,
  }
}

function detailsOf(provider: string): JsonObject {
  return {
    parent_model: '',
    format: '',
    family: provider,
    families: [provider],
    parameter_size: '',
    quantization_level: '',
  }
}

/** Ollama truncates silently: system and the newest messages that fit are left, at least the last one. */
function truncateFront(body: JsonObject, fits: (body: JsonObject) => boolean): JsonObject {
  const messages = listIn(body.messages)
  const isSystem = (message: unknown) =>
    typeof message === 'object' && message !== null && 'role' in message && message.role === 'system'
  const system = messages.filter(isSystem)
  const others = messages.filter((message) => !isSystem(message))
  const from = (start: number): JsonObject => ({ ...body, messages: [...system, ...others.slice(start)] })
  let low = 0
  let high = Math.max(others.length - 1, 0)
  while (low < high) {
    const middle = (low + high) >> 1
    if (fits(from(middle))) high = middle
    else low = middle + 1
  }
  return from(low)
}
