// What the real servers refuse in a body, with their error messages. Written from recorded refusals, measurements and
// the servers' sources, never from the output of `encode`. In the order in which OpenAI checks (measured 2026-08): the
// model, the keys, the items, the other fields, consistency, and last the capabilities of the model.

import { isObject, type Json, type JsonObject } from '../../core/json.ts'
import { invalid } from '../shared/openai-rules.ts'
import { rangeIssues } from '../shared/ranges.ts'
import type { Issue, Profile } from '../wire.ts'
import { type Check, isGiven, missing, type ResponsesBody, wrongType } from './rules-context.ts'
import {
  answerFormat,
  answerSchema,
  cacheKeyLength,
  effort,
  encryptedReasoning,
  fieldNames,
  fieldTypes,
  functionSchemas,
  includes,
  oneState,
  outputLimit,
  sampling,
  somethingToAnswer,
  toolChoice,
  tools,
} from './rules-options.ts'
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
  nothingStored,
  outputsAdjacent,
  pairs,
  reasoningFollowed,
  triggerLast,
  uniqueIds,
} from './rules-messages.ts'
import { isOpenAI, objectFields, stringField, typeOf } from './types.ts'

export function refuse(body: Json, profile: Profile = {}): Issue[] {
  if (!isObject(body)) return [invalid('shape', 'We could not parse the JSON body of your request.')]
  const shape = shapeIssue(body)
  if (shape) return [shape]
  const read: ResponsesBody = {
    fields: body,
    provider: profile.provider ?? 'openai',
    model: profile.model ?? (typeof body.model === 'string' ? body.model : ''),
    items: itemsOf(body.input),
  }
  return checksFor(profile.provider).flatMap((check) => check(read))
}

/** What must be valid before anything else can be checked. A stored prompt may contain the model. */
function shapeIssue({ model, input, prompt, messages }: JsonObject): Issue | undefined {
  if (model === undefined && !isObject(prompt)) return missing('shape', 'model')
  if (model !== undefined && typeof model !== 'string') return wrongType('model', 'a string', model)
  if (messages !== undefined) {
    const text =
      "Unsupported parameter: 'messages'. In the Responses API, this parameter has moved to 'input'. Try again with the new parameter."
    return invalid('shape', text, null, 'unsupported_parameter')
  }
  if (input === undefined && !isObject(prompt)) return missing('R18', 'input')
  if (input === undefined || typeof input === 'string') return undefined
  if (!Array.isArray(input)) return wrongType('input', 'one of a string or array of input items', input)
  for (const [index, item] of input.entries()) {
    if (!isObject(item)) return wrongType(`input[${index}]`, 'an input item', item)
  }
  return undefined
}

function itemsOf(input: Json | undefined): JsonObject[] {
  if (typeof input === 'string') return input === '' ? [] : [{ role: 'user', content: input }]
  return Array.isArray(input) ? input.filter(isObject) : []
}

function checksFor(provider: string | undefined): readonly Check[] {
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
    const isUnknown = type === 'message' && !llamaRoles.has(stringField(item, 'role') ?? '')
    if (isUntyped || isUnknown || !llamaTypes.has(type)) return [llama("Cannot determine type of 'item'")]
    if (type === 'reasoning') {
      if (!Array.isArray(item.content)) return [llama("item['content'] is not an array")]
      return item.content.length === 0 ? [llama("item['content'] is empty")] : []
    }
    if (objectFields(item, 'content').some((part) => part.type === 'input_file')) {
      return [llama("'input_file' is not supported by llamacpp at this moment")]
    }
    if (objectFields(item, 'output').some((part) => stringField(part, 'type') !== 'input_text')) {
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
