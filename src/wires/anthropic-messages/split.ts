// Splits a complete reply into the events that would have carried it.

import { isObject, type Json, type JsonObject } from '../../core/json.ts'
import { splitText } from '../shared/text.ts'
import { isBlock, type Block } from './types.ts'

export function split(whole: Json, piece = Infinity): Json[] {
  if (!isObject(whole) || whole.type === 'error') return [whole]
  // A host may omit the content of an empty message.
  if (whole.type !== 'message' && !Array.isArray(whole.content)) return [whole]
  const { content, stop_reason, stop_sequence, stop_details, context_management, usage, ...rest } = whole
  const events: Json[] = [
    {
      type: 'message_start',
      message: { ...rest, content: [], stop_reason: null, stop_sequence: null, ...(usage !== undefined && { usage }) },
    },
  ]
  for (const [index, block] of (Array.isArray(content) ? content : []).filter(isBlock).entries()) {
    const { start, deltas } = cut(block, piece)
    events.push({ type: 'content_block_start', index, content_block: start })
    for (const delta of deltas) events.push({ type: 'content_block_delta', index, delta })
    events.push({ type: 'content_block_stop', index })
  }
  events.push(
    {
      type: 'message_delta',
      delta: {
        stop_reason: stop_reason ?? null,
        stop_sequence: stop_sequence ?? null,
        ...(stop_details && { stop_details }),
      },
      ...(usage !== undefined && { usage }),
      ...(context_management !== undefined && { context_management }),
    },
    { type: 'message_stop' },
  )
  return events
}

function cut(block: Block, piece: number): { start: Block; deltas: JsonObject[] } {
  switch (block.type) {
    case 'text': {
      if (typeof block.text !== 'string') break
      const citations = Array.isArray(block.citations) ? block.citations : []
      return {
        start: { ...block, text: '', ...(citations.length > 0 && { citations: [] }) },
        deltas: [
          ...inPieces(block.text, piece, (text) => ({ type: 'text_delta', text })),
          ...citations.map((citation) => ({ type: 'citations_delta', citation })),
        ],
      }
    }
    case 'thinking': {
      if (typeof block.thinking !== 'string') break
      const signed = typeof block.signature === 'string' && block.signature !== ''
      return {
        start: { ...block, thinking: '', ...(signed && { signature: '' }) },
        deltas: [
          ...inPieces(block.thinking, piece, (thinking) => ({ type: 'thinking_delta', thinking })),
          ...(signed ? [{ type: 'signature_delta', signature: block.signature }] : []),
        ],
      }
    }
    case 'tool_use':
    case 'server_tool_use':
    case 'mcp_tool_use': {
      if (!isObject(block.input) || Object.keys(block.input).length === 0) break
      const json = JSON.stringify(block.input)
      return {
        start: { ...block, input: {} },
        deltas: inPieces(json, piece, (partial_json) => ({ type: 'input_json_delta', partial_json })),
      }
    }
    case 'compaction':
      if (typeof block.content !== 'string') break
      return { start: { ...block, content: '' }, deltas: [{ type: 'compaction_delta', content: block.content }] }
  }
  return { start: block, deltas: [] }
}

function inPieces(text: string, piece: number, delta: (text: string) => JsonObject): JsonObject[] {
  return [...splitText(text, piece)].map(delta)
}
