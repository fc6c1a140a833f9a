// A reply as the chunks of streamGenerateContent, while it is streaming: texts and thoughts in pieces, calls complete,
// and the finish reason with the usage in the last chunk.

import type { Json } from '../../core/json.ts'
import { objectIn, objectsIn } from '../shared/json-fields.ts'
import { streamWriter, type StreamProfile, type StreamWriter } from '../shared/stream-writer.ts'
import { errorBody, partsOf, withSignatures, whole } from './emulate.ts'
import { protocolId, type GeminiPart } from './types.ts'

export function writer(profile: StreamProfile): StreamWriter {
  const frame = { modelVersion: profile.model, responseId: profile.replyId }
  const chunk = (parts: GeminiPart[]): Json => ({
    candidates: [{ content: { parts, role: 'model' }, index: 0 }],
    ...frame,
  })
  return streamWriter(protocolId, profile, {
    open: () => [],
    more(part, text) {
      if (part.type === 'text') return [chunk([{ text }])]
      return part.type === 'reasoning' ? [chunk([{ text, thought: true }])] : []
    },
    close(part) {
      if (part.type === 'text' || part.type === 'reasoning') return []
      // Only with a token of our server: a signature is never invented.
      const parts = profile.token ? withSignatures(partsOf(part), profile) : partsOf(part)
      return parts.length === 0 ? [] : [chunk(parts)]
    },
    last(reply, facts) {
      const body = whole(reply, facts)
      const { candidates, usageMetadata = {} } = objectIn(body)
      const { content: _content, ...outcome } = objectsIn(candidates)[0] ?? {}
      // Clients read the content of every chunk.
      const candidate = { content: { parts: [{ text: '' }], role: 'model' }, ...outcome }
      return [{ candidates: [candidate], usageMetadata, ...frame }]
    },
    error: errorBody,
  })
}
