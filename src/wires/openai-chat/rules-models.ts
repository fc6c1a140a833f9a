// What one OpenAI model refuses and the next one accepts, by the name of the model: the API reveals nothing else.

import type { Json } from '../../core/json.ts'
import type { Issue } from '../wire.ts'
import { invalid, partsIn, toolsIn, type ChatBody, type Check } from './rules-context.ts'

/** `gpt-5.4-mini-2026-03-05` is 5.4; the series without a number after the point is .0; undefined for other families. */
function version(model: string): number | undefined {
  const match = /^gpt-(\d+(?:\.\d+)?)(?!\d)/.exec(model)
  return match?.[1] === undefined || model.startsWith('gpt-4') ? undefined : Number(match[1])
}

function isOSeries(model: string): boolean {
  return /^o\d(-|$)/.test(model)
}

/** `gpt-5-chat-latest` answers without reasoning, like the models before it. */
function isReasoning(model: string): boolean {
  return isOSeries(model) || ((version(model) ?? 0) >= 5 && !model.includes('-chat'))
}

/** C13, C14: functions and reasoning cannot be combined on this wire from GPT-5.4 on. */
export const effortWithTools: Check = (body) => {
  const v = version(body.model)
  const effort = body.fields.reasoning_effort
  const functions = toolsIn(body).some((tool) => tool.type === 'function')
  if (v === undefined || v < 5.4 || v >= 6 || !functions || effort === 'none') return []
  const refused = `Function tools with reasoning_effort are not supported for ${body.model} in /v1/chat/completions.`
  if (v < 5.6) {
    if (effort === undefined || effort === null) return []
    return [invalid('C13', `${refused} Please use /v1/responses instead.`, 'reasoning_effort')]
  }
  const text = `${refused} To use function tools, use /v1/responses or set reasoning_effort to 'none'.`
  return [invalid('C14', text, 'reasoning_effort')]
}

export const outputField: Check = ({ model, fields }) => {
  if (!isReasoning(model) || fields.max_tokens === undefined || fields.max_tokens === null) return []
  const text =
    "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."
  return [invalid('C15', text, 'max_tokens', 'unsupported_parameter')]
}

/** C16. From GPT-5.1 on a model that does not reason accepts them again; the default differs. */
export const sampling: Check = ({ model, fields }) => {
  if (!isReasoning(model) || !reasons(model, fields.reasoning_effort)) return []
  const issues: Issue[] = []
  for (const field of ['temperature', 'top_p', 'presence_penalty', 'frequency_penalty']) {
    const value = fields[field]
    const neutral = field.endsWith('penalty') ? 0 : 1
    if (typeof value !== 'number' || value === neutral) continue
    const text = `Unsupported value: '${field}' does not support ${value} with this model. Only the default (${neutral}) value is supported.`
    issues.push(invalid('C16', text, field, 'unsupported_value'))
  }
  return issues
}

function reasons(model: string, effort: Json | undefined): boolean {
  if (typeof effort === 'string') return effort !== 'none'
  const v = version(model) ?? 0
  return isOSeries(model) || v < 5.1 || v === 5.6
}

export const effortValue: Check = ({ model, fields }) => {
  const effort = fields.reasoning_effort
  const known = knownEfforts(model)
  if (typeof effort !== 'string' || !known || known.includes(effort)) return []
  const list = known.map((level) => `'${level}'`).join(', ')
  const text = `Unsupported value: 'reasoning_effort' does not support '${effort}' with this model. Supported values are: ${list}.`
  return [invalid('C17', text, 'reasoning_effort', 'unsupported_value')]
}

function knownEfforts(model: string): string[] | undefined {
  if (isOSeries(model)) return ['low', 'medium', 'high']
  const v = version(model)
  if (v === undefined || !isReasoning(model) || model.includes('-pro')) return undefined
  if (v < 5.1) return ['minimal', 'low', 'medium', 'high']
  if (v < 5.2) return ['none', 'low', 'medium', 'high']
  return v < 6 ? ['none', 'low', 'medium', 'high', 'xhigh'] : undefined
}

/** The first o-models do not support the system role at all. */
export const systemRole: Check = ({ model, messages }) => {
  if (!/^o1-(mini|preview)/.test(model)) return []
  return messages.flatMap((message, i): Issue[] => {
    if (message.role !== 'system' && message.role !== 'developer') return []
    const param = `messages[${i}].role`
    const text = `Unsupported value: '${param}' does not support '${message.role}' with this model.`
    return [invalid('role-by-model', text, param, 'unsupported_value')]
  })
}

/** Audio is only for the audio models. */
export const soundByModel: Check = ({ model, messages }) => {
  if (model.includes('audio') || !(isReasoning(model) || /^gpt-(3|4)/.test(model))) return []
  return messages.flatMap((message, i): Issue[] => {
    if (!partsIn(message).some((part) => part.type === 'input_audio')) return []
    const text = `Invalid 'messages[${i}]'. Content blocks are expected to be either text or image_url type.`
    return [invalid('media-by-model', text, `messages[${i}]`, 'invalid_value')]
  })
}

export const searchByModel: Check = ({ model, fields }: ChatBody) =>
  fields.web_search_options === undefined || fields.web_search_options === null || model.includes('-search')
    ? []
    : [invalid('search-by-model', 'Web search options not supported with this model.', 'web_search_options')]
