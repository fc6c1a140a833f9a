// How Converse would have sent a reply, and its refusals.

import { createHash } from 'node:crypto'
import type { Json, JsonObject } from '../../core/json.ts'
import type { Part, Reply } from '../../core/message.ts'
import type { Issue, WholeProfile } from '../wire.ts'
import { callIdGrammar, protocolId, textBlock } from './types.ts'
import { wireUsage } from './usage.ts'

export function whole(reply: Reply, profile: WholeProfile): Json {
  const own = reply.origin.protocol === protocolId && reply.native.length > 0
  const content = own ? reply.native : reply.parts.flatMap((part, i) => blocksFor(part, `${profile.replyId}/${i}`))
  return {
    output: { message: { role: 'assistant', content } },
    stopReason: stopReason(reply),
    usage: wireUsage(profile.usage),
    metrics: { latencyMs: 0 },
  }
}

export function errorBody(issue: Issue): Json {
  return { message: issue.message, __type: issue.type ?? errorTypes[issue.status] ?? 'ValidationException' }
}

const errorTypes: Readonly<Record<number, string>> = {
  403: 'AccessDeniedException',
  404: 'ResourceNotFoundException',
  408: 'ModelTimeoutException',
  424: 'ModelErrorException',
  429: 'ThrottlingException',
  500: 'InternalServerException',
  503: 'ServiceUnavailableException',
}

function blocksFor(part: Part, seed: string): JsonObject[] {
  switch (part.type) {
    case 'text':
      if (!part.citations || part.citations.length === 0) return [textBlock(part.text)]
      return [{ citationsContent: { content: [{ text: part.text }], citations: part.citations } }]
    case 'refusal':
      return [textBlock(part.text)]
    case 'reasoning': {
      const signature = madeUp('', `${seed}${part.text}`, 64)
      if (part.hidden && part.text === '') return [{ reasoningContent: { redactedContent: signature } }]
      return [{ reasoningContent: { reasoningText: { text: part.text, signature } } }]
    }
    case 'tool-call': {
      const fitting = [part.alias, part.callId].find((id) => id !== undefined && callIdGrammar.fits.test(id))
      const toolUseId = fitting ?? madeUp('tooluse_', part.callId, 22)
      return [{ toolUse: { toolUseId, name: part.name, input: part.input } }]
    }
    case 'server-tool': {
      const toolUseId = madeUp('tooluse_', seed, 22)
      const use = { toolUse: { toolUseId, name: part.name, input: part.input ?? {}, type: 'server_tool_use' } }
      if (part.output === undefined) return [use]
      const content = Array.isArray(part.output) ? part.output : [{ text: JSON.stringify(part.output) }]
      return [use, { toolResult: { toolUseId, content, type: `${part.name}_result` } }]
    }
    case 'compaction':
      return part.text ? [textBlock(part.text)] : []
    // A reply on this wire carries no media, and no results of the caller's tools.
    case 'media':
    case 'tool-result':
    case 'opaque':
      return []
  }
}

function stopReason({ origin, stop }: Reply): string {
  if (stop.sequence !== undefined) return 'stop_sequence'
  if (origin.protocol === protocolId && stop.raw !== undefined && stop.reason !== 'failed') return stop.raw
  switch (stop.reason) {
    case 'length':
      return 'max_tokens'
    case 'tool-calls':
      return 'tool_use'
    case 'refusal':
      return 'content_filtered'
    default:
      return 'end_turn'
  }
}

function madeUp(prefix: string, seed: string, length: number): string {
  return prefix + createHash('sha512').update(seed).digest('hex').slice(0, length)
}
