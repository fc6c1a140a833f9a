// The body of a reply, and the body of a refusal.

import type { Json, JsonObject } from '../../core/json.ts'
import { isObject } from '../../core/json.ts'
import { textOf, type Part, type Reply } from '../../core/message.ts'
import { dataUrl } from '../shared/media.ts'
import type { WholeProfile } from '../wire.ts'
import { foreignCall, protocolId } from './types.ts'
import { finishReason } from './stop.ts'

export function whole(reply: Reply, profile: WholeProfile): Json {
  const [native] = reply.native
  const own = reply.origin.protocol === protocolId
  // OpenAI's clients expect the field, and have null where nothing was refused.
  const message = own && isObject(native) ? native : { refusal: null, ...messageFromParts(reply.parts) }
  const refused = typeof message.refusal === 'string' && message.refusal !== ''
  const raw = own ? reply.stop.raw : undefined
  return {
    id: profile.replyId,
    object: 'chat.completion',
    created: profile.createdAt,
    model: profile.model,
    choices: [{ index: 0, message, logprobs: null, finish_reason: raw ?? finishReason(reply.stop.reason, refused) }],
    usage: {
      prompt_tokens: profile.usage.input,
      completion_tokens: profile.usage.output,
      total_tokens: profile.usage.input + profile.usage.output,
      prompt_tokens_details: {
        cached_tokens: profile.usage.cacheRead,
        ...(profile.usage.cacheWrite > 0 && { cache_write_tokens: profile.usage.cacheWrite }),
      },
      completion_tokens_details: { reasoning_tokens: profile.usage.reasoning },
    },
  }
}

/** What the wire supports: text, reasoning under its most common name, a refusal, images, calls, server tools. */
export function messageFromParts(parts: readonly Part[]): JsonObject {
  const text = textOf(parts)
  const message: JsonObject = { role: 'assistant', content: text === '' ? null : text }
  const reasoning: string[] = []
  const refusals: string[] = []
  const lists: { [field: string]: Json[] } = {}
  const add = (field: string, entry: Json) => (lists[field] ??= []).push(entry)

  for (const part of parts) {
    switch (part.type) {
      case 'text':
        for (const citation of part.citations ?? []) add('annotations', citation)
        break
      case 'reasoning':
        reasoning.push(part.text)
        break
      case 'refusal':
        refusals.push(part.text)
        break
      case 'tool-call': {
        const args = part.malformed ?? JSON.stringify(part.input)
        add('tool_calls', { id: part.callId, type: 'function', function: { name: part.name, arguments: args } })
        break
      }
      case 'media':
        if (part.data.kind === 'base64' || part.data.kind === 'url') {
          const url = part.data.kind === 'url' ? part.data.url : dataUrl(part.mediaType, part.data.base64)
          add('images', { type: 'image_url', image_url: { url } })
        }
        break
      case 'server-tool':
        add('executed_tools', {
          type: part.name,
          index: lists.executed_tools?.length ?? 0,
          ...(part.input !== undefined && { arguments: JSON.stringify(part.input) }),
          ...(part.output !== undefined && { output: part.output }),
        })
        break
      case 'opaque':
        if (part.kind.startsWith(foreignCall) && isObject(part.data)) add('tool_calls', part.data)
        break
      default:
        break
    }
  }
  if (reasoning.length > 0) message.reasoning_content = reasoning.join('')
  if (refusals.length > 0) message.refusal = refusals.join('')
  return { ...message, ...lists }
}
