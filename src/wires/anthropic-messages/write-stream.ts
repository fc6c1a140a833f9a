// A reply as the events of a message, while it is streaming: one block at a time. Thinking of another provider has no
// signature, or a token of our server: the real API would refuse an invented one.

import type { Json, JsonObject } from '../../core/json.ts'
import type { Part } from '../../core/message.ts'
import { noUsage } from '../../core/usage.ts'
import { streamWriter, type StreamProfile, type StreamWriter } from '../shared/stream-writer.ts'
import { blocksFor, errorBody, whole, wireUsage } from './emulate.ts'
import { protocolId } from './types.ts'
import { objectIn } from '../shared/json-fields.ts'

export function writer(profile: StreamProfile): StreamWriter {
  let blocks = 0
  return streamWriter(protocolId, profile, {
    first() {
      const message = {
        id: profile.replyId,
        type: 'message',
        role: 'assistant',
        model: profile.model,
        content: [],
        stop_reason: null,
        stop_sequence: null,
        usage: wireUsage({ ...noUsage, input: profile.inputTokens, output: 1 }),
      }
      return [{ type: 'message_start', message }]
    },
    open(part) {
      const block = growingBlock(part)
      return block ? [{ type: 'content_block_start', index: blocks, content_block: block }] : []
    },
    more(part, text) {
      const delta = deltaFor(part, text)
      return delta ? [{ type: 'content_block_delta', index: blocks, delta }] : []
    },
    close(part) {
      if (growingBlock(part)) {
        const citations = part.type === 'text' ? (part.citations ?? []) : []
        const index = blocks++
        return [
          ...citations.map((citation) => ({
            type: 'content_block_delta',
            index,
            delta: { type: 'citations_delta', citation },
          })),
          ...signatureOf(part, index),
          { type: 'content_block_stop', index },
        ]
      }
      return blocksFor(part, `${profile.replyId}/${blocks}`, profile).flatMap((block) => {
        const index = blocks++
        return [
          { type: 'content_block_start', index, content_block: block },
          { type: 'content_block_stop', index },
        ]
      })
    },
    last(reply, facts) {
      const body = whole(reply, facts)
      const { stop_reason = null, stop_sequence = null, stop_details } = objectIn(body)
      const delta = { stop_reason, stop_sequence, ...(stop_details && { stop_details }) }
      return [{ type: 'message_delta', delta, usage: wireUsage(facts.usage) }, { type: 'message_stop' }]
    },
    error: errorBody,
  })

  function signatureOf(part: Part, index: number): Json[] {
    const signature = part.type === 'reasoning' ? profile.token?.() : undefined
    if (signature === undefined) return []
    return [{ type: 'content_block_delta', index, delta: { type: 'signature_delta', signature } }]
  }
}

/** The start of a block that arrives in pieces; undefined for a complete one. */
function growingBlock(part: Part): JsonObject | undefined {
  switch (part.type) {
    case 'text':
      return { type: 'text', text: '' }
    case 'reasoning':
      return { type: 'thinking', thinking: '', signature: '' }
    case 'tool-call':
      return { type: 'tool_use', id: part.callId, name: part.name, input: {} }
    default:
      return undefined
  }
}

function deltaFor(part: Part, text: string): JsonObject | undefined {
  switch (part.type) {
    case 'text':
      return { type: 'text_delta', text }
    case 'reasoning':
      return { type: 'thinking_delta', thinking: text }
    case 'tool-call':
      return { type: 'input_json_delta', partial_json: text }
    default:
      return undefined
  }
}
