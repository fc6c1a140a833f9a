// The rules between items: calls and outputs, reasoning and what follows it, ids.

import type { JsonObject } from '../../core/json.ts'
import type { Issue } from '../wire.ts'
import { hasState, invalid, type Check } from './rules-context.ts'
import { stringIn, typeOf } from './types.ts'

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
  }),
)

/** R2, then R1. Pairs are found by `call_id` alone; an id may be reused once it is answered (recorded 2026-11). */
export const pairs: Check = (body) => {
  const open = new Map<string, { item: JsonObject; words: CallWords }>()
  const seen = new Set<string>()
  const issues: Issue[] = []
  for (const item of body.items) {
    const type = typeOf(item)
    const id = stringIn(item, 'call_id') ?? ''
    const words = callTypes.get(type)
    if (words) {
      open.set(`${words.output} ${id}`, { item, words })
      seen.add(`${words.output} ${id}`)
      continue
    }
    const asked = [...callTypes.values()].find(({ output }) => output === type)
    if (!asked) continue
    if (!seen.has(`${type} ${id}`) && !hasState(body)) {
      issues.push(invalid('R2', `No tool call found for ${asked.name} output with call_id ${id}.`, 'input'))
    }
    open.delete(`${type} ${id}`)
  }
  for (const { item, words } of open.values()) {
    const id = stringIn(item, 'call_id') ?? ''
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
  items.flatMap((item, i): Issue[] => {
    const id = stringIn(item, 'id')
    if (typeOf(item) !== 'reasoning' || id === undefined) return []
    const next = items.slice(i + 1).find((other) => typeOf(other) !== 'reasoning')
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
    const id = stringIn(item, 'id')
    const bare = typeOf(item) === 'reasoning' && !item.encrypted_content
    if (id === undefined || !(bare || typeOf(item) === 'item_reference')) return []
    const text = `Item with id '${id}' not found. Items are not persisted when \`store\` is set to false. Try again with \`store\` set to true, or remove this item from your input.`
    return [{ ...invalid('R6', text, 'input'), status: 404 }]
  })
}

export const uniqueIds: Check = ({ items }) => {
  const seen = new Set<string>()
  return items.flatMap((item): Issue[] => {
    const id = stringIn(item, 'id')
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
    const calls: string[] = []
    for (; i < items.length && /^(function|custom_tool)_call$/.test(typeOf(items[i] ?? {})); i++) {
      calls.push(stringIn(items[i] ?? {}, 'call_id') ?? '')
    }
    const answered = new Set<string>()
    for (; i < items.length && /^(function|custom_tool)_call_output$/.test(typeOf(items[i] ?? {})); i++) {
      answered.add(stringIn(items[i] ?? {}, 'call_id') ?? '')
    }
    const open = calls.find((id) => !answered.has(id))
    const stray = [...answered].find((id) => !calls.includes(id))
    if (open !== undefined) issues.push(deepseek(`No tool output found for tool call ${open}.`))
    else if (stray !== undefined) issues.push(deepseek(`No tool call found for tool output with call_id ${stray}.`))
    if (calls.length === 0 && answered.size === 0) i++
  }
  return issues
}

function deepseek(text: string): Issue {
  return invalid('D3', text, null, 'invalid_request_error')
}
