// What a server of Ollama's chat needs besides encoding and decoding.

import { noDate } from '../shared/model-forms.ts'
import { isObject, type JsonObject } from '../../core/json.ts'
import { chatPrompt } from '../shared/prompt.ts'
import { readOptions, toolChoiceIn } from '../shared/request-options.ts'
import type { WireService } from '../service.ts'
import { listIn, valueAt } from '../shared/json-fields.ts'

export const ollamaChatService: WireService = {
  home: 'ollama',
  route(method, path) {
    if (method === 'POST' && path.endsWith('/api/chat')) return { do: 'reply' }
    if (method === 'POST' && path.endsWith('/api/generate')) return { do: 'other', name: 'generate' }
    if (method === 'POST' && path.endsWith('/api/show')) return { do: 'other', name: 'model' }
    if (method !== 'GET') return undefined
    if (path.endsWith('/api/version')) return { do: 'other', name: 'version' }
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
    }),
  prompt: chatPrompt,
  streams: (body) => body.stream !== false,
  door: {
    // Chats at `/api/chat` are distinguished by their bodies from those of the AI SDK.
    barePaths: /^\/api\/(?:tags|version)$/,
    compatiblePaths: /^\/v1\b/,
    writer: async () => (await import('./write-stream.ts')).writer,
    models: {
      one: (name) => ({ name, model: name, modified_at: noDate, size: 0, digest: '', details: {} }),
      list: (models) => ({ models }),
    },
    fixed: { version: (version) => ({ version }) },
  },
  refusedRequests: async () => (await import('./refused.ts')).refusedRequests,
  ends: /"done":\s*true/,
  overflow: () => ({ rule: 'context', status: 400, message: 'the input length exceeds the context length' }),
  window(body) {
    const requested = valueAt(body, 'options', 'num_ctx')
    return typeof requested === 'number' ? requested : undefined
  },
  truncate: (view, fits) => (view.truncate === false ? undefined : truncateFront(view, fits)),
  state: async () => (await import('./state.ts')).createOllamaState(),
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
