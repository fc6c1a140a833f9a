// A reply as the chunks of a chat completion, while it is streaming: the role first, name and id of a call once, and
// the usage in a separate chunk for clients that request it.

import type { Part, ToolCallPart } from '../../core/message.ts'
import { textOfCall } from '../../core/tool-kinds.ts'
import { completionChunks, finishReasonIn } from '../message-list/write-stream.ts'
import { openaiErrorBody } from '../shared/openai-rules.ts'
import { valueAt } from '../shared/json-fields.ts'
import { streamWriter, type StreamProfile, type StreamWriter } from '../shared/stream-writer.ts'
import { messageFromParts, whole } from './emulate.ts'
import { protocolId } from './types.ts'

export function writer(profile: StreamProfile): StreamWriter {
  const { head, chunk, first } = completionChunks(profile)
  let calls = 0
  return streamWriter(protocolId, profile, {
    first,
    open(part) {
      if (part.type !== 'tool-call') return []
      const index = calls++
      const { callId: id, name } = part
      const form = isFreeForm(part)
        ? { type: 'custom', custom: { name, input: '' } }
        : { type: 'function', function: { name, arguments: '' } }
      return [chunk({ tool_calls: [{ index, id, ...form }] })]
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
          return isFreeForm(part) ? [] : [chunk({ tool_calls: [{ index: calls - 1, function: { arguments: text } }] })]
        default:
          return []
      }
    },
    close(part) {
      // The text of a free-form call is inside the JSON of its arguments, so it is written when that is complete.
      if (isFreeForm(part)) return [chunk({ tool_calls: [{ index: calls - 1, custom: { input: textOfCall(part) } }] })]
      if (part.type === 'tool-call' || part.type === 'reasoning' || part.type === 'refusal') return []
      // What does not grow is sent once: citations, images, server tools.
      const { role: _role, content: _content, ...rest } = messageFromParts([part])
      return Object.keys(rest).length === 0 ? [] : [chunk(rest)]
    },
    last(reply, facts) {
      const body = whole(reply, facts)
      const end = chunk({}, finishReasonIn(body))
      return profile.includeUsage ? [end, { ...head, choices: [], usage: valueAt(body, 'usage') ?? null }] : [end]
    },
    error: openaiErrorBody,
  })
}

function isFreeForm(part: Part): part is ToolCallPart & { kind: 'free-form' } {
  return part.type === 'tool-call' && part.kind === 'free-form'
}
