// A reply as the lines of Ollama's chat, while it is streaming: text and thinking in pieces, calls complete, and the
// counts in the last line.

import { folding } from '../../core/fold.ts'
import { isObject, type Json, type JsonObject } from '../../core/json.ts'
import { noUsage } from '../../core/usage.ts'
import { partsInOrder, type StreamProfile, type StreamWriter } from '../shared/stream-writer.ts'
import { errorBody, whole } from './emulate.ts'
import { protocolId } from './types.ts'

export function writer(profile: StreamProfile): StreamWriter {
  const head = { model: profile.model, created_at: new Date(profile.createdAt * 1000).toISOString() }
  const fold = folding({ protocol: protocolId, provider: '', model: profile.model })
  let calls = 0
  const parts = partsInOrder({
    open: () => [],
    more(part, text) {
      if (part.type === 'text' || part.type === 'refusal') return [line({ content: text })]
      return part.type === 'reasoning' ? [line({ content: '', thinking: text })] : []
    },
    close(part) {
      if (part.type !== 'tool-call') return []
      const { reply } = fold.result()
      const { message } = bodyOf({ ...reply, native: [], parts: [part] }, noUsage)
      const [call] = isObject(message) && Array.isArray(message.tool_calls) ? message.tool_calls : []
      if (!isObject(call) || !isObject(call.function)) return []
      return [line({ content: '', tool_calls: [{ ...call, function: { ...call.function, index: calls++ } }] })]
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
      const body = bodyOf({ ...reply, native: [], parts: [] }, usage)
      return [...out, { ...body, message: { role: 'assistant', content: '' } }]
    },
    fail: (issue) => [errorBody(issue)],
  }

  function bodyOf(reply: Parameters<typeof whole>[0], usage: typeof noUsage): JsonObject {
    const body = whole(reply, { ...profile, usage })
    return isObject(body) ? body : {}
  }

  function line(message: JsonObject): Json {
    return { ...head, message: { role: 'assistant', ...message }, done: false }
  }
}
