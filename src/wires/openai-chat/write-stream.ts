// A reply as the chunks of a chat completion, while it is streaming: the role first, name and id of a call once, and
// the usage in a separate chunk for clients that request it.

import { folding } from '../../core/fold.ts'
import { isObject, type Json } from '../../core/json.ts'
import { noUsage } from '../../core/usage.ts'
import { openaiErrorBody } from '../shared/openai-rules.ts'
import { completionChunks } from '../message-list/write-stream.ts'
import { partsInOrder, type StreamProfile, type StreamWriter } from '../shared/stream-writer.ts'
import { messageFromParts, whole } from './emulate.ts'
import { protocolId } from './types.ts'

export function writer(profile: StreamProfile): StreamWriter {
  const { head, chunk, opened, closed } = completionChunks(profile)
  const fold = folding({ protocol: protocolId, provider: '', model: profile.model })
  let calls = 0
  const parts = partsInOrder({
    open(part) {
      if (part.type !== 'tool-call') return []
      const index = calls++
      const call = { index, id: part.callId, type: 'function', function: { name: part.name, arguments: '' } }
      return [chunk({ tool_calls: [call] })]
    },
    more(part, text) {
      switch (part.type) {
        case 'text':
          return [chunk({ content: text })]
        case 'reasoning':
          return [chunk({ reasoning_content: text })]
        case 'refusal':
          return [chunk({ refusal: text })]
        case 'tool-call':
          return [chunk({ tool_calls: [{ index: calls - 1, function: { arguments: text } }] })]
        default:
          return []
      }
    },
    close(part) {
      if (part.type === 'tool-call' || part.type === 'reasoning' || part.type === 'refusal') return []
      // What does not grow is sent once: citations, images, server tools.
      const { role: _role, content: _content, ...rest } = messageFromParts([part])
      return Object.keys(rest).length === 0 ? [] : [chunk(rest)]
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
      const body = whole({ ...reply, native: [] }, { ...profile, usage })
      const [choice] = isObject(body) && Array.isArray(body.choices) ? body.choices : []
      out.push({ ...head, choices: [{ index: 0, delta: {}, finish_reason: finishIn(choice) }] })
      if (profile.includeUsage && isObject(body)) out.push({ ...head, choices: [], usage: body.usage ?? null })
      return closed(out)
    },
    fail: (issue) => [openaiErrorBody(issue)],
  }
}

function finishIn(choice: Json | undefined): Json {
  return isObject(choice) ? (choice.finish_reason ?? null) : null
}
