// Local servers: Ollama's `/v1`, vLLM, llama.cpp. They check only what they parse, so calls and results need not match;
// the arguments of earlier calls, which OpenAI never reads, must be JSON (C19). From their sources, checked 2026-11.

import { isObject, type Json, type JsonObject } from '../../core/json.ts'
import type { Issue } from '../wire.ts'
import { schemaLists, types } from '../tool-schema/meta-schema.ts'
import { targetOf } from '../tool-schema/refs.ts'
import { callsIn, invalid, isObjectText, partsIn, toolsIn, type Check } from './rules-context.ts'

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
      const known = /^data:(image\/(jpeg|jpg|png|webp))?;base64,/.test(url)
      return known ? [] : [invalid('ollama-images', 'invalid image input')]
    }),
  )

export const ollamaArguments: Check = ({ messages }) =>
  broken(messages, isObjectText) ? [invalid('C19', 'invalid tool call arguments')] : []

export const ollamaEffort: Check = ({ fields }) => {
  const effort = isObject(fields.reasoning) ? fields.reasoning.effort : fields.reasoning_effort
  const known = ['high', 'medium', 'low', 'none', 'max']
  if (typeof effort !== 'string' || known.includes(effort)) return []
  return [invalid('C17', `invalid reasoning value: '${effort}' (must be "high", "medium", "low", "max", or "none")`)]
}

export const vllmTools: Check = ({ fields }) => {
  if (!Array.isArray(fields.tools) || fields.tools.length > 0) return []
  const text = '`tools` must not be an empty array. Either provide at least one tool or omit the field entirely.'
  return [vllm('shape', text)]
}

/** Python's error for the text; which one depends on where the text breaks. */
export const vllmArguments: Check = ({ messages }) =>
  broken(messages, (text) => text === '' || isJson(text))
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
  broken(messages, isJson)
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

function broken(messages: readonly JsonObject[], fits: (text: string) => boolean): boolean {
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
