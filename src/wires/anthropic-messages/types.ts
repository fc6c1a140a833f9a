// The wire of `POST /v1/messages`: its block types and the allowed fields of a request.
//
// A reply's blocks are not quite a request's blocks: what clients and hosts add to them is refused ("Extra inputs are
// not permitted"). Types and fields checked 2026-11 against @anthropic-ai/sdk 1.8.0 (stable and beta `*Param` types).

import type { Note } from '../../core/context.ts'
import { isObject, type Json, type JsonObject } from '../../core/json.ts'
import type { IdGrammar } from '../shared/ids.ts'
import type { NameMap } from '../shared/names.ts'
import type { Target } from '../wire.ts'

export const protocolId = 'anthropic-messages'

/**
 * The older of the two versions in use (checked 2026-11). Everything written here works under it, every other host of
 * this wire supports it, and what else 2026-10-21 changed besides the sampling fields is not documented.
 */
export const apiVersion = '2023-06-01'

export const callIdGrammar: IdGrammar = { prefix: 'toolu_', length: 24, fits: /^[a-zA-Z0-9_-]+$/ }

/** The API accepts 128 characters; all hosts of this wire accept 64 (checked 2026-11). */
export const toolNamePattern = /^[a-zA-Z0-9_-]{1,64}$/
export const toolNameLength = 64

export const imageTypes: readonly string[] = ['image/jpeg', 'image/png', 'image/gif', 'image/webp']

export interface Block extends JsonObject {
  type: string
}

export function textBlock(text: string): Block {
  return { type: 'text', text }
}

export function isBlock(value: Json | undefined): value is Block {
  return isObject(value) && typeof value.type === 'string'
}

export function isThinking(block: Block): boolean {
  return block.type === 'thinking' || block.type === 'redacted_thinking'
}

/** A call that the provider runs. */
export function isServerCall(block: Block): boolean {
  return block.type === 'server_tool_use' || block.type === 'mcp_tool_use'
}

/** The result of such a call: `web_search_tool_result`, `mcp_tool_result` and the like. */
export function isServerResult(block: Block): boolean {
  return block.type.endsWith('_tool_result')
}

const result = ['tool_use_id', 'content']

/** The allowed request fields of each block type, besides `type` and `cache_control`. */
export const blockFields: Readonly<Record<string, readonly string[]>> = {
  text: ['text', 'citations'],
  image: ['source', 'transformations'],
  document: ['source', 'title', 'context', 'citations'],
  search_result: ['content', 'source', 'title', 'citations'],
  thinking: ['thinking', 'signature'],
  redacted_thinking: ['data'],
  tool_use: ['id', 'name', 'input', 'caller', 'toolset_name'],
  tool_result: ['tool_use_id', 'content', 'is_error', 'toolset_name'],
  server_tool_use: ['id', 'name', 'input', 'caller'],
  web_search_tool_result: [...result, 'caller'],
  web_fetch_tool_result: [...result, 'caller'],
  code_execution_tool_result: result,
  bash_code_execution_tool_result: result,
  text_editor_code_execution_tool_result: result,
  tool_search_tool_result: result,
  advisor_tool_result: result,
  mcp_tool_use: ['id', 'name', 'input', 'server_name'],
  mcp_tool_result: [...result, 'is_error'],
  mcp_tool_listing: ['mcp_server_name', 'tools'],
  container_upload: ['file_id'],
  compaction: ['content', 'encrypted_content', 'signature', 'tool_changes'],
  fallback: ['from', 'to', 'trigger'],
  tool_addition: ['tool'],
  tool_removal: ['tool'],
}

/** Added to blocks by the official client's helpers and by hosts, and refused in a request. */
export const replyOnlyFields: ReadonlySet<string> = new Set(['parsed_output', 'parsed', 'index'])

/** These have no `cache_control` in their types. */
const uncacheable: ReadonlySet<string> = new Set(['thinking', 'redacted_thinking', 'mcp_tool_listing', 'fallback'])

export function isCacheable(block: Block): boolean {
  return !uncacheable.has(block.type) && !(block.type === 'text' && block.text === '')
}

// What the parts of the encoder share.

export interface Encoding {
  target: Target
  notes: Note[]
  names: Pick<NameMap, 'toWire'>
  idOf(callId: string): string
}

/** A block, and the index of its message in the context; -1 = ours. */
export interface Item {
  block: Block
  message: number
}

/** Blocks of a system message that add tools or take them away (beta, checked 2026-11). */
export function toolChangesIn(message: Json): Block[] {
  if (!isObject(message) || message.role !== 'system' || !Array.isArray(message.content)) return []
  return message.content.filter(isBlock).filter(({ type }) => type === 'tool_addition' || type === 'tool_removal')
}
