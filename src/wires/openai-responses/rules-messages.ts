// The rules for input items: each by itself (keys, roles, contents, ids), and then their order.

import type { JsonObject } from '../../core/json.ts'
import { withNext } from '../../core/lists.ts'
import { invalid, tooLong } from '../shared/openai-rules.ts'
import type { Issue } from '../wire.ts'
import { type Check, hasState, maxNameLength, missing, namePattern, unknown, wrongValue } from './rules-context.ts'
import {
  asksClient,
  codexMetadataKey,
  factsOf,
  inputItemTypes,
  isOpenAI,
  maxIdLength,
  objectFields,
  stringField,
  typeOf,
} from './types.ts'

export const roles: readonly string[] = ['assistant', 'system', 'developer', 'user']

/** What the agents of Codex say to each other. Ollama before 0.33.4, xAI and others refuse it (reported, 2026-09). */
const othersItemTypes = inputItemTypes.filter((type) => type !== 'agent_message')

/** R17 and R14: the types of an item. */
export const itemKinds: Check = ({ items, provider }) => {
  const types = isOpenAI(provider) ? inputItemTypes : othersItemTypes
  return items.flatMap((item, i): Issue[] => {
    const { type } = item
    if (type !== undefined && type !== null && !types.includes(String(type))) {
      return [wrongValue('R17', `input[${i}]`, String(type), types)]
    }
    if (typeOf(item) !== 'message' && typeOf(item) !== '') return []
    const role = stringField(item, 'role') ?? ''
    if (!roles.includes(role)) return [wrongValue('R14', `input[${i}]`, role, roles)]
    return item.content === undefined ? [missing('shape', `input[${i}].content`)] : []
  })
}

const knownKeys = new Map<string, readonly string[]>(
  Object.entries({
    message: ['type', 'id', 'role', 'content', 'status', 'phase'],
    function_call: ['type', 'id', 'call_id', 'name', 'arguments', 'status', 'namespace', 'caller', 'async'],
    function_call_output: ['type', 'id', 'call_id', 'output', 'status', 'name', 'namespace', 'caller'],
    custom_tool_call: ['type', 'id', 'call_id', 'name', 'input', 'status', 'namespace', 'caller', 'async'],
    custom_tool_call_output: ['type', 'id', 'call_id', 'output', 'name', 'caller'],
    reasoning: ['type', 'id', 'summary', 'content', 'encrypted_content'],
    compaction: ['type', 'id', 'encrypted_content'],
  }),
)

/** Codex sets this key on the items that it sends to OpenAI; no other host accepts it, including Azure. */
const isCodexKey = (key: string, provider: string) => key === codexMetadataKey && provider === 'openai'

/** R16. The phase is only for the assistant, and a reasoning item has no status in a request. */
export const itemKeys: Check = ({ items, provider }) =>
  items.flatMap((item, i) => {
    const allowed = knownKeys.get(typeOf(item))
    if (!allowed) return []
    const isOthers = typeOf(item) === 'message' && item.role !== 'assistant'
    return Object.keys(item)
      .filter((key) => item[key] !== undefined && !isCodexKey(key, provider))
      .filter((key) => !allowed.includes(key) || (key === 'phase' && isOthers))
      .map((key) => unknown('R16', `input[${i}].${key}`))
  })

const requiredKeys = new Map<string, readonly string[]>(
  Object.entries({
    function_call: ['call_id', 'name', 'arguments'],
    function_call_output: ['call_id', 'output'],
    custom_tool_call: ['call_id', 'name', 'input'],
    custom_tool_call_output: ['call_id', 'output'],
    reasoning: ['summary'],
    compaction: ['encrypted_content'],
  }),
)

export const itemFields: Check = ({ items }) =>
  items.flatMap((item, i) =>
    (requiredKeys.get(typeOf(item)) ?? [])
      .filter((key) => item[key] === undefined || item[key] === null)
      .map((key) => missing('shape', `input[${i}].${key}`)),
  )

const assistantParts = ['output_text', 'refusal']
const inputParts = ['input_text', 'input_image', 'input_file', 'scoped_content', 'input_audio']

/** R15: assistant messages have output parts, all others input parts. */
export const contentParts: Check = ({ items }) =>
  items.flatMap((item, i) => {
    if (typeOf(item) !== 'message') return outputParts(item, i)
    const supported = item.role === 'assistant' ? assistantParts : inputParts
    return partIssues(objectFields(item, 'content'), `input[${i}].content`, supported)
  })

function outputParts(item: JsonObject, i: number): Issue[] {
  if (!typeOf(item).endsWith('tool_call_output') && typeOf(item) !== 'function_call_output') return []
  return partIssues(objectFields(item, 'output'), `input[${i}].output`, ['input_text', 'input_image', 'input_file'])
}

function partIssues(parts: readonly JsonObject[], place: string, supported: readonly string[]): Issue[] {
  return parts.flatMap((part, i) => {
    const type = stringField(part, 'type') ?? ''
    if (!supported.includes(type)) return [wrongValue('R15', `${place}[${i}]`, type, supported)]
    const text = type === 'refusal' ? 'refusal' : type.endsWith('_text') ? 'text' : undefined
    return text && typeof part[text] !== 'string' ? [missing('shape', `${place}[${i}].${text}`)] : []
  })
}

/** R9: reasoning is sent back encrypted, never as plain text. */
export const noPlainReasoning: Check = ({ items }) =>
  items.flatMap((item, i): Issue[] => {
    if (typeOf(item) !== 'reasoning' || !Array.isArray(item.content) || item.content.length === 0) return []
    const param = `input[${i}].content`
    const text = `Invalid '${param}': array too long. Expected an array with maximum length 0, but got an array with length ${item.content.length} instead.`
    return [invalid('R9', text, param, 'array_above_max_length')]
  })

const checkedPrefixes: ReadonlySet<string> = new Set(['message', 'reasoning', 'function_call', 'compaction'])

/** R10, R11: an id has the prefix of its type of item, and is short. */
export const itemIds: Check = ({ items }) =>
  items.flatMap((item, i): Issue[] => {
    const id = stringField(item, 'id')
    if (id === undefined) return []
    const type = typeOf(item)
    const param = `input[${i}].id`
    const prefix = checkedPrefixes.has(type) ? (factsOf(type).prefix ?? '') : ''
    if (!id.startsWith(prefix)) {
      const text = `Invalid '${param}': '${id}'. Expected an ID that begins with '${prefix}'.`
      return [invalid('R10', text, param, 'invalid_value')]
    }
    return id.length > maxIdLength ? [tooLong('R11', param, maxIdLength, id)] : []
  })

export const callIdLength: Check = ({ items }) =>
  items.flatMap((item, i): Issue[] => {
    const id = stringField(item, 'call_id')
    const param = `input[${i}].call_id`
    if (id === undefined || !requiredKeys.has(typeOf(item))) return []
    if (id === '') {
      const text = `Invalid '${param}': empty string. Expected a string with minimum length 1, but got an empty string instead.`
      return [invalid('R12', text, param, 'empty_string')]
    }
    return id.length > maxIdLength ? [tooLong('R12', param, maxIdLength, id)] : []
  })

/** C8: the rules for tool names apply to the names of calls, whatever their source. */
export const callNames: Check = ({ items }) =>
  items.flatMap((item, i): Issue[] => {
    const name = typeOf(item) === 'function_call' ? stringField(item, 'name') : undefined
    const param = `input[${i}].name`
    if (name === undefined || (namePattern.test(name) && name.length <= maxNameLength)) return []
    if (name.length > maxNameLength) return [tooLong('C8', param, maxNameLength, name)]
    const [text, code] =
      name === ''
        ? ['empty string. Expected a string with minimum length 1, but got an empty string instead.', 'empty_string']
        : [
            `string does not match pattern. Expected a string that matches the pattern '${namePattern.source}'.`,
            'invalid_value',
          ]
    return [invalid('C8', `Invalid '${param}': ${text}`, param, code)]
  })

const unreadable = /^data:((?:audio|video|image)\/[^;,]+)[;,]/
const soundOrFilm = /\.(mp3|wav|ogg|flac|m4a|aac|mp4|mov|avi|mkv|webm)(\?|#|$)/i

/** Files are documents: the type is in the data URL, or in the name of what the server will fetch. */
export const fileKinds: Check = ({ items }) =>
  items.flatMap((item, i) =>
    (['content', 'output'] as const).flatMap((key) =>
      objectFields(item, key).flatMap((part, j): Issue[] => {
        if (part.type !== 'input_file') return []
        const type = unreadable.exec(stringField(part, 'file_data') ?? '')?.[1]
        const param = `input[${i}].${key}[${j}].file_data`
        if (type) return [unsupportedData(param, type)]
        if (!soundOrFilm.test(stringField(part, 'file_url') ?? '')) return []
        const text = 'The file type you uploaded is not supported. Please try again with a pdf'
        return [invalid('file-kind', text, 'input', 'unsupported_file')]
      }),
    ),
  )

function unsupportedData(param: string, type: string): Issue {
  const text = `Invalid file data: '${param}'. Expected a base64-encoded data URL with a valid file MIME type (e.g. 'data:text/plain;base64,SGVsbG8sIFdvcmxkIQ=='), but got unsupported MIME type '${type}'. Please see https://platform.openai.com/docs/assistants/tools/file-search#supported-files for supported file types.`
  return invalid('file-kind', text, param, 'invalid_value')
}

/** A trigger requests a compaction of everything before it. */
export const triggerLast: Check = ({ items }) =>
  items.some((item, i) => typeOf(item) === 'compaction_trigger' && i < items.length - 1)
    ? [invalid('shape', "A 'compaction_trigger' item must be the final input item.", 'input')]
    : []

// The rules between items: calls and outputs, reasoning and what follows it, ids.

interface CallWords {
  output: string
  /** The API's name for it. */
  name: string
}

const callTypes = new Map<string, CallWords>(
  Object.entries({
    function_call: { output: 'function_call_output', name: 'function call' },
    custom_tool_call: { output: 'custom_tool_call_output', name: 'custom tool call' },
    apply_patch_call: { output: 'apply_patch_call_output', name: 'apply patch call' },
    shell_call: { output: 'shell_call_output', name: 'shell call' },
    local_shell_call: { output: 'local_shell_call_output', name: 'local shell call' },
    computer_call: { output: 'computer_call_output', name: 'computer call' },
  }),
)

/** R2, then R1. Pairs are found by `call_id` alone; an id may be reused once it is answered (recorded 2026-11). */
export const pairs: Check = (body) => {
  const open = new Map<string, { item: JsonObject; words: CallWords }>()
  const seen = new Set<string>()
  const issues: Issue[] = []
  for (const item of body.items) {
    const type = typeOf(item)
    const id = stringField(item, 'call_id') ?? ''
    const kind = callTypes.get(type)
    if (kind) {
      // Commands that the provider has run need no output of the client.
      if (type !== 'shell_call' || asksClient(item)) open.set(`${kind.output} ${id}`, { item, words: kind })
      seen.add(`${kind.output} ${id}`)
      // What Codex answers such a call with.
      if (type === 'local_shell_call') seen.add(`function_call_output ${id}`)
      continue
    }
    const call = [...callTypes.values()].find(({ output }) => output === type)
    if (!call) continue
    if (!seen.has(`${type} ${id}`) && !hasState(body)) {
      issues.push(invalid('R2', `No tool call found for ${call.name} output with call_id ${id}.`, 'input'))
    }
    open.delete(`${type} ${id}`)
    if (type === 'function_call_output') open.delete(`local_shell_call_output ${id}`)
  }
  for (const { item, words } of open.values()) {
    const id = stringField(item, 'call_id') ?? ''
    issues.push(invalid('R1', `No tool output found for ${words.name} ${id}.`, 'input'))
  }
  return issues
}

const notProduced: ReadonlySet<string> = new Set([
  'function_call_output',
  'custom_tool_call_output',
  'computer_call_output',
  'local_shell_call_output',
  'apply_patch_call_output',
  'mcp_approval_response',
  'additional_tools',
  'configuration_update',
  'compaction_trigger',
])

/**
 * R4. A reasoning item with an id is known to the server, and so is the item it produced, which must follow. A message
 * without an id does not count, unless nothing is stored (recorded 2026-11). References have no type and are accepted.
 */
export const reasoningFollowed: Check = ({ items, fields }) =>
  withNext(items, (other) => typeOf(other) !== 'reasoning').flatMap(({ one: item, next }): Issue[] => {
    const id = stringField(item, 'id')
    if (typeOf(item) !== 'reasoning' || id === undefined) return []
    const isProduct =
      next &&
      !notProduced.has(typeOf(next)) &&
      (typeOf(next) !== 'message' || (next.role === 'assistant' && (next.id !== undefined || fields.store === false)))
    if (isProduct) return []
    const text = `Item '${id}' of type 'reasoning' was provided without its required following item.`
    return [invalid('R4', text, 'input')]
  })

/** R6: a request that stores nothing cannot name what was never stored. */
export const nothingStored: Check = ({ items, fields }) => {
  if (fields.store !== false) return []
  return items.flatMap((item): Issue[] => {
    const id = stringField(item, 'id')
    const bare = typeOf(item) === 'reasoning' && !item.encrypted_content
    if (id === undefined || !(bare || typeOf(item) === 'item_reference')) return []
    const text = `Item with id '${id}' not found. Items are not persisted when \`store\` is set to false. Try again with \`store\` set to true, or remove this item from your input.`
    return [{ ...invalid('R6', text, 'input'), status: 404 }]
  })
}

export const uniqueIds: Check = ({ items }) => {
  const seen = new Set<string>()
  return items.flatMap((item): Issue[] => {
    const id = stringField(item, 'id')
    if (id === undefined) return []
    if (!seen.has(id)) {
      seen.add(id)
      return []
    }
    const text = `Duplicate item found with id ${id}. Remove duplicate items from your input and try again.`
    return [invalid('R13', text, 'input')]
  })
}

/** D3: DeepSeek reads the items as chat messages, so the outputs must come right after an unbroken row of calls. */
export const outputsAdjacent: Check = ({ items }) => {
  const issues: Issue[] = []
  for (let i = 0; i < items.length;) {
    const calls = new Set<string>()
    for (; i < items.length && /^(function|custom_tool)_call$/.test(typeOf(items[i] ?? {})); i++) {
      calls.add(stringField(items[i] ?? {}, 'call_id') ?? '')
    }
    const answered = new Set<string>()
    for (; i < items.length && /^(function|custom_tool)_call_output$/.test(typeOf(items[i] ?? {})); i++) {
      answered.add(stringField(items[i] ?? {}, 'call_id') ?? '')
    }
    const open = [...calls].find((id) => !answered.has(id))
    const stray = [...answered].find((id) => !calls.has(id))
    if (open !== undefined) issues.push(deepseek(`No tool output found for tool call ${open}.`))
    else if (stray !== undefined) issues.push(deepseek(`No tool call found for tool output with call_id ${stray}.`))
    if (calls.size === 0 && answered.size === 0) i++
  }
  return issues
}

function deepseek(text: string): Issue {
  return invalid('D3', text, null, 'invalid_request_error')
}
