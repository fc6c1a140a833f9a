// Calls and their results, system messages in the middle, server tools. The API merges adjacent messages of one role
// before it checks: two assistant messages in a row, the second with the call, were accepted (recorded 2026).

import { isObject, type JsonObject } from '../../core/json.ts'
import type { Report } from './rules.ts'
import type { WireMessage } from './rules-shape.ts'
import { isServerCall, isServerResult, type Block } from './types.ts'

export function checkTurns(body: JsonObject, messages: readonly WireMessage[], report: Report): void {
  const continues = isObject(body.thread) && body.thread.type === 'continue'
  checkSystemPlaces(messages, continues, report)
  const turns = joined(messages)
  // With an assistant message first the API counts one more: it seems to insert a user message before it (recorded
  // 2026).
  const shift = messages[0]?.role === 'assistant' ? 1 : 0
  for (const [i, turn] of turns.entries()) {
    if (turn.role === 'assistant') checkCalls(turn, turns[i + 1], shift, report)
    else if (!(continues && i === 0)) checkResults(turn, turns[i - 1], report)
  }
  checkUnique(turns, report)
  if (!continues) checkServerTools(turns, report)
  const tools = Array.isArray(body.tools) ? body.tools.length : 0
  const usesTools = messages.some(({ content }) =>
    content.some(({ type }) => type === 'tool_use' || type === 'tool_result'),
  )
  if (usesTools && tools === 0 && !continues && body.mcp_servers === undefined) {
    report('R-22', 'Requests which include `tool_use` or `tool_result` blocks must define tools.')
  }
}

interface Placed {
  block: Block
  /** The position of its message in the body, and its own position in it. */
  message: number
  index: number
}

interface JoinedTurn {
  role: 'user' | 'assistant'
  blocks: Placed[]
}

function joined(messages: readonly WireMessage[]): JoinedTurn[] {
  const turns: JoinedTurn[] = []
  for (const { role, content, index: message } of messages) {
    if (role === 'system') continue
    const blocks = content.map((block, index) => ({ block, message, index }))
    const last = turns.at(-1)
    if (last?.role === role) last.blocks.push(...blocks)
    else turns.push({ role, blocks })
  }
  return turns
}

function checkCalls(turn: JoinedTurn, next: JoinedTurn | undefined, shift: number, report: Report): void {
  const calls = turn.blocks.filter(({ block }) => block.type === 'tool_use')
  const lastText = turn.blocks.findLastIndex(({ block }) => block.type === 'text')
  const leading = new Set<string>()
  const all = new Set<string>()
  let first = true
  for (const { block } of next?.blocks ?? []) {
    first &&= block.type === 'tool_result'
    if (block.type !== 'tool_result') continue
    all.add(String(block.tool_use_id))
    if (first) leading.add(String(block.tool_use_id))
  }
  const open = calls.filter((call) => !leading.has(String(call.block.id)) || turn.blocks.indexOf(call) < lastText)
  const [call] = open
  if (!call) return
  const ids = open.map(({ block }) => String(block.id))
  const behindOthers = ids.every((id) => all.has(id) && !leading.has(id))
  const message = `\`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${ids.join(', ')}. Each \`tool_use\` block must have a corresponding \`tool_result\` block in the next message.`
  report(behindOthers ? 'R-2' : 'R-1', `messages.${call.message + shift}: ${message}`)
}

function checkResults(turn: JoinedTurn, before: JoinedTurn | undefined, report: Report): void {
  const asked = new Set(
    before?.blocks.flatMap(({ block }) => (block.type === 'tool_use' ? [String(block.id)] : [])) ?? [],
  )
  const seen = new Set<string>()
  for (const { block, message, index } of turn.blocks) {
    if (block.type !== 'tool_result') continue
    const id = String(block.tool_use_id)
    const at = `messages.${message}.content.${index}`
    if (!asked.has(id)) {
      const text = `unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${id}. Each \`tool_result\` block must have a corresponding \`tool_use\` block in the previous message.`
      report('R-3', `${at}: ${text}`)
    } else if (seen.has(id)) {
      const text = `each tool_use must have a single result. Found multiple \`tool_result\` blocks with id: ${id}`
      report('R-3', `${at}: ${text}`)
    }
    seen.add(id)
  }
}

function checkUnique(turns: readonly JoinedTurn[], report: Report): void {
  const seen = new Set<string>()
  for (const { block, message, index } of turns.flatMap(({ blocks }) => blocks)) {
    if (block.type !== 'tool_use') continue
    const id = String(block.id)
    if (seen.has(id)) report('R-4', `messages.${message}.content.${index}: \`tool_use\` ids must be unique`)
    seen.add(id)
  }
}

function checkServerTools(turns: readonly JoinedTurn[], report: Report): void {
  const asked = new Map<string, { name: string; turn: number }>()
  const answered = new Set<string>()
  for (const [turn, { role, blocks }] of turns.entries()) {
    if (role !== 'assistant') continue
    for (const { block, message, index } of blocks) {
      if (isServerCall(block)) asked.set(String(block.id), { name: String(block.name), turn })
      if (!isServerResult(block)) continue
      const id = String(block.tool_use_id)
      answered.add(id)
      if (asked.has(id)) continue
      const text = `unexpected \`tool_use_id\` found in \`${block.type}\` blocks: ${id}. Each \`${block.type}\` block must have a corresponding \`server_tool_use\` block before it.`
      report('R-25', `messages.${message}.content.${index}: ${text}`)
    }
  }
  const lastSpoken = turns.findLastIndex(
    ({ role, blocks }) => role === 'user' && blocks.some(({ block }) => block.type !== 'tool_result'),
  )
  for (const [id, { name, turn }] of asked) {
    if (answered.has(id) || turn > lastSpoken) continue
    const text = `\`${name}\` tool use with id \`${id}\` was found without a corresponding \`${name}_tool_result\` block`
    report('R-25', text)
  }
}

/** The API's text for a wrong position is unknown; this one is ours. */
function checkSystemPlaces(messages: readonly WireMessage[], continues: boolean, report: Report): void {
  for (const [i, { role, index }] of messages.entries()) {
    if (role !== 'system') continue
    const before = messages.slice(0, i).findLast((message) => message.role !== 'system')
    const after = messages.slice(i + 1).find((message) => message.role !== 'system')
    const final = before?.content.at(-1)
    const follows =
      before?.role === 'user' || (before?.role === 'assistant' && final !== undefined && isServerResult(final))
    const legal = (follows || (continues && !before)) && (!after || after.role === 'assistant')
    if (legal) continue
    const message = "a 'system' message must follow a user message and be last or be followed by an assistant message"
    report('R-12', `messages.${index}: ${message}`)
  }
}
