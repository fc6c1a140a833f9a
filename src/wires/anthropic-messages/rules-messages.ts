// Messages: every block by itself (its fields, its text, its image), and then the order of turns.

import { isObject, type Json, type JsonObject } from '../../core/json.ts'
import { withNext } from '../../core/lists.ts'
import { readImage } from '../shared/image-header.ts'
import { isBlank } from '../shared/text.ts'
import { valueFor } from '../shared/json-fields.ts'
import type { Report, WireMessage } from './rules.ts'
import { type Block, blockFields, imageTypes, isBlock, isCacheable, isServerCall, isServerResult } from './types.ts'

export function checkBlocks(messages: readonly WireMessage[], report: Report): void {
  const images: Found[] = []
  for (const [position, { role, content, index }] of messages.entries()) {
    const path = `messages.${index}`
    const last = position === messages.length - 1
    if (content.length === 0 && !(last && role === 'assistant')) {
      const message = 'all messages must have non-empty content except for the optional final assistant message'
      report('R-9', `${path}: ${message}`)
    }
    for (const [i, block] of content.entries()) checkBlock(block, `${path}.content.${i}`, images, report)
    checkRoles(role, content, path, report)
    const texts = content.filter((block) => block.type === 'text' && block.text !== '')
    if (texts.length > 0 && texts.every((block) => typeof block.text === 'string' && isBlank(block.text))) {
      report('R-8', 'messages: text content blocks must contain non-whitespace text')
    }
  }
  checkImages(images, report)
}

interface Found {
  source: { media_type: Json | undefined; data: string }
  at: string
}

const tags = Object.keys(blockFields)
  .toSorted()
  .map((tag) => `'${tag}'`)
  .join(', ')

/** Types that occur only in results. */
const resultTypes: Readonly<Record<string, readonly string[] | undefined>> = {
  tool_reference: ['tool_name'],
  browser_state: undefined,
}

function checkBlock(block: Block, at: string, images: Found[], report: Report, inResult = false): void {
  const nested = inResult && Object.hasOwn(resultTypes, block.type)
  const fields = nested ? resultTypes[block.type] : valueFor(blockFields, block.type)
  if (!fields) {
    if (!nested) {
      const message = `Input tag '${block.type}' found using 'type' does not match any of the expected tags: ${tags}`
      report('R-29', `${at}: ${message}`)
    }
    return
  }
  const path = `${at}.${block.type}`
  for (const field of Object.keys(block)) {
    const isAllowed = field === 'type' || fields.includes(field) || (field === 'cache_control' && isMarkable(block))
    if (!isAllowed && block[field] !== undefined) report('R-29', `${path}.${field}: Extra inputs are not permitted`)
  }
  for (const field of valueFor(required, block.type) ?? []) {
    if (block[field] === undefined) report('shape', `${path}.${field}: Field required`)
  }
  switch (block.type) {
    case 'text':
      if (block.text === '') report('R-8', 'messages: text content blocks must be non-empty')
      else if (typeof block.text !== 'string') report('shape', `${path}.text: Input should be a valid string`)
      break
    case 'tool_use':
      checkId(block.id, `${path}.id`, report)
      if (typeof block.name === 'string' && !callNamePattern.test(block.name)) {
        report('R-23', `${path}.name: String should match pattern '${callNamePattern.source}'`)
      }
      if (block.input !== undefined && !isObject(block.input)) {
        report('R-6', `${path}.input: Input should be a valid dictionary`)
      }
      break
    case 'server_tool_use':
      if (typeof block.id === 'string' && !serverIdPattern.test(block.id)) {
        report('R-5', `${path}.id: String should match pattern '${serverIdPattern.source}'`)
      }
      break
    case 'tool_result':
      checkResult(block, path, images, report)
      break
    case 'thinking':
      if (block.signature === '') report('R-18', `${at}: Invalid \`signature\` in \`thinking\` block`)
      break
    case 'image':
      checkSource(block, path, images, report)
      break
    case 'compaction':
      if (block.content === '') report('compaction', `${path}.content: String should have at least 1 character`)
  }
}

const required: Readonly<Record<string, readonly string[]>> = {
  text: ['text'],
  image: ['source'],
  document: ['source'],
  thinking: ['signature', 'thinking'],
  redacted_thinking: ['data'],
  tool_use: ['id', 'input', 'name'],
  tool_result: ['tool_use_id'],
  server_tool_use: ['id', 'input', 'name'],
  mcp_tool_use: ['id', 'input', 'name', 'server_name'],
}

const callNamePattern = /^[a-zA-Z0-9_-]{1,200}$/
const serverIdPattern = /^srvtoolu_[a-zA-Z0-9_]+$/
const idPattern = /^[a-zA-Z0-9_-]+$/

/** An empty text has a different error than a block that never accepts a mark. */
function isMarkable(block: Block): boolean {
  return block.type === 'text' || isCacheable(block)
}

function checkId(id: Json | undefined, path: string, report: Report): void {
  if (typeof id === 'string' && !idPattern.test(id)) {
    report('R-5', `${path}: String should match pattern '${idPattern.source}'`)
  }
}

function checkResult(block: Block, path: string, images: Found[], report: Report): void {
  const { content } = block
  checkId(block.tool_use_id, `${path}.tool_use_id`, report)
  const empty =
    content === undefined || content === null || content === '' || (Array.isArray(content) && content.length === 0)
  if (block.is_error === true && empty) report('R-7', `${path}: content cannot be empty if is_error is true`)
  if (!Array.isArray(content)) return
  for (const [i, inner] of content.entries()) {
    if (isBlock(inner)) checkBlock(inner, `${path}.content.${i}`, images, report, true)
    else report('shape', `${path}.content.${i}.type: Field required`)
  }
}

function checkRoles(role: WireMessage['role'], content: readonly Block[], path: string, report: Report): void {
  if (role !== 'assistant' && content.some((block) => block.type === 'tool_use')) {
    report('shape', `${path}: \`tool_use\` blocks can only be in \`assistant\` messages`)
  }
  if (role !== 'user' && content.some((block) => block.type === 'tool_result')) {
    report('shape', `${path}: \`tool_result\` blocks can only be in \`user\` messages`)
  }
}

function checkSource(block: Block, path: string, images: Found[], report: Report): void {
  if (!isObject(block.source)) return
  const { type, media_type, data } = block.source
  if (type !== 'base64') {
    images.push({ source: { media_type, data: '' }, at: path })
    return
  }
  if (typeof media_type !== 'string' || !imageTypes.includes(media_type)) {
    const types = "'image/jpeg', 'image/png', 'image/gif' or 'image/webp'"
    report('shape', `${path}.source.base64.media_type: Input should be ${types}`)
  }
  if (typeof data === 'string') images.push({ source: { media_type, data }, at: path })
  else report('shape', `${path}.source.base64.data: Field required`)
}

/** Counted in characters of base64 (third party, 2026-11). */
const mostImageSize = 10 * 1024 * 1024

/** An image that was fine alone is too large once there are many others. */
function checkImages(images: readonly Found[], report: Report): void {
  const isMany = images.length > 20
  const maxPixels = isMany ? 2000 : 8000
  for (const { source, at } of images) {
    if (source.data === '') continue
    if (source.data.length > mostImageSize) {
      const message = `image exceeds 10 MB maximum: ${source.data.length} bytes > ${mostImageSize} bytes`
      report('R-28', `${at}.source.base64: ${message}`)
    }
    const image = readImage(source.data)
    if (!image) continue
    if (image.mediaType !== source.media_type && imageTypes.includes(String(source.media_type))) {
      const message = `The image was specified using the ${String(source.media_type)} media type, but the image appears to be a ${image.mediaType} image`
      report('shape', `${at}.source.base64: ${message}`)
    }
    if (Math.max(image.width ?? 0, image.height ?? 0) > maxPixels) {
      const message = `At least one of the image dimensions exceed max allowed size${isMany ? ' for many-image requests' : ''}: ${maxPixels} pixels`
      report('R-28', `${at}.source.base64.data: ${message}`)
    }
  }
}

/**
 * Calls and their results, system messages in the middle, server tools. The API merges adjacent messages of one role
 * before it checks: two assistant messages in a row, the second with the call, were accepted (recorded 2026).
 */
export function checkTurns(body: JsonObject, messages: readonly WireMessage[], report: Report): void {
  const continues = isObject(body.thread) && body.thread.type === 'continue'
  checkSystemPlaces(messages, continues, report)
  const turns = joinTurns(messages)
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

function joinTurns(messages: readonly WireMessage[]): JoinedTurn[] {
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

function checkResults(turn: JoinedTurn, previous: JoinedTurn | undefined, report: Report): void {
  const callIds = new Set(
    previous?.blocks.flatMap(({ block }) => (block.type === 'tool_use' ? [String(block.id)] : [])) ?? [],
  )
  const seen = new Set<string>()
  for (const { block, message, index } of turn.blocks) {
    if (block.type !== 'tool_result') continue
    const id = String(block.tool_use_id)
    const path = `messages.${message}.content.${index}`
    if (!callIds.has(id)) {
      const text = `unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${id}. Each \`tool_result\` block must have a corresponding \`tool_use\` block in the previous message.`
      report('R-3', `${path}: ${text}`)
    } else if (seen.has(id)) {
      const text = `each tool_use must have a single result. Found multiple \`tool_result\` blocks with id: ${id}`
      report('R-3', `${path}: ${text}`)
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
  const calls = new Map<string, { name: string; turn: number }>()
  const answered = new Set<string>()
  for (const [turn, { role, blocks }] of turns.entries()) {
    if (role !== 'assistant') continue
    for (const { block, message, index } of blocks) {
      if (isServerCall(block)) calls.set(String(block.id), { name: String(block.name), turn })
      if (!isServerResult(block)) continue
      const id = String(block.tool_use_id)
      answered.add(id)
      if (calls.has(id)) continue
      const text = `unexpected \`tool_use_id\` found in \`${block.type}\` blocks: ${id}. Each \`${block.type}\` block must have a corresponding \`server_tool_use\` block before it.`
      report('R-25', `messages.${message}.content.${index}: ${text}`)
    }
  }
  const lastSpoken = turns.findLastIndex(
    ({ role, blocks }) => role === 'user' && blocks.some(({ block }) => block.type !== 'tool_result'),
  )
  for (const [id, { name, turn }] of calls) {
    if (answered.has(id) || turn > lastSpoken) continue
    const text = `\`${name}\` tool use with id \`${id}\` was found without a corresponding \`${name}_tool_result\` block`
    report('R-25', text)
  }
}

/** The API's text for a wrong position is unknown; this one is ours. */
function checkSystemPlaces(messages: readonly WireMessage[], continues: boolean, report: Report): void {
  let previous: WireMessage | undefined
  for (const { one, next: after } of withNext(messages, (message) => message.role !== 'system')) {
    if (one.role !== 'system') {
      previous = one
      continue
    }
    const final = previous?.content.at(-1)
    const follows =
      previous?.role === 'user' || (previous?.role === 'assistant' && final !== undefined && isServerResult(final))
    const legal = (follows || (continues && !previous)) && (!after || after.role === 'assistant')
    if (legal) continue
    const message = "a 'system' message must follow a user message and be last or be followed by an assistant message"
    report('R-12', `messages.${one.index}: ${message}`)
  }
}
