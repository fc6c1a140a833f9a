// What the streams of message-list wires have in common: the chunks of OpenAI and Mistral, and calls that are sent
// complete.

import { isObject, type Json, type JsonObject } from '../../core/json.ts'
import type { Part, Reply } from '../../core/message.ts'
import { objectsIn } from '../shared/json-fields.ts'
import type { StreamProfile } from '../shared/stream-writer.ts'

interface CompletionChunks {
  /** The fields of every chunk. */
  head: JsonObject
  chunk(delta: JsonObject, finish?: Json): JsonObject
  /** The first chunk names the role. */
  first(): Json[]
}

export function completionChunks({ replyId, createdAt, model }: StreamProfile): CompletionChunks {
  const head = { id: replyId, object: 'chat.completion.chunk', created: createdAt, model }
  const chunk = (delta: JsonObject, finish: Json = null) => ({
    ...head,
    choices: [{ index: 0, delta, finish_reason: finish }],
  })
  return { head, chunk, first: () => [chunk({ role: 'assistant', content: '' })] }
}

/** The finish reason of a complete chat completion. */
export function finishReasonIn(body: Json): Json {
  const [choice] = isObject(body) ? objectsIn(body.choices) : []
  return choice?.finish_reason ?? null
}

/** A call as `message` writes it in a complete reply; undefined for any other part. */
export function callFromPart(part: Part, message: (reply: Reply) => JsonObject): JsonObject | undefined {
  if (part.type !== 'tool-call') return undefined
  const origin = { protocol: '', provider: '', model: '' }
  const reply: Reply = { role: 'assistant', parts: [part], native: [], origin, stop: { reason: 'tool-calls' } }
  return objectsIn(message(reply).tool_calls)[0]
}
