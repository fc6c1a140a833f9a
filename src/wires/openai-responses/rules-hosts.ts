// Which server checks what. OpenAI and Azure check everything; for other servers the common rules apply, and what they
// are known to refuse.

import { isObject, type Json } from '../../core/json.ts'
import { rangeIssues } from '../shared/ranges.ts'
import type { Issue } from '../wire.ts'
import {
  answerFormat,
  answerSchema,
  cacheKeyLength,
  fieldNames,
  fieldTypes,
  functionSchemas,
  includes,
  oneState,
  outputLimit,
  somethingToAnswer,
  toolChoice,
  tools,
} from './rules-fields.ts'
import {
  callIdLength,
  callNames,
  contentParts,
  fileKinds,
  itemFields,
  itemIds,
  itemKeys,
  itemKinds,
  noPlainReasoning,
  triggerLast,
} from './rules-items.ts'
import { effort, encryptedReasoning, sampling } from './rules-models.ts'
import { nothingStored, outputsAdjacent, pairs, reasoningFollowed, uniqueIds } from './rules-order.ts'
import { invalid, isGiven, type Check } from './rules-context.ts'
import { isOpenAI, objectsIn, stringIn, typeOf } from './types.ts'

export function checksFor(provider: string | undefined): readonly Check[] {
  if (isOpenAI(provider)) return openai
  if (provider === 'llama.cpp') return llamaChecks
  return [...(hosts.get(provider ?? '') ?? []), ...everywhere]
}

const ranges: Check = ({ fields }) => rangeIssues(fields)

const everywhere: readonly Check[] = [
  itemKinds,
  itemFields,
  contentParts,
  callIdLength,
  fieldTypes,
  tools,
  toolChoice,
  answerFormat,
  outputLimit,
  oneState,
  somethingToAnswer,
  pairs,
]

const openai: readonly Check[] = [
  fieldNames,
  itemKinds,
  itemKeys,
  itemFields,
  contentParts,
  itemIds,
  callIdLength,
  callNames,
  noPlainReasoning,
  triggerLast,
  fieldTypes,
  includes,
  tools,
  functionSchemas,
  toolChoice,
  answerFormat,
  answerSchema,
  outputLimit,
  cacheKeyLength,
  oneState,
  somethingToAnswer,
  uniqueIds,
  nothingStored,
  pairs,
  reasoningFollowed,
  fileKinds,
  encryptedReasoning,
  ranges,
  effort,
  sampling,
]

/** xAI parses items into a typed form that does not support null keys. */
const noNulls: Check = ({ items }) => {
  if (!items.some((item) => Object.values(item).includes(null))) return []
  const message =
    'Failed to deserialize the JSON body into the target type: data did not match any variant of untagged enum ModelInput'
  return [{ rule: 'xai-null', status: 422, message }]
}

const noEmptyMessages: Check = ({ items }) =>
  items.flatMap((item): Issue[] => {
    const { content } = item
    if (typeOf(item) !== 'message' || !(content === '' || (Array.isArray(content) && content.length === 0))) return []
    const message = 'Invalid request content: Each message must have at least one content element.'
    return [{ rule: 'xai-empty', status: 400, message, code: 'Client specified an invalid argument' }]
  })

/** D2. */
const noDeveloper: Check = ({ items }) =>
  items.flatMap((item, i): Issue[] => {
    if (item.role !== 'developer' || typeOf(item) !== 'message') return []
    const text = `Failed to deserialize the JSON body into the target type: messages[${i}].role: unknown variant \`developer\`, expected one of \`system\`, \`user\`, \`assistant\`, \`tool\`, \`latest_reminder\``
    return [{ ...invalid('D2', text, null, 'invalid_request_error'), status: 422 }]
  })

/** D4. */
const noEmptyTools: Check = ({ fields }) => {
  if (!Array.isArray(fields.tools) || fields.tools.length > 0) return []
  const text = "Invalid 'tools': empty array. Expected an array with minimum length 1, but got an empty array instead."
  return [invalid('D4', text, null, 'invalid_request_error')]
}

function unsupported(rule: string, field: string, text: string, status: number, fits: (value: Json) => boolean): Check {
  return ({ fields }) => {
    const value = fields[field]
    return value !== undefined && isGiven(value) && fits(value) ? [{ ...invalid(rule, text, field), status }] : []
  }
}

const vllm: Check = ({ items, fields }) => {
  const issues: Issue[] = []
  const { previous_response_id: id } = fields
  if (typeof id === 'string')
    issues.push({ ...invalid('vllm-state', `Response with id '${id}' not found.`), status: 404 })
  for (const item of items) {
    if (item.encrypted_content) issues.push(invalid('vllm-reasoning', 'Encrypted content is not supported.'))
    if (typeOf(item) === 'message' && item.role === 'assistant' && !hasText(item.content)) {
      issues.push({ ...invalid('vllm-message', 'Internal Server Error'), status: 500 })
    }
  }
  return issues
}

function hasText(content: Json | undefined): boolean {
  if (typeof content === 'string') return content !== ''
  return Array.isArray(content) && content.some((part) => isObject(part) && part.type === 'output_text')
}

const llamaTypes: ReadonlySet<string> = new Set(['message', 'reasoning', 'function_call', 'function_call_output'])

const llamaRoles: ReadonlySet<string> = new Set(['user', 'system', 'developer', 'assistant'])

const llamaCpp: Check = ({ items }) =>
  items.flatMap((item): Issue[] => {
    const type = typeOf(item)
    const isUntyped = item.type === undefined && item.role === 'assistant'
    const isUnknown = type === 'message' && !llamaRoles.has(stringIn(item, 'role') ?? '')
    if (isUntyped || isUnknown || !llamaTypes.has(type)) return [llama("Cannot determine type of 'item'")]
    if (type === 'reasoning') {
      if (!Array.isArray(item.content)) return [llama("item['content'] is not an array")]
      return item.content.length === 0 ? [llama("item['content'] is empty")] : []
    }
    if (objectsIn(item, 'content').some((part) => part.type === 'input_file')) {
      return [llama("'input_file' is not supported by llamacpp at this moment")]
    }
    if (objectsIn(item, 'output').some((part) => stringIn(part, 'type') !== 'input_text')) {
      return [llama("Output of tool call should be 'Input text'")]
    }
    return []
  })

function llama(text: string): Issue {
  return invalid('llamacpp-items', text)
}

const llamaState = unsupported(
  'llamacpp-state',
  'previous_response_id',
  "llama.cpp does not support 'previous_response_id'.",
  400,
  () => true,
)

/**
 * It checks only what it refuses: pairs, ids, names of tools, an empty input, the output limit and the chosen tool are
 * all accepted (probe of build b21e4de745, 2026-11).
 */
const llamaChecks: readonly Check[] = [llamaState, llamaCpp, fieldTypes]

const hosts = new Map<string, readonly Check[]>(
  Object.entries({
    xai: [noNulls, noEmptyMessages],
    deepseek: [noDeveloper, noEmptyTools, outputsAdjacent],
    openrouter: [
      unsupported('openrouter-state', 'previous_response_id', 'previous_response_id is not supported', 400, () => true),
      unsupported('openrouter-state', 'store', 'store must be false', 400, (value) => value === true),
    ],
    vllm: [vllm],
  }),
)
