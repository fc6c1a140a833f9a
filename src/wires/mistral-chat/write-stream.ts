// A reply as the chunks of Mistral's chat completions, while it is streaming: thinking as chunks of content, calls
// complete, and the usage in the last chunk.

import { callFromPart, completionChunks, finishReasonIn } from '../message-list/write-stream.ts'
import { valueAt } from '../shared/json-fields.ts'
import { streamWriter, type StreamProfile, type StreamWriter } from '../shared/stream-writer.ts'
import { errorBody, messageOf, whole } from './emulate.ts'
import { protocolId } from './types.ts'

export function writer(profile: StreamProfile): StreamWriter {
  const { chunk, first } = completionChunks(profile)
  let calls = 0
  return streamWriter(protocolId, profile, {
    first,
    open: () => [],
    more(part, text) {
      if (part.type === 'text' || part.type === 'refusal') return [chunk({ content: text })]
      if (part.type !== 'reasoning') return []
      return [chunk({ content: [{ type: 'thinking', thinking: [{ type: 'text', text }] }] })]
    },
    close(part) {
      const call = callFromPart(part, messageOf)
      return call ? [chunk({ tool_calls: [{ ...call, index: calls++ }] })] : []
    },
    last(reply, facts) {
      const body = whole(reply, facts)
      return [{ ...chunk({ content: '' }, finishReasonIn(body)), usage: valueAt(body, 'usage') ?? null }]
    },
    error: errorBody,
  })
}
