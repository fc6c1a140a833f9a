// What an Ollama server would have sent: the complete body of a reply, and the bodies of its refusals.

import { isObject, type Json, type JsonObject } from '../../core/json.ts'
import type { Reply } from '../../core/message.ts'
import { wireIds } from '../shared/ids.ts'
import type { WholeProfile, Issue } from '../wire.ts'
import { callIdGrammar, protocolId } from './types.ts'

export function whole(reply: Reply, profile: WholeProfile): Json {
  const [native] = reply.native
  const isOwn = reply.origin.protocol === protocolId && isObject(native)
  return {
    model: profile.model,
    created_at: new Date(profile.createdAt * 1000).toISOString(),
    message: isOwn
      ? native
      : messageFromParts(
          reply,
          wireIds([reply], callIdGrammar, () => true),
        ),
    done: true,
    done_reason: reply.stop.reason === 'length' ? 'length' : 'stop',
    total_duration: 0,
    load_duration: 0,
    prompt_eval_count: profile.usage.input,
    prompt_eval_duration: 0,
    eval_count: profile.usage.output,
    eval_duration: 0,
  }
}

/** An assistant message in the server's form; what this wire does not support is left out. */
export function messageFromParts(reply: Reply, idOf: (callId: string) => string): JsonObject {
  let content = ''
  let thinking = ''
  const calls: JsonObject[] = []
  for (const part of reply.parts) {
    if (part.type === 'text' || part.type === 'refusal') content += part.text
    else if (part.type === 'reasoning') thinking += part.text
    else if (part.type === 'tool-call') {
      const args = part.malformed ?? part.input
      calls.push({ id: idOf(part.callId), function: { index: calls.length, name: part.name, arguments: args } })
    }
  }
  return { role: 'assistant', content, ...(thinking && { thinking }), ...(calls.length > 0 && { tool_calls: calls }) }
}

export function errorBody(issue: Issue): Json {
  return { error: issue.message }
}
