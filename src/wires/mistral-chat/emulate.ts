// What Mistral would have sent: the complete body of a reply, and the bodies of its refusals.

import { isObject, type Json, type JsonObject } from '../../core/json.ts'
import type { Reply, StopReason } from '../../core/message.ts'
import { wireIds } from '../shared/ids.ts'
import type { WholeProfile, Issue } from '../wire.ts'
import { callIdGrammar, protocolId, textChunk, thinkingChunk, type Chunk } from './types.ts'

export function whole(reply: Reply, profile: WholeProfile): Json {
  const [native] = reply.native
  const isOwn = reply.origin.protocol === protocolId && isObject(native)
  const { usage } = profile
  return {
    id: profile.replyId,
    object: 'chat.completion',
    created: profile.createdAt,
    model: profile.model,
    choices: [
      {
        index: 0,
        message: isOwn
          ? native
          : messageFromParts(
              reply,
              wireIds([reply], callIdGrammar, () => true),
            ),
        finish_reason: finishReasons[reply.stop.reason] ?? 'stop',
      },
    ],
    usage: {
      prompt_tokens: usage.input,
      completion_tokens: usage.output,
      total_tokens: usage.input + usage.output,
      prompt_tokens_details: { cached_tokens: usage.cacheRead },
    },
  }
}

const finishReasons: Partial<Record<StopReason, string>> = {
  done: 'stop',
  length: 'length',
  'tool-calls': 'tool_calls',
  failed: 'error',
}

/** An assistant message in the service's form; what this wire does not support is left out. */
export function messageFromParts(reply: Reply, idOf: (callId: string) => string): JsonObject {
  const chunks: Chunk[] = []
  const calls: JsonObject[] = []
  for (const part of reply.parts) {
    if (part.type === 'text' || part.type === 'refusal') chunks.push(textChunk(part.text))
    else if (part.type === 'reasoning') chunks.push(thinkingChunk(part.text))
    else if (part.type === 'opaque' && part.kind.startsWith(`${protocolId}/`) && isObject(part.data))
      chunks.push(part.data)
    else if (part.type === 'tool-call') {
      const args = part.malformed ?? JSON.stringify(part.input)
      calls.push({ id: idOf(part.callId), function: { name: part.name, arguments: args }, index: calls.length })
    }
  }
  const [only] = chunks
  const content = chunks.length === 0 ? '' : chunks.length === 1 && only?.type === 'text' ? (only.text ?? '') : chunks
  return { role: 'assistant', tool_calls: calls.length > 0 ? calls : null, content }
}

/** A body that does not match the schema gets 422 with a list of places; everything else one message with a code. */
export function errorBody(issue: Issue): Json {
  if (issue.status === 422) {
    const loc = (issue.param ?? 'body').split('.').map((step) => (/^\d+$/.test(step) ? Number(step) : step))
    return { detail: [{ type: issue.type ?? 'value_error', loc, msg: issue.message }] }
  }
  return {
    object: 'error',
    message: issue.message,
    type: issue.type ?? 'invalid_request_error',
    param: issue.param ?? null,
    code: issue.code ?? null,
  }
}
