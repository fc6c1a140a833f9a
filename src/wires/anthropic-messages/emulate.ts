// What the API would have sent: a reply, complete or as the events of a stream, and its errors.

import { isObject, type Json, type JsonObject } from '../../core/json.ts'
import type { Part, Reply } from '../../core/message.ts'
import type { Usage } from '../../core/usage.ts'
import { malformedInput } from '../shared/injected-text.ts'
import { splitText } from '../shared/text.ts'
import type { Issue, WholeProfile } from '../wire.ts'
import { type Block, callIdGrammar, isBlock, protocolId, textBlock } from './types.ts'
import { listIn } from '../shared/json-fields.ts'
import { digestId } from '../shared/letters.ts'

export function whole(reply: Reply, profile: WholeProfile): Json {
  const isNative = reply.origin.protocol === protocolId && reply.native.length > 0
  const explanation = reply.parts.find((part) => part.type === 'refusal')?.text
  return {
    id: profile.replyId,
    type: 'message',
    role: 'assistant',
    model: profile.model,
    content: isNative
      ? reply.native
      : reply.parts.flatMap((part, index) => blocksFor(part, `${profile.replyId}/${index}`, profile)),
    stop_reason: stopReason(reply),
    stop_sequence: reply.stop.sequence ?? null,
    stop_details: explanation === undefined ? null : { type: 'refusal', category: null, explanation },
    usage: wireUsage(profile.usage),
  }
}

export function errorBody(issue: Issue): Json {
  return {
    type: 'error',
    error: {
      type: issue.type ?? errorTypes[issue.status] ?? (issue.status < 500 ? 'invalid_request_error' : 'api_error'),
      message: issue.message,
      ...(issue.code && { details: { error_code: issue.code } }),
    },
    request_id: digestId('req_011C', JSON.stringify([issue.status, issue.message]), 20),
  }
}

/** Other statuses of the client's fault are `invalid_request_error` too, as the API documents (2026-11). */
const errorTypes: Readonly<Record<number, string>> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  402: 'billing_error',
  403: 'permission_error',
  404: 'not_found_error',
  409: 'conflict_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  504: 'timeout_error',
  529: 'overloaded_error',
}

export function blocksFor(part: Part, seed: string, { token }: Pick<WholeProfile, 'token'> = {}): Block[] {
  switch (part.type) {
    case 'text':
      return [{ ...textBlock(part.text), ...(part.citations && { citations: part.citations }) }]
    case 'reasoning':
      if (part.hidden && part.text === '') return [{ type: 'redacted_thinking', data: digestId('', seed, 64) }]
      return [
        {
          type: 'thinking',
          thinking: part.text,
          signature: token ? (token() ?? '') : digestId('', `${seed}${part.text}`, 64),
        },
      ]
    case 'tool-call':
      return [
        {
          type: 'tool_use',
          id: callIdFor(part.callId, part.alias),
          name: part.name,
          // The client must not run the call as one without arguments.
          input: part.malformed === undefined ? part.input : malformedInput(part.malformed),
        },
      ]
    case 'server-tool':
      return serverTool(part.name, part.input, part.output, digestId('srvtoolu_', seed, 24))
    case 'compaction':
      return [{ type: 'compaction', content: part.text ?? null }]
    case 'opaque':
      return part.kind.startsWith(`${protocolId}/`) && isBlock(part.data) ? [part.data] : []
    // A refusal is reported outside of the content; this wire's replies carry no media and no client results.
    case 'refusal':
    case 'media':
    case 'tool-result':
      return []
  }
}

function callIdFor(callId: string, alias: string | undefined): string {
  const fitting = [alias, callId].find((id) => id !== undefined && callIdGrammar.fits.test(id))
  return fitting ?? digestId('toolu_', callId, 24)
}

function serverTool(name: string, input: Json | undefined, output: Json | undefined, id: string): Block[] {
  const call: Block = { type: 'server_tool_use', id, name, input: input ?? {} }
  if (output === undefined) return [call]
  return [call, { type: `${name}_tool_result`, tool_use_id: id, content: output }]
}

function stopReason({ origin, stop, parts }: Reply): string {
  if (stop.sequence !== undefined) return 'stop_sequence'
  if (origin.protocol === protocolId && stop.raw !== undefined && stop.reason !== 'failed') return stop.raw
  switch (stop.reason) {
    case 'length':
      return 'max_tokens'
    case 'tool-calls':
      return 'tool_use'
    case 'refusal':
      return 'refusal'
    case 'paused':
      return parts.length > 0 && parts.every((part) => part.type === 'compaction') ? 'compaction' : 'pause_turn'
    default:
      return 'end_turn'
  }
}

/** Splits a complete reply into the events that would have carried it. */
export function split(body: Json, piece = Infinity): Json[] {
  if (!isObject(body) || body.type === 'error') return [body]
  // A host may omit the content of an empty message.
  if (body.type !== 'message' && !Array.isArray(body.content)) return [body]
  const { content, stop_reason, stop_sequence, stop_details, context_management, usage, ...rest } = body
  const events: Json[] = [
    {
      type: 'message_start',
      message: {
        ...rest,
        content: [],
        stop_reason: null,
        stop_sequence: null,
        ...(usage !== undefined && { usage: isObject(usage) ? usageAtStart(usage) : usage }),
      },
    },
  ]
  for (const [index, block] of listIn(content).filter(isBlock).entries()) {
    const { start, deltas } = splitBlock(block, piece)
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

/** The prompt is counted when a message starts, but of the output only the first tokens (recorded 2026-11). */
function usageAtStart(usage: JsonObject): JsonObject {
  const { output_tokens: output, output_tokens_details: _details, server_tool_use: _tools, ...prompt } = usage
  return { ...prompt, ...(typeof output === 'number' && { output_tokens: Math.min(output, 1) }) }
}

function splitBlock(block: Block, piece: number): { start: Block; deltas: JsonObject[] } {
  switch (block.type) {
    case 'text': {
      if (typeof block.text !== 'string') break
      const citations = listIn(block.citations)
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

export function wireUsage(usage: Usage): JsonObject {
  return {
    input_tokens: Math.max(0, usage.input - usage.cacheRead - usage.cacheWrite),
    cache_creation_input_tokens: usage.cacheWrite,
    cache_read_input_tokens: usage.cacheRead,
    output_tokens: usage.output,
    ...(usage.reasoning > 0 && { output_tokens_details: { thinking_tokens: usage.reasoning } }),
  }
}
