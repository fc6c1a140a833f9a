// How the API would have sent a reply, and its refusals.

import { createHash } from 'node:crypto'
import type { Json } from '../../core/json.ts'
import type { Part, Reply } from '../../core/message.ts'
import type { WholeProfile, Issue } from '../wire.ts'
import { wireUsage } from './usage.ts'
import { callIdGrammar, isBlock, protocolId, textBlock, type Block } from './types.ts'

export function whole(reply: Reply, profile: WholeProfile): Json {
  const own = reply.origin.protocol === protocolId && reply.native.length > 0
  const explanation = reply.parts.find((part) => part.type === 'refusal')?.text
  return {
    id: profile.replyId,
    type: 'message',
    role: 'assistant',
    model: profile.model,
    content: own
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
      type: issue.type ?? errorTypes[issue.status] ?? 'api_error',
      message: issue.message,
      ...(issue.code && { details: { error_code: issue.code } }),
    },
    request_id: madeUp('req_011C', JSON.stringify([issue.status, issue.message]), 20),
  }
}

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
      if (part.hidden && part.text === '') return [{ type: 'redacted_thinking', data: madeUp('', seed, 64) }]
      return [
        {
          type: 'thinking',
          thinking: part.text,
          signature: token ? (token() ?? '') : madeUp('', `${seed}${part.text}`, 64),
        },
      ]
    case 'tool-call':
      return [{ type: 'tool_use', id: callIdFor(part.callId, part.alias), name: part.name, input: part.input }]
    case 'server-tool':
      return serverTool(part.name, part.input, part.output, madeUp('srvtoolu_', seed, 24))
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
  return fitting ?? madeUp('toolu_', callId, 24)
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

function madeUp(prefix: string, seed: string, length: number): string {
  return prefix + createHash('sha512').update(seed).digest('hex').slice(0, length)
}
