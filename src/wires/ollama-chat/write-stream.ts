// A reply as the lines of Ollama's chat, while it is streaming: text and thinking in pieces, calls complete, and the
// counts in the last line.

import { isObject, type Json, type JsonObject } from '../../core/json.ts'
import { callFromPart } from '../message-list/write-stream.ts'
import { streamWriter, type StreamProfile, type StreamWriter } from '../shared/stream-writer.ts'
import { errorBody, messageOf, whole } from './emulate.ts'
import { protocolId } from './types.ts'

export function writer(profile: StreamProfile): StreamWriter {
  const head = { model: profile.model, created_at: new Date(profile.createdAt * 1000).toISOString() }
  const line = (message: JsonObject): Json => ({ ...head, message: { role: 'assistant', ...message }, done: false })
  let calls = 0
  let first: number | undefined
  return streamWriter(protocolId, profile, {
    open() {
      first ??= profile.elapsed?.()
      return []
    },
    more(part, text) {
      if (part.type === 'text' || part.type === 'refusal') return [line({ content: text })]
      return part.type === 'reasoning' ? [line({ content: '', thinking: text })] : []
    },
    close(part) {
      const call = callFromPart(part, messageOf)
      if (!call || !isObject(call.function)) return []
      return [line({ content: '', tool_calls: [{ ...call, function: { ...call.function, index: calls++ } }] })]
    },
    last: (reply, facts) => [{ ...whole(reply, facts, first), message: { role: 'assistant', content: '' } }],
    error: errorBody,
  })
}
