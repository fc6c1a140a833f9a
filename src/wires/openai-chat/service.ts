// What a server of chat completions needs besides encoding and decoding, and how compatible hosts differ.

import { doneEvent } from '../shared/frame-text.ts'
import { openaiModels } from '../shared/model-forms.ts'
import { isObject, type Json, type JsonObject } from '../../core/json.ts'
import { chatPrompt } from '../shared/prompt.ts'
import { objectIn, valueAt } from '../shared/json-fields.ts'
import {
  allowedToolsIn,
  effortWithThinking,
  readOptions,
  reasoningByEffort,
  schemaIn,
  severalAnswers,
  toolChoiceIn,
  type RequestOptions,
} from '../shared/request-options.ts'
import type { Incoming, Overflow, ReplyFacts, WireService } from '../service.ts'
import type { Issue } from '../wire.ts'
import { foreignForm } from './foreign-forms.ts'
import { functionsForm } from './functions.ts'
import { roleOfHost } from './rules-messages.ts'

export const openaiChatService: WireService = {
  home: 'openai',
  // A host without a row, such as a user's own row: only the wire is known.
  homeElsewhere: 'openai-compatible',
  route(method, path, provider) {
    if (method === 'POST' && path.endsWith('/chat/completions')) return { do: 'reply' }
    const stored = /\/chat\/completions(?:\/([^/]+)(?:\/(messages))?)?$/.exec(path)
    if (!stored || !storesCompletions(provider ?? 'openai')) return undefined
    const [, id, part] = stored
    return { do: 'other', name: 'completions', ...(id && { id }), ...(part && { part }) }
  },
  listField: 'messages',
  request: (messages, model) => ({ model, messages }),
  options: (body, provider) =>
    readOptions({
      toolChoice: toolChoiceIn(body.tool_choice),
      allowedTools: allowedToolsIn(body.tool_choice),
      parallelTools: body.parallel_tool_calls !== false,
      reasoning: reasoningOf(body, provider),
      answerSchema: schemaIn(body.response_format),
      maxOutput: [body.max_completion_tokens, body.max_tokens],
      stop: body.stop,
      temperature: body.temperature,
      topP: body.top_p,
      topK: body.top_k,
      seed: body.seed,
      presencePenalty: body.presence_penalty,
      frequencyPenalty: body.frequency_penalty,
      effort: effortWithThinking(body.reasoning_effort ?? valueAt(body, 'reasoning', 'effort'), body.thinking),
    }),
  prompt: chatPrompt,
  formIn: functionsForm,
  replyPrefix: 'chatcmpl-',
  complete: (reply, facts) => withHitsAndMisses(withReasoningField(reply, facts), facts),
  chunks: (chunks, reply, incoming) => withGroqFields(withRequestedUsage(chunks, incoming), reply, incoming),
  door: {
    isDefault: true,
    // Programs that used the LiteLLM proxy have the server itself as the base URL of OpenAI's SDK.
    barePaths: /^\/(?:chat\/completions|models(?:\/.+)?)$/,
    writer: async () => (await import('./write-stream.ts')).writer,
    models: openaiModels,
    codes: 'always',
    requestId: 'x-request-id',
    losesReasoning: true,
    unsupported: ({ n }) => severalAnswers('n', n),
    untranslatable: roleOfHost,
    foreignForm,
    // Of OpenAI, and of compatible hosts.
    unportable: [
      'audio',
      'logit_bias',
      'logprobs',
      'min_p',
      'models',
      'prediction',
      'repeat_penalty',
      'safe_prompt',
      'top_logprobs',
      'web_search_options',
    ],
    session: ({ prompt_cache_key: key }) => key,
    usageOnRequest: {
      isRequested: asksForUsage,
      missing(body, provider) {
        if (body.stream !== true || asksForUsage(body) || alwaysSendsUsage(provider)) return undefined
        return { name: 'stream_options', value: { ...objectIn(body.stream_options), include_usage: true } }
      },
      mark: /"choices"\s*:\s*\[\s*\]/,
      isUsage: isUsageChunk,
    },
  },
  refusedRequests: async () => (await import('./refused.ts')).refusedRequests,
  ends: doneEvent,
  overflow: overflowIssue,
  state: async () => (await import('./state.ts')).createCompletionsState(),
}

/** Hosts that store chat completions on request. */
export function storesCompletions(provider: string): boolean {
  return provider === 'openai' || provider === 'azure-openai'
}

function reasoningOf(body: JsonObject, provider: string): RequestOptions['reasoning'] {
  const type = valueAt(body, 'thinking', 'type')
  if (type !== undefined) return type === 'disabled' ? 'off' : 'on'
  // DeepSeek V4 reasons by default (checked 2026-11).
  return provider === 'deepseek' && body.reasoning_effort !== 'none' ? 'on' : reasoningByEffort(body.reasoning_effort)
}

/** Reasoning under the host's field name; OpenAI itself shows none on this wire. */
function withReasoningField(reply: JsonObject, { quirks: { reasoningField: field } }: ReplyFacts): JsonObject {
  if (!Array.isArray(reply.choices)) return reply
  const choices = reply.choices.map((choice) => {
    if (!isObject(choice) || !isObject(choice.message)) return choice
    const { reasoning_content: text, ...message } = choice.message
    if (text === undefined || field === 'reasoning_content') return choice
    return { ...choice, message: { ...message, ...(field !== undefined && reasoningIn(field, text)) } }
  })
  return { ...reply, choices }
}

function reasoningIn(field: string, text: Json): JsonObject {
  if (field !== 'reasoning_details') return { [field]: text }
  return { reasoning: text, reasoning_details: [{ type: 'reasoning.text', text, format: 'unknown', index: 0 }] }
}

/** DeepSeek's fields for a hit and a miss. */
function withHitsAndMisses(reply: JsonObject, { provider, charge: { input, read } }: ReplyFacts): JsonObject {
  if (provider !== 'deepseek' || !isObject(reply.usage)) return reply
  return { ...reply, usage: { ...reply.usage, prompt_cache_hit_tokens: read, prompt_cache_miss_tokens: input - read } }
}

/** Usage comes at the end of a stream on request; some hosts always send it. */
function withRequestedUsage(chunks: JsonObject[], { provider, body }: Incoming): JsonObject[] {
  if (alwaysSendsUsage(provider)) return withUsageAtEnd(chunks)
  return asksForUsage(body) ? chunks : chunks.filter((chunk) => !isUsageChunk(chunk))
}

/** These hosts have no chunk for the usage alone: it is in the one with the finish reason. */
function withUsageAtEnd(chunks: JsonObject[]): JsonObject[] {
  const usage = chunks.find(isUsageChunk)?.usage
  const others = chunks.filter((chunk) => !isUsageChunk(chunk))
  return others.map((chunk, i) => (usage !== undefined && i === others.length - 1 ? { ...chunk, usage } : chunk))
}

function asksForUsage(body: JsonObject): boolean {
  return valueAt(body, 'stream_options', 'include_usage') === true
}

function alwaysSendsUsage(provider: string): boolean {
  return provider === 'openrouter' || provider === 'deepseek'
}

/** The chunk that contains the usage and nothing else. */
function isUsageChunk({ choices, usage }: JsonObject): boolean {
  return Array.isArray(choices) && choices.length === 0 && isObject(usage)
}

/** Groq names the request in its first chunk, and always has the usage in the last one. */
function withGroqFields(chunks: JsonObject[], { usage }: JsonObject, { provider, replyId }: Incoming): JsonObject[] {
  if (provider !== 'groq') return chunks
  const id = `req_${replyId.replace(/^chatcmpl-/, '')}`
  const last = chunks.findLastIndex((chunk) => Array.isArray(chunk.choices) && chunk.choices.length > 0)
  return chunks.map((chunk, i) => {
    if (i === last) return { ...chunk, x_groq: { id, ...(usage !== undefined && { usage }) } }
    return i === 0 ? { ...chunk, x_groq: { id } } : chunk
  })
}

function overflowIssue({ provider, tokens, window }: Overflow): Issue {
  const issue = (message: string, rest: Partial<Issue> = {}): Issue => ({
    rule: 'context',
    status: 400,
    message,
    ...rest,
  })
  const openai = { type: 'invalid_request_error', code: 'context_length_exceeded', param: 'messages' }
  switch (provider) {
    case 'xai':
      return issue(`This model's maximum prompt length is ${window} but the request contains ${tokens} tokens.`, {
        type: 'invalid_request_error',
      })
    case 'groq':
      return issue('Please reduce the length of the messages or completion.', openai)
    case 'llama.cpp':
      return issue(
        `request (${tokens} tokens) exceeds the available context size (${window} tokens), try increasing it`,
        { type: 'exceed_context_size_error' },
      )
    case 'openrouter':
      return issue(
        `This endpoint's maximum context length is ${window} tokens. However, you requested about ${tokens} tokens (${tokens} of text input). Please reduce the length of either one, or use the "middle-out" transform to compress your prompt automatically.`,
      )
    case 'deepseek':
      // The code is the general one: only the message shows it.
      return issue(
        `This model's maximum context length is ${window} tokens. However, you requested ${tokens} tokens (${tokens} in the messages, 0 in the completion). Please reduce the length of the messages or completion.`,
        { type: 'invalid_request_error', code: 'invalid_request_error' },
      )
    default:
      return issue(
        `This model's maximum context length is ${window} tokens. However, your messages resulted in ${tokens} tokens. Please reduce the length of the messages.`,
        openai,
      )
  }
}
