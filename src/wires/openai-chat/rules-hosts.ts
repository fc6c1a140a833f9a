// Where hosted services and local servers differ from OpenAI, with their error messages (checked 2026-11).

import { isObject, type Json, type JsonObject } from '../../core/json.ts'
import { invalid } from '../shared/openai-rules.ts'
import { schemaLists, types } from '../tool-schema/meta-schema.ts'
import { targetOf } from '../tool-schema/root.ts'
import type { Issue } from '../wire.ts'
import { callsIn, type Check, emptyArray, isObjectText, partsIn, toolsIn } from './rules-context.ts'
import type { PairingWords } from './rules-messages.ts'

// DeepSeek has one code for everything and names no parameter.

function deepseek(rule: string, message: string): Issue {
  return invalid(rule, message, null, 'invalid_request_error')
}

export const deepseekRoles: Check = ({ messages }) =>
  messages.flatMap((message, i): Issue[] => {
    if (message.role !== 'developer' && message.role !== 'function') return []
    const text = `Failed to deserialize the JSON body into the target type: messages[${i}].role: unknown variant \`${message.role}\`, expected one of \`system\`, \`user\`, \`assistant\`, \`tool\`, \`latest_reminder\``
    return [deepseek('D2', text)]
  })

export const deepseekPairing: PairingWords = {
  unanswered: () =>
    deepseek(
      'D3',
      "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. (insufficient tool messages following tool_calls message)",
    ),
  orphan: () => deepseek('D3', "Messages with role 'tool' must be a response to a preceding message with 'tool_calls'"),
  unknownId: () =>
    deepseek('D3', "Messages with role 'tool' must be a response to a preceding message with 'tool_calls'"),
}

export const deepseekTools: Check = ({ fields }) =>
  Array.isArray(fields.tools) && fields.tools.length === 0 ? [deepseek('D4', emptyArray('D4', 'tools').message)] : []

/** Thinking is on by default. Names before V4 had other rules, and are retired. */
export const deepseekThinking: Check = ({ model, fields, messages }) => {
  const switchedOff = isObject(fields.thinking) && fields.thinking.type === 'disabled'
  if (switchedOff || /deepseek-(chat|reasoner|r1)/i.test(model)) return []
  const lacking = messages.some(lacksReasoning)
  return lacking ? [deepseek('D1', 'The `reasoning_content` in the thinking mode must be passed back to the API.')] : []
}

function lacksReasoning(message: JsonObject): boolean {
  return callsIn(message).length > 0 && typeof message.reasoning_content !== 'string'
}

/** R1 did not support tools: a history with them was for later models of that name. */
export const deepseekTurns: Check = ({ model, fields, messages }) => {
  if (!/deepseek-(reasoner|r1)/i.test(model) || fields.tools !== undefined) return []
  if (messages.some((message) => message.role === 'tool' || callsIn(message).length > 0)) return []
  const issues: Issue[] = []
  const first = messages.find((message) => message.role !== 'system')
  if (first?.role === 'assistant') {
    const text = `The first message (except the system message) of ${model} must be a user message, but an assistant message detected.`
    issues.push(deepseek('D5', text))
  }
  for (const [i, message] of messages.entries()) {
    const next = messages[i + 1]
    if (next === undefined || message.role === 'system' || message.role !== next.role) continue
    const text = `${model} does not support successive user or assistant messages (messages[${i}] and messages[${i + 1}] in your input). You should interleave the user/assistant messages in the message sequence.`
    issues.push(deepseek('D5', text))
  }
  const last = messages.at(-1)
  if (last?.role === 'assistant' && last.prefix !== true) {
    const text = `The last message of ${model} must be a user message, or an assistant message with prefix mode on (refer to https://api-docs.deepseek.com/guides/chat_prefix_completion).`
    issues.push(deepseek('D5', text))
  }
  return issues
}

export const moonshotPairing: PairingWords = {
  unanswered: (ids) =>
    invalid(
      'C1',
      `an assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: ${ids.join(', ')}`,
    ),
  orphan: () => invalid('C2', 'tool_call_id  is not found'),
  unknownId: () => invalid('C2', 'tool_call_id  is not found'),
}

/** From K2.5 on the models think by default; the Instruct and preview models never do. */
export const moonshotThinking: Check = ({ model, fields, messages }) => {
  const switchedOff = isObject(fields.thinking) && fields.thinking.type === 'disabled'
  if (switchedOff || !/kimi-(k2\.[5-9]|k[3-9]|.*thinking|for-coding)/.test(model)) return []
  return messages.flatMap((message, i): Issue[] => {
    if (!lacksReasoning(message)) return []
    const text = `thinking is enabled but reasoning_content is missing in assistant tool call message at index ${i}`
    return [invalid('D1', text)]
  })
}

export const moonshotContent: Check = ({ messages }) =>
  messages.flatMap((message, i): Issue[] => {
    if (message.content !== '' || callsIn(message).length > 0 || message.role === 'tool') return []
    const text = `Invalid request: the message at position ${i} with role '${String(message.role)}' must not be empty`
    return [invalid('empty-content', text)]
  })

const qwenPrefix = '<400> InternalError.Algo.InvalidParameter: '

function qwen(rule: string, message: string): Issue {
  return invalid(rule, message, null, 'invalid_parameter_error')
}

/** Qwen names the position of the missing result as if it were an id. */
export const qwenPairing: PairingWords = {
  unanswered: (_ids, place) =>
    qwen(
      'C1',
      `${qwenPrefix}An assistant message with "tool_calls" must be followed by tool messages responding to each "tool_call_id". The following tool_call_ids did not have response messages: message[${place}].role`,
    ),
  orphan: () =>
    qwen('C2', `${qwenPrefix}messages with role "tool" must be a response to a preceeding message with "tool_calls".`),
  unknownId: () =>
    qwen('C2', `${qwenPrefix}messages with role "tool" must be a response to a preceeding message with "tool_calls".`),
}

export const qwenCalls: Check = ({ messages }) =>
  messages.some((message) => Array.isArray(message.tool_calls) && message.tool_calls.length === 0)
    ? [qwen('C5', 'Empty tool_calls is not supported in message')]
    : []

export const qwenTools: Check = ({ fields }) =>
  Array.isArray(fields.tools) && fields.tools.length === 0 ? [qwen('shape', "[] is too short - 'tools'")] : []

/** Groq's messages are closed: an unknown field makes it refuse the request. */
const groqFields = new Set([
  'role',
  'content',
  'name',
  'tool_calls',
  'tool_call_id',
  'function_call',
  'reasoning',
  'refusal',
])

export const groqFieldsOnly: Check = ({ messages }) =>
  messages.flatMap((message, i): Issue[] => {
    const unknown = Object.keys(message).find((field) => !groqFields.has(field) && message[field] !== undefined)
    if (unknown === undefined) return []
    return [groq('groq-fields', i, message, `('messages.${i}' : property '${unknown}' is unsupported)`)]
  })

export const groqResults: Check = ({ messages }) =>
  messages.flatMap((message, i): Issue[] =>
    message.role === 'tool' && Array.isArray(message.content)
      ? [groq('groq-results', i, message, `('messages.${i}.content' : value must be a string)`)]
      : [],
  )

function groq(rule: string, place: number, message: JsonObject, what: string): Issue {
  const text = `'messages.${place}' : for 'role:${String(message.role)}' the following must be satisfied[${what}]`
  return { rule, status: 400, message: text, type: 'invalid_request_error' }
}

const groqThinks = /gpt-oss|qwen3|qwq|qwen-qwq|deepseek-r1/

export const groqReasoning: Check = ({ model, messages }) =>
  messages.flatMap((message, i): Issue[] =>
    message.reasoning === undefined || groqThinks.test(model)
      ? []
      : [invalid('groq-reasoning', `messages[${i}].reasoning: reasoning is not supported with this model`)],
  )

export const groqEffort: Check = ({ fields }) => {
  const effort = fields.reasoning_effort
  const efforts = ['none', 'default', 'low', 'medium', 'high']
  if (typeof effort !== 'string' || efforts.includes(effort)) return []
  const list = efforts.map((level) => `'${level}'`).join(', ')
  return [invalid('C17', `'reasoning_effort' : value is not one of the allowed values [${list}]`)]
}

/** Cerebras accepts `reasoning` back, and refuses the other names for it. */
export const cerebrasFields: Check = ({ messages }) => {
  const lines = messages.flatMap((message, i) =>
    ['reasoning_content', 'reasoning_details']
      .filter((field) => message[field] !== undefined)
      .map((field) => `messages.${i}.${String(message.role)}.${field}`),
  )
  if (lines.length === 0) return []
  const text = lines.map((line) => `${line}: property '${line}' is unsupported`).join('\n')
  return [invalid('cerebras-fields', text, 'validation_error', 'wrong_api_format')]
}

export const xaiContent: Check = ({ messages }) =>
  messages.flatMap((message): Issue[] => {
    if (message.content !== '' || callsIn(message).length > 0) return []
    const text = 'Invalid request content: Each message must have at least one content element.'
    return [invalid('empty-content', text, null, 'Client specified an invalid argument')]
  })

// Local servers: Ollama's `/v1`, vLLM, llama.cpp. They check only what they parse, so calls and results need not match;
// the arguments of earlier calls, which OpenAI never reads, must be JSON (C19). From their sources, checked 2026-11.

export const ollamaContent: Check = ({ messages }) =>
  messages.flatMap((message): Issue[] => {
    const { content } = message
    if (typeof content === 'string' || Array.isArray(content) || callsIn(message).length > 0) return []
    const type =
      content === null || content === undefined
        ? '<nil>'
        : isObject(content)
          ? 'map[string]interface {}'
          : typeof content
    return [invalid('C6', `invalid message content type: ${type}`)]
  })

export const ollamaImages: Check = ({ messages }) =>
  messages.flatMap((message) =>
    partsIn(message).flatMap((part): Issue[] => {
      const url = isObject(part.image_url) ? part.image_url.url : part.image_url
      if (part.type !== 'image_url' || typeof url !== 'string') return []
      if (/^https?:/.test(url)) {
        const text = 'image URLs are not currently supported, please use base64 encoded data instead'
        return [invalid('ollama-images', text)]
      }
      const isValid = /^data:(image\/(jpeg|jpg|png|webp))?;base64,/.test(url)
      return isValid ? [] : [invalid('ollama-images', 'invalid image input')]
    }),
  )

export const ollamaArguments: Check = ({ messages }) =>
  brokenBy(messages, isObjectText) ? [invalid('C19', 'invalid tool call arguments')] : []

export const ollamaEffort: Check = ({ fields }) => {
  const effort = isObject(fields.reasoning) ? fields.reasoning.effort : fields.reasoning_effort
  const efforts = ['high', 'medium', 'low', 'none', 'max']
  if (typeof effort !== 'string' || efforts.includes(effort)) return []
  return [invalid('C17', `invalid reasoning value: '${effort}' (must be "high", "medium", "low", "max", or "none")`)]
}

export const vllmTools: Check = ({ fields }) => {
  if (!Array.isArray(fields.tools) || fields.tools.length > 0) return []
  const text = '`tools` must not be an empty array. Either provide at least one tool or omit the field entirely.'
  return [vllm('shape', text)]
}

/** Python's error for the text; which one depends on where the text breaks. */
export const vllmArguments: Check = ({ messages }) =>
  brokenBy(messages, (text) => text === '' || isJson(text))
    ? [vllm('C19', 'Expecting value: line 1 column 1 (char 0)')]
    : []

function vllm(rule: string, message: string): Issue {
  return { rule, status: 400, message, type: 'BadRequestError', param: null, code: '400' }
}

export const llamaMessages: Check = ({ messages }) =>
  messages.flatMap((message): Issue[] => {
    if (message.content === undefined && message.tool_calls === undefined) {
      const text =
        "Expected 'content' or 'tool_calls' (ref: https://github.com/ggml-org/llama.cpp/issues/8367 & https://github.com/ggml-org/llama.cpp/issues/12279)"
      return [llama('llama-messages', `Failed to parse messages: ${text}`)]
    }
    return callsIn(message).flatMap((call): Issue[] => {
      if (call.type === 'function' && isObject(call.function)) return []
      const what = call.type === undefined ? 'Missing tool call type' : 'Unsupported tool call type'
      return [llama('llama-messages', `Failed to parse messages: ${what}: ${JSON.stringify(call)}`)]
    })
  })

export const llamaArguments: Check = ({ messages }) =>
  brokenBy(messages, isJson)
    ? [llama('C19', 'Failed to parse tool call arguments as JSON: [json.exception.parse_error.101]')]
    : []

/**
 * The server converts each schema to a grammar, and fails on what its converter does not support (recorded 2026-11).
 */
export const llamaSchemas: Check = (body) =>
  toolsIn(body).flatMap((tool): Issue[] => {
    const schema = isObject(tool.function) ? tool.function.parameters : undefined
    const faults = isObject(schema) ? conversionFaults(schema, schema) : []
    if (faults.length === 0) return []
    const lead = 'Unable to generate parser for this template. Automatic parser generation failed'
    return [invalid('tool-schema', `${lead}: JSON schema conversion failed:\n${faults.join('\n')}`)]
  })

function conversionFaults(schema: Json | undefined, root: JsonObject): string[] {
  if (typeof schema === 'boolean') return [`Unrecognized schema: ${schema}`]
  if (!isObject(schema)) return []
  const { $ref: ref, type, items } = schema
  if (typeof ref === 'string') {
    if (!ref.startsWith('#/')) return [`Unsupported ref: ${ref}`]
    return targetOf(root, ref) === undefined ? [`Error resolving ref ${ref}: ${ref.split('/').at(-1)} not in {}`] : []
  }
  const odd = typeof type === 'string' && !types.has(type)
  if (odd) return [`Unrecognized schema: ${JSON.stringify(schema)}`]
  const inner: (Json | undefined)[] = Array.isArray(items) ? items : [items]
  for (const [key, value] of Object.entries(schema)) {
    if (key === 'properties' && isObject(value)) inner.push(...Object.values(value))
    if (schemaLists.has(key) && Array.isArray(value)) inner.push(...value)
  }
  return inner.flatMap((value) => conversionFaults(value, root))
}

function llama(rule: string, message: string): Issue {
  return { rule, status: 500, message, type: 'server_error', code: '500' }
}

function brokenBy(messages: readonly JsonObject[], fits: (text: string) => boolean): boolean {
  return messages.some((message) =>
    callsIn(message).some((call) => {
      const text = isObject(call.function) ? call.function.arguments : undefined
      return typeof text === 'string' && !fits(text)
    }),
  )
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
