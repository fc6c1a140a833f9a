// What Cohere would have sent: the complete body of a reply, and the bodies of its refusals.

import { isObject, type Json, type JsonObject } from '../../core/json.ts'
import type { Reply, StopReason } from '../../core/message.ts'
import { wireIds } from '../shared/ids.ts'
import type { Issue, WholeProfile } from '../wire.ts'
import { callIdGrammar, protocolId, textBlock, thinkingBlock, type Block } from './types.ts'

export function whole(reply: Reply, { replyId, usage }: WholeProfile): Json {
  const [native] = reply.native
  const isOwn = reply.origin.protocol === protocolId && isObject(native)
  const tokens = { input_tokens: usage.input, output_tokens: usage.output }
  return {
    id: replyId,
    message: isOwn
      ? native
      : messageFromParts(
          reply,
          wireIds([reply], callIdGrammar, () => true),
        ),
    finish_reason: finishOf(reply),
    usage: {
      billed_units: tokens,
      tokens: { ...tokens, ...(usage.reasoning > 0 && { reasoning_tokens: usage.reasoning }) },
      cached_tokens: usage.cacheRead,
    },
  }
}

const finishReasons: Partial<Record<StopReason, string>> = {
  length: 'MAX_TOKENS',
  'tool-calls': 'TOOL_CALL',
  failed: 'ERROR',
}

function finishOf({ stop }: Reply): string {
  if (stop.reason === 'done' && stop.sequence !== undefined) return 'STOP_SEQUENCE'
  return finishReasons[stop.reason] ?? 'COMPLETE'
}

/** An assistant message in the service's form; what this wire does not support is left out. */
export function messageFromParts(reply: Reply, idOf: (callId: string) => string): JsonObject {
  const content: Block[] = []
  const calls: JsonObject[] = []
  for (const part of reply.parts) {
    if (part.type === 'text' || part.type === 'refusal') content.push(textBlock(part.text))
    else if (part.type === 'reasoning') content.push(thinkingBlock(part.text))
    else if (part.type === 'opaque' && part.kind.startsWith(`${protocolId}/`) && isObject(part.data)) {
      content.push(part.data)
    } else if (part.type === 'tool-call') {
      const args = part.malformed ?? JSON.stringify(part.input)
      calls.push({ id: idOf(part.callId), type: 'function', function: { name: part.name, arguments: args } })
    }
  }
  return {
    role: 'assistant',
    ...((content.length > 0 || calls.length === 0) && { content }),
    ...(calls.length > 0 && { tool_calls: calls }),
  }
}

export function errorBody({ message, type }: Issue): Json {
  return { message, ...(type !== undefined && { error_type: type }) }
}
