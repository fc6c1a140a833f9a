// The chunks of a streamed chat completion, as OpenAI and Mistral send them: the first one names the role.

import type { Json, JsonObject } from '../../core/json.ts'
import type { StreamProfile } from '../shared/stream-writer.ts'

export interface CompletionChunks {
  /** The fields of every chunk. */
  head: JsonObject
  chunk(delta: JsonObject): Json
  /** These chunks, after the first one if nothing has been sent. */
  opened(chunks: Json[]): Json[]
  /** The same at the end of a reply, which may have no content. */
  closed(chunks: Json[]): Json[]
}

export function completionChunks({ replyId, createdAt, model }: StreamProfile): CompletionChunks {
  const head = { id: replyId, object: 'chat.completion.chunk', created: createdAt, model }
  let begun = false
  const chunk = (delta: JsonObject): Json => ({ ...head, choices: [{ index: 0, delta, finish_reason: null }] })
  const closed = (chunks: Json[]): Json[] => {
    if (begun) return chunks
    begun = true
    return [chunk({ role: 'assistant', content: '' }), ...chunks]
  }
  return { head, chunk, opened: (chunks) => (chunks.length === 0 ? chunks : closed(chunks)), closed }
}
