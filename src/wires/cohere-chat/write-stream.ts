// A reply as the events of Cohere's chat, while it is streaming: content and calls in pieces, and the usage in the last
// event.

import type { JsonObject } from '../../core/json.ts'
import type { Part } from '../../core/message.ts'
import { callFromPart } from '../message-list/write-stream.ts'
import { streamWriter, type StreamProfile, type StreamWriter } from '../shared/stream-writer.ts'
import {
  callDelta,
  callStart,
  contentDelta,
  contentStart,
  errorBody,
  messageOf,
  messageStart,
  split,
  whole,
} from './emulate.ts'
import { protocolId, textBlock, thinkingBlock } from './types.ts'
import { objectIn } from '../shared/json-fields.ts'

export function writer(profile: StreamProfile): StreamWriter {
  let blocks = 0
  let calls = 0
  return streamWriter(protocolId, profile, {
    first: () => [messageStart({ role: 'assistant' }, profile.replyId)],
    open(part) {
      const call = callFromPart(part, messageOf)
      if (call) return [callStart(withoutArguments(call), calls)]
      const block = blockOf(part, '')
      return block ? [contentStart(block, blocks)] : []
    },
    more(part, text) {
      if (part.type === 'tool-call') return [callDelta(text, calls)]
      const block = blockOf(part, text)
      if (!block) return []
      const { type: _, ...delta } = block
      return [contentDelta(delta, blocks)]
    },
    close(part) {
      if (part.type === 'tool-call') return [{ type: 'tool-call-end', index: calls++ }]
      return blockOf(part, '') ? [{ type: 'content-end', index: blocks++ }] : []
    },
    last: (reply, facts) => split(whole({ ...reply, parts: [] }, facts)).slice(-1),
    error: errorBody,
  })
}

function withoutArguments(call: JsonObject): JsonObject {
  return { ...call, function: { ...objectIn(call.function), arguments: '' } }
}

function blockOf(part: Part, text: string): JsonObject | undefined {
  if (part.type === 'text' || part.type === 'refusal') return textBlock(text)
  return part.type === 'reasoning' ? thinkingBlock(text) : undefined
}
