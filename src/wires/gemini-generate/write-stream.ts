// A reply as the chunks of streamGenerateContent, while it is streaming: texts and thoughts in pieces, calls complete,
// and the finish reason with the usage in the last chunk.

import { folding } from '../../core/fold.ts'
import { isObject, type Json } from '../../core/json.ts'
import { noUsage } from '../../core/usage.ts'
import { partsInOrder, type StreamProfile, type StreamWriter } from '../shared/stream-writer.ts'
import { errorBody, partsOf, signed, whole } from './emulate.ts'
import { protocolId, type GeminiPart } from './types.ts'

export function writer(profile: StreamProfile): StreamWriter {
  const fold = folding({ protocol: protocolId, provider: '', model: profile.model })
  const frame = { modelVersion: profile.model, responseId: profile.replyId }
  const parts = partsInOrder({
    open: () => [],
    more(part, text) {
      if (part.type === 'text') return [chunk([{ text }])]
      return part.type === 'reasoning' ? [chunk([{ text, thought: true }])] : []
    },
    close(part) {
      if (part.type === 'text' || part.type === 'reasoning') return []
      // Only a token of the server: nothing else is invented.
      const written = profile.token ? signed(partsOf(part), profile) : partsOf(part)
      return written.length === 0 ? [] : [chunk(written)]
    },
  })

  return {
    push(event) {
      fold.push(event)
      return parts.push(event)
    },
    end() {
      const { reply, usage = noUsage } = fold.result()
      const out = parts.end()
      const body = whole({ ...reply, native: [] }, { ...profile, usage })
      const { candidates, usageMetadata = {} } = isObject(body) ? body : {}
      const [candidate] = Array.isArray(candidates) ? candidates : []
      const { content: _content, ...outcome } = isObject(candidate) ? candidate : {}
      // Clients read the content of every chunk.
      const last = { content: { parts: [{ text: '' }], role: 'model' }, ...outcome }
      return [...out, { candidates: [last], usageMetadata, ...frame }]
    },
    fail: (issue) => [errorBody(issue)],
  }

  function chunk(written: GeminiPart[]): Json {
    return { candidates: [{ content: { parts: written, role: 'model' }, index: 0 }], ...frame }
  }
}
