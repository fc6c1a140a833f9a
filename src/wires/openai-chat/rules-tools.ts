// The rules for tools and for the few fields of a request that every model refuses.

import { isObject } from '../../core/json.ts'
import type { Issue } from '../wire.ts'
import { nameIssues } from './rules-messages.ts'
import { emptyArray, invalid, toolsIn, tooLong, type Check } from './rules-context.ts'

export const toolsNotEmpty: Check = ({ fields }) =>
  Array.isArray(fields.tools) && fields.tools.length === 0 ? [emptyArray('shape', 'tools')] : []

export const toolNames: Check = (body) =>
  toolsIn(body).flatMap((tool, i): Issue[] => {
    if (tool.type !== 'function') return []
    if (!isObject(tool.function)) {
      const param = `tools[${i}].function`
      return [invalid('C9', `Missing required parameter: '${param}'.`, param, 'missing_required_parameter')]
    }
    return nameIssues(tool.function.name, `tools[${i}].function.name`, 'C9')
  })

export const toolCount: Check = (body) => {
  const count = toolsIn(body).length
  if (count <= 128) return []
  const text = `Invalid 'tools': array too long. Expected an array with maximum length 128, but got an array with length ${count} instead.`
  return [invalid('C10', text, 'tools', 'array_above_max_length')]
}

/** Without tools there is nothing to choose from, and nothing to call in parallel. */
export const choiceNeedsTools: Check = ({ fields }) => {
  if (Array.isArray(fields.tools) && fields.tools.length > 0) return []
  const issues: Issue[] = []
  for (const field of ['tool_choice', 'parallel_tool_calls']) {
    const value = fields[field]
    if (value === undefined || value === null || value === 'none') continue
    const text = `Invalid value for '${field}': '${field}' is only allowed when 'tools' are specified.`
    issues.push(invalid('shape', text, field))
  }
  return issues
}

export const streamOptionsNeedStream: Check = ({ fields }) =>
  isObject(fields.stream_options) && fields.stream !== true
    ? [invalid('shape', "The 'stream_options' parameter is only allowed when 'stream' is enabled.", 'stream_options')]
    : []

export const cacheKeyLength: Check = ({ fields }) => {
  const key = fields.prompt_cache_key
  return typeof key === 'string' && key.length > 64 ? [tooLong('C18', 'prompt_cache_key', 64, key)] : []
}
