// A reply as the chunks of Mistral's chat completions, while it is streaming: thinking as chunks of content, calls
// complete, and the usage in the last chunk.

import { folding } from '../../core/fold.ts'
import { isObject, type JsonObject } from '../../core/json.ts'
import type { Part } from '../../core/message.ts'
import { noUsage } from '../../core/usage.ts'
import { completionChunks } from '../message-list/write-stream.ts'
import { partsInOrder, type StreamProfile, type StreamWriter } from '../shared/stream-writer.ts'
import { errorBody, whole } from './emulate.ts'
import { protocolId } from './types.ts'

export function writer(profile: StreamProfile): StreamWriter {
  const { head, chunk, opened, closed } = completionChunks(profile)
  const fold = folding({ protocol: protocolId, provider: '', model: profile.model })
  let calls = 0
  const parts = partsInOrder({
    open: () => [],
    more(part, text) {
      if (part.type === 'text' || part.type === 'refusal') return [chunk({ content: text })]
      if (part.type !== 'reasoning') return []
      return [chunk({ content: [{ type: 'thinking', thinking: [{ type: 'text', text }] }] })]
    },
    close(part) {
      const call = callIn(part)
      return call ? [chunk({ tool_calls: [{ ...call, index: calls++ }] })] : []
    },
  })

  return {
    push(event) {
      fold.push(event)
      return opened(parts.push(event))
    },
    end() {
      const { reply, usage = noUsage } = fold.result()
      const out = opened(parts.end())
      const body = bodyOf({ ...reply, native: [] }, usage)
      const [choice] = Array.isArray(body.choices) ? body.choices : []
      const finish_reason = isObject(choice) ? (choice.finish_reason ?? null) : null
      const last = {
        ...head,
        choices: [{ index: 0, delta: { content: '' }, finish_reason }],
        usage: body.usage ?? null,
      }
      return closed([...out, last])
    },
    fail: (issue) => [errorBody(issue)],
  }

  /** A call as in the complete reply. */
  function callIn(part: Part): JsonObject | undefined {
    if (part.type !== 'tool-call') return undefined
    const { reply } = fold.result()
    const body = bodyOf({ ...reply, native: [], parts: [part] }, noUsage)
    const [choice] = Array.isArray(body.choices) ? body.choices : []
    const message = isObject(choice) && isObject(choice.message) ? choice.message : {}
    const [call] = Array.isArray(message.tool_calls) ? message.tool_calls : []
    return isObject(call) ? call : undefined
  }

  function bodyOf(reply: Parameters<typeof whole>[0], usage: typeof noUsage): JsonObject {
    const body = whole(reply, { ...profile, usage })
    return isObject(body) ? body : {}
  }
}
