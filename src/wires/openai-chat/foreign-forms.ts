// Chat requests in the form of another API, answered as chat completions. Cursor sends them to the address of a user's
// own provider: the body of a Responses request for its agent, and Anthropic's tools and blocks if the name of the model
// contains "claude" (reported, checked 2026-11).

import type { Note } from '../../core/context.ts'
import { isObject, type Json, type JsonObject } from '../../core/json.ts'
import type { RequestForm } from '../service.ts'
import { objectIn, objectsIn, textIn, valueAt } from '../shared/json-fields.ts'

/** Undefined: the request is one of this API. */
export function foreignForm(body: JsonObject): RequestForm | undefined {
  if (isResponsesRequest(body)) return { ...form, request: fromResponses, leftOut: otherItems }
  return hasAnthropicForms(body) ? { ...form, request: fromAnthropic } : undefined
}

const form: Omit<RequestForm, 'request'> = {
  isForeign: true,
  refuse: () => [],
  unsupported: () => undefined,
  leftOut: () => [],
  token: () => undefined,
  reply: (chunk) => chunk,
}

/** What continues a stored response needs that API. */
function isResponsesRequest({ messages, input, previous_response_id: previous, conversation }: JsonObject): boolean {
  return messages === undefined && (typeof input === 'string' || Array.isArray(input)) && !previous && !conversation
}

function hasAnthropicForms({ tools, messages }: JsonObject): boolean {
  return objectsIn(tools).some(isAnthropicTool) || objectsIn(messages).some(hasBlocks)
}

function isAnthropicTool(tool: JsonObject): boolean {
  return isObject(tool.input_schema) && !isObject(tool.function)
}

const blockTypes: ReadonlySet<unknown> = new Set(['tool_use', 'tool_result', 'thinking', 'redacted_thinking'])

function hasBlocks({ content }: JsonObject): boolean {
  return objectsIn(content).some((part) => blockTypes.has(part.type) || isObject(part.source))
}

function fromAnthropic({ system, ...body }: JsonObject): JsonObject {
  const before = system ? [{ role: 'system', content: system }] : []
  const messages = objectsIn(body.messages).flatMap((message) =>
    hasBlocks(message) ? withoutBlocks(message) : [message],
  )
  return {
    ...body,
    messages: [...before, ...messages],
    ...(Array.isArray(body.tools) && { tools: body.tools.map(fromAnthropicTool) }),
  }
}

function fromAnthropicTool(tool: Json): Json {
  if (!isObject(tool) || !isAnthropicTool(tool)) return tool
  const { name = '', description = '', input_schema: parameters = {} } = tool
  return { type: 'function', function: { name, description, parameters } }
}

/** Results are messages of their own, before what the user says. */
function withoutBlocks(message: JsonObject): JsonObject[] {
  const blocks = objectsIn(message.content)
  const content = blocks.filter(({ type }) => !blockTypes.has(type)).map(fromImage)
  const calls = blocks.filter(({ type }) => type === 'tool_use').map(fromCall)
  if (message.role === 'assistant') {
    const all = [...objectsIn(message.tool_calls), ...calls]
    const reply = { ...message, content: content.length > 0 ? content : null }
    return [{ ...reply, ...(all.length > 0 && { tool_calls: all }) }]
  }
  const results = blocks.filter(({ type }) => type === 'tool_result').map(fromResult)
  return [...results, ...(content.length > 0 ? [{ ...message, content }] : [])]
}

function fromCall({ id, name, input }: JsonObject): JsonObject {
  return { id: id ?? '', type: 'function', function: { name: name ?? '', arguments: JSON.stringify(input ?? {}) } }
}

function fromResult({ tool_use_id: id, content }: JsonObject): JsonObject {
  return {
    role: 'tool',
    tool_call_id: id ?? '',
    content: Array.isArray(content) ? content.map(fromImage) : textIn(content),
  }
}

function fromImage(part: Json): Json {
  if (!isObject(part) || part.type !== 'image') return part
  const { media_type: type, data, url } = objectIn(part.source)
  return { type: 'image_url', image_url: { url: textIn(url) || `data:${textIn(type)};base64,${textIn(data)}` } }
}

function fromResponses(body: JsonObject): JsonObject {
  const { input, instructions, reasoning, text, max_output_tokens: limit, tools, include: _, ...rest } = body
  const effort = valueAt(reasoning, 'effort')
  const format = objectIn(valueAt(text, 'format'))
  const verbosity = valueAt(text, 'verbosity')
  return {
    ...rest,
    messages: [...(instructions ? [{ role: 'system', content: instructions }] : []), ...messagesOf(input)],
    ...(Array.isArray(tools) && { tools: tools.map(fromFlatTool) }),
    ...(effort !== undefined && { reasoning_effort: effort }),
    ...(verbosity !== undefined && { verbosity }),
    ...(limit !== undefined && { max_completion_tokens: limit }),
    ...(format.type !== undefined && { response_format: fromFormat(format) }),
  }
}

function fromFlatTool(tool: Json): Json {
  if (!isObject(tool) || tool.type !== 'function' || isObject(tool.function)) return tool
  const { type, ...declared } = tool
  return { type, function: declared }
}

function fromFormat({ type, ...schema }: JsonObject): JsonObject {
  return type === 'json_schema' ? { type, json_schema: schema } : { type: type ?? 'text' }
}

function messagesOf(input: Json | undefined): JsonObject[] {
  if (typeof input === 'string') return [{ role: 'user', content: input }]
  const messages: JsonObject[] = []
  for (const item of objectsIn(input)) {
    const call = callOf(item)
    const last = messages.at(-1)
    if (call && last?.role === 'assistant') messages[messages.length - 1] = withCall(last, call)
    else if (call) messages.push(withCall({ role: 'assistant', content: null }, call))
    else if (isOutput(item)) messages.push({ role: 'tool', tool_call_id: item.call_id ?? '', content: outputOf(item) })
    else if (typeof item.role === 'string') messages.push({ role: item.role, content: contentOf(item.content) })
  }
  return messages
}

function callOf({ type, call_id: id = '', name = '', arguments: text, input }: JsonObject): JsonObject | undefined {
  if (type === 'function_call') return { id, type: 'function', function: { name, arguments: text ?? '' } }
  return type === 'custom_tool_call' ? { id, type: 'custom', custom: { name, input: input ?? '' } } : undefined
}

function withCall(message: JsonObject, call: JsonObject): JsonObject {
  return { ...message, tool_calls: [...objectsIn(message.tool_calls), call] }
}

function isOutput({ type }: JsonObject): boolean {
  return type === 'function_call_output' || type === 'custom_tool_call_output'
}

function outputOf({ output }: JsonObject): Json {
  return Array.isArray(output) ? contentOf(output) : textIn(output)
}

function contentOf(content: Json | undefined): Json {
  return Array.isArray(content) ? content.map(fromInputPart) : (content ?? '')
}

function fromInputPart(part: Json): Json {
  if (!isObject(part)) return part
  const { type, text, image_url: url, detail, ...file } = part
  if (type === 'input_text' || type === 'output_text') return { type: 'text', text: text ?? '' }
  if (type === 'input_image') return { type: 'image_url', image_url: { url: url ?? '', ...(detail && { detail }) } }
  return type === 'input_file' ? { type: 'file', file } : part
}

function otherItems({ input }: JsonObject): Note[] {
  return objectsIn(input).flatMap((item, i): Note[] => {
    if (callOf(item) || isOutput(item) || typeof item.role === 'string') return []
    return [{ kind: 'dropped', what: textIn(item.type), why: 'a chat has no such message', at: `$.input[${i}]` }]
  })
}
