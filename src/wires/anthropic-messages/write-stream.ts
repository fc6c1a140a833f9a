// A reply as the events of a message, while it is streaming: one block at a time. Thinking of another provider has no
// signature, or a token of our server: the real API would refuse an invented one.

import { folding } from '../../core/fold.ts'
import { isObject, type Json, type JsonObject } from '../../core/json.ts'
import type { Part } from '../../core/message.ts'
import { noUsage } from '../../core/usage.ts'
import { partsInOrder, type StreamProfile, type StreamWriter } from '../shared/stream-writer.ts'
import { blocksFor, errorBody, whole, wireUsage } from './emulate.ts'
import { protocolId } from './types.ts'

export function writer(profile: StreamProfile): StreamWriter {
  const fold = folding({ protocol: protocolId, provider: '', model: profile.model })
  let begun = false
  let blocks = 0
  const parts = partsInOrder({
    open(part) {
      const block = growing(part)
      return block ? [{ type: 'content_block_start', index: blocks, content_block: block }] : []
    },
    more(part, text) {
      const delta = deltaFor(part, text)
      return delta ? [{ type: 'content_block_delta', index: blocks, delta }] : []
    },
    close(part) {
      if (growing(part)) {
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
  })

  return {
    push(event) {
      fold.push(event)
      return opened(parts.push(event))
    },
    end() {
      const { reply, usage = noUsage } = fold.result()
      const body = whole({ ...reply, native: [] }, { ...profile, usage })
      const { stop_reason = null, stop_sequence = null, stop_details } = isObject(body) ? body : {}
      const delta = { stop_reason, stop_sequence, ...(stop_details && { stop_details }) }
      return opened([
        ...parts.end(),
        { type: 'message_delta', delta, usage: wireUsage(usage) },
        { type: 'message_stop' },
      ])
    },
    fail: (issue) => [errorBody(issue)],
  }

  function signatureOf(part: Part, index: number): Json[] {
    const signature = part.type === 'reasoning' ? profile.token?.() : undefined
    if (signature === undefined) return []
    return [{ type: 'content_block_delta', index, delta: { type: 'signature_delta', signature } }]
  }

  function opened(events: Json[]): Json[] {
    if (begun || events.length === 0) return events
    begun = true
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
    return [{ type: 'message_start', message }, ...events]
  }
}

/** The start of a block that arrives in pieces; undefined for a complete one. */
function growing(part: Part): JsonObject | undefined {
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
