// A prompt that does not fit the model's window, in the words of each provider: clients tell an overflow by these.
// Ollama says nothing and forgets the oldest messages.

import type { JsonObject } from '../core/json.ts'
import type { Issue } from '../wires/wire.ts'

export interface Overflow {
  provider: string
  protocol: string
  tokens: number
  window: number
}

export function overflowIssue({ provider, protocol, tokens, window }: Overflow): Issue {
  const issue = (message: string, rest: Partial<Issue> = {}): Issue => ({
    rule: 'context',
    status: 400,
    message,
    ...rest,
  })
  const openai = { type: 'invalid_request_error', code: 'context_length_exceeded' }
  switch (protocol) {
    case 'anthropic-messages':
      return issue(`prompt is too long: ${tokens} tokens > ${window} maximum`, { type: 'invalid_request_error' })
    case 'gemini-generate':
      return issue(`The input token count (${tokens}) exceeds the maximum number of tokens allowed (${window}).`, {
        type: 'INVALID_ARGUMENT',
      })
    case 'gemini-interactions':
      return issue(`The input token count (${tokens}) exceeds the maximum number of tokens allowed (${window}).`, {
        code: 'invalid_request',
      })
    case 'mistral-chat':
      return issue(`Prompt contains ${tokens} tokens … too large for model with ${window} maximum context length`, {
        type: 'invalid_request_prompt',
        code: '3051',
      })
    case 'ollama-chat':
      return issue('the input length exceeds the context length')
    case 'openai-responses':
      return issue('Your input exceeds the context window of this model. Please adjust your input and try again.', {
        ...openai,
        param: 'input',
      })
  }
  switch (provider) {
    case 'xai':
      return issue(`This model's maximum prompt length is ${window} but the request contains ${tokens} tokens.`, {
        type: 'invalid_request_error',
      })
    case 'groq':
      return issue('Please reduce the length of the messages or completion.', { ...openai, param: 'messages' })
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
      // The code is the general one: only the words tell.
      return issue(
        `This model's maximum context length is ${window} tokens. However, you requested ${tokens} tokens (${tokens} in the messages, 0 in the completion). Please reduce the length of the messages or completion.`,
        { type: 'invalid_request_error', code: 'invalid_request_error' },
      )
    default:
      return issue(
        `This model's maximum context length is ${window} tokens. However, your messages resulted in ${tokens} tokens. Please reduce the length of the messages.`,
        { ...openai, param: 'messages' },
      )
  }
}

/** What Ollama makes of a prompt that is too long: system and the newest messages that fit, at least the last one. */
export function truncatedFront(body: JsonObject, fits: (body: JsonObject) => boolean): JsonObject {
  const messages = Array.isArray(body.messages) ? body.messages : []
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
