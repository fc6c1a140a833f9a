// What a server of generateContent needs besides encoding and decoding.

import { isObject, type Json, type JsonObject } from '../../core/json.ts'
import type { WireService } from '../service.ts'
import { listIn, objectIn, objectsIn, textIn, textsIn, valueAt } from '../shared/json-fields.ts'
import { googleModels } from '../shared/model-forms.ts'
import { withEnd, type Prompt, segment } from '../shared/prompt.ts'
import {
  effortIn,
  readOptions,
  severalAnswers,
  type GivenOptions,
  type RequestOptions,
} from '../shared/request-options.ts'
import { cacheReference } from '../google/options.ts'
import { overloadedText } from '../shared/refusal.ts'
import { readServerTool } from './encode.ts'
import { camelKeys, jsonSchema, withUsualNames } from './types.ts'
import { decodedName } from '../shared/path.ts'

/** The AI SDK and LangChain write a model name with a slash without `models/` before it. */
const calls = [
  /\/models\/(.{1,200}):(generateContent|streamGenerateContent|countTokens)$/,
  /^(?:\/v1(?:beta|alpha)?)?\/([^/]+\/.{1,200}):(generateContent|streamGenerateContent|countTokens)$/,
]

/** Google's API for clients of OpenAI. */
const compatible = /^\/v1(?:beta|alpha)\/openai\b/

export const geminiGenerateService: WireService = {
  home: 'google',
  route(method, path) {
    const call = calls.map((pattern) => pattern.exec(path)).find(Boolean)
    if (method === 'POST' && call) {
      const model = decodedName(call[1] ?? '')
      if (call[2] === 'countTokens') return { do: 'count', model }
      return { do: 'reply', model, stream: call[2] === 'streamGenerateContent' }
    }
    const caches = /\/cachedContents(?:\/([^/]+))?$/.exec(path)
    return caches ? { do: 'other', name: 'caches', ...(caches[1] && { id: caches[1] }) } : undefined
  },
  listField: 'contents',
  // The model is in the path.
  request: (contents) => ({ contents }),
  options: (body) =>
    readOptions({
      ...toolChoiceOf(body),
      reasoning: reasoningOf(body),
      answerSchema: schemaOf(body),
      maxOutput: [valueAt(body, 'generationConfig', 'maxOutputTokens')],
      stop: valueAt(body, 'generationConfig', 'stopSequences'),
      temperature: valueAt(body, 'generationConfig', 'temperature'),
      topP: valueAt(body, 'generationConfig', 'topP'),
      topK: valueAt(body, 'generationConfig', 'topK'),
      seed: valueAt(body, 'generationConfig', 'seed'),
      presencePenalty: valueAt(body, 'generationConfig', 'presencePenalty'),
      frequencyPenalty: valueAt(body, 'generationConfig', 'frequencyPenalty'),
      effort: effortOf(body),
    }),
  withUsualNames,
  readServerTool,
  prompt: promptOf,
  // Without `alt=sse` a stream is one JSON array.
  asArray: (query) => query.get('alt') !== 'sse',
  counting: {
    request(body) {
      const { generateContentRequest: inner } = body
      if (!isObject(inner)) return body
      const { model: _model, ...request } = inner
      return request
    },
    answer: (tokens) => ({ totalTokens: tokens }),
    unknownField: (field) => ({
      message: `Invalid JSON payload received. Unknown name "${field}": Cannot find field.`,
      code: null,
    }),
  },
  door: {
    // Google's own client has used `/v1` since its version 3, where most paths are also those of OpenAI and Anthropic.
    recognises: (path, headers) =>
      /^\/v1(?:beta|alpha)\b(?!\/openai\b)/.test(path) || (/^\/v1\b/.test(path) && headers.has('x-goog-api-key')),
    barePaths: compatible,
    compatiblePaths: compatible,
    writer: async () => (await import('./write-stream.ts')).writer,
    models: googleModels,
    showsReasoning: (body) => valueAt(body, 'generationConfig', 'thinkingConfig', 'includeThoughts') === true,
    keyInQuery: true,
    unsupported: (body) =>
      severalAnswers('generationConfig.candidateCount', valueAt(body, 'generationConfig', 'candidateCount')),
    unportable: [
      'safetySettings',
      ...['logprobs', 'mediaResolution', 'responseLogprobs', 'responseModalities', 'speechConfig'].map(
        (name) => `generationConfig.${name}`,
      ),
    ],
    reference: ({ cachedContent }) => cacheReference('cachedContent', cachedContent),
    withModel: (path, model) => `/models/${model}:${path.slice(path.lastIndexOf(':') + 1)}`,
  },
  refusedRequests: async () => (await import('./refused.ts')).refusedRequests,
  ends: /"finishReason"/,
  overflow: ({ tokens, window }) => ({
    rule: 'context',
    status: 400,
    message: `The input token count (${tokens}) exceeds the maximum number of tokens allowed (${window}).`,
    type: 'INVALID_ARGUMENT',
  }),
  errors: {
    429: { message: 'Resource has been exhausted (e.g. check quota).', type: 'RESOURCE_EXHAUSTED' },
    500: { message: 'An internal error has occurred.', type: 'INTERNAL' },
    503: { message: overloadedText, type: 'UNAVAILABLE' },
  },
  state: async () => (await import('./state.ts')).createGeminiState(),
}

function toolChoiceOf(body: JsonObject): Pick<GivenOptions, 'toolChoice' | 'allowedTools'> {
  // Google's examples write it in small letters too.
  const mode = textIn(valueAt(body, 'toolConfig', 'functionCallingConfig', 'mode')).toUpperCase()
  if (mode !== 'ANY' && mode !== 'VALIDATED') return { toolChoice: mode === 'NONE' ? 'none' : 'auto' }
  const allowedTools = textsIn(valueAt(body, 'toolConfig', 'functionCallingConfig', 'allowedFunctionNames'))
  if (mode === 'VALIDATED') return { toolChoice: 'auto', allowedTools }
  const [only, ...others] = allowedTools ?? []
  if (only !== undefined && others.length === 0) return { toolChoice: { tool: only } }
  return { toolChoice: 'required', allowedTools }
}

function reasoningOf(body: JsonObject): RequestOptions['reasoning'] {
  const config = valueAt(body, 'generationConfig', 'thinkingConfig')
  if (!isObject(config)) return 'free'
  if (config.thinkingBudget === 0) return 'off'
  return config.includeThoughts === true || config.thinkingLevel !== undefined ? 'on' : 'free'
}

function effortOf(body: JsonObject): RequestOptions['effort'] {
  const config = objectIn(valueAt(body, 'generationConfig', 'thinkingConfig'))
  const { thinkingLevel: level, thinkingBudget: budget, includeThoughts } = config
  return effortIn(level, { budget, isOn: includeThoughts === true || undefined })
}

function schemaOf(body: JsonObject): JsonObject | undefined {
  const { responseJsonSchema, responseSchema, responseMimeType, responseFormat } = objectIn(body.generationConfig)
  const text = objectsIn(responseFormat).map((format) => objectIn(camelKeys(format).text))[0]
  const { schema, mimeType } = camelKeys(text ?? {})
  const asked = responseJsonSchema ?? (isObject(responseSchema) ? jsonSchema(responseSchema) : schema)
  if (isObject(asked)) return asked
  return /json$/i.test(textIn(responseMimeType ?? mimeType)) ? {} : undefined
}

/** What the model reads of a body of generateContent. */
export function promptOf(body: JsonObject): Prompt {
  const system = body.systemInstruction ?? body.system_instruction
  const segments = [
    ...listIn(body.tools).map((tool) => segment('tools', 'tools', tool)),
    ...partsOf(system).map((part) => segment('system', 'system', part)),
  ]
  for (const content of listIn(body.contents)) {
    if (!isObject(content)) continue
    const isResult = (part: Json) => isObject(part) && isObject(part.functionResponse)
    const role = (part: Json) => (isResult(part) ? 'tool' : textIn(content.role ?? 'user'))
    segments.push(...withEnd(partsOf(content).map((part) => segment('messages', role(part), part))))
  }
  return { segments, settings: '', messageSettings: '' }
}

function partsOf(content: Json | undefined): Json[] {
  if (typeof content === 'string') return [{ text: content }]
  return isObject(content) ? listIn(content.parts) : listIn(content)
}
