// A reply as the events of Cohere's chat, while it is streaming: content and calls in pieces, and the usage in the last
// one.

import { folding } from '../../core/fold.ts'
import { isObject, type Json, type JsonObject } from '../../core/json.ts'
import type { Part } from '../../core/message.ts'
import { noUsage, type Usage } from '../../core/usage.ts'
import { partsInOrder, type StreamProfile, type StreamWriter } from '../shared/stream-writer.ts'
import { callDelta, callStart, contentDelta, contentStart, errorBody, split, whole } from './emulate.ts'
import { protocolId, textBlock, thinkingBlock } from './types.ts'

export function writer(profile: StreamProfile): StreamWriter {
  const fold = folding({ protocol: protocolId, provider: '', model: profile.model })
  let begun = false
  let blocks = 0
  let calls = 0
  const parts = partsInOrder({
    open(part) {
      if (part.type === 'tool-call') return [callStart(withoutArguments(part), calls)]
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
  })

  return {
    push(event) {
      fold.push(event)
      return opened(parts.push(event))
    },
    end() {
      const { reply, usage = noUsage } = fold.result()
      const [first, ...rest] = eventsOf({ ...reply, native: [], parts: [] }, usage)
      return [...opened(parts.end(), first), ...rest.slice(-1)]
    },
    fail: (issue) => [errorBody(issue)],
  }

  function withoutArguments(part: Part): Json {
    const { reply } = fold.result()
    const body = whole({ ...reply, native: [], parts: [part] }, { ...profile, usage: noUsage })
    const message = isObject(body) && isObject(body.message) ? body.message : {}
    const [call] = Array.isArray(message.tool_calls) ? message.tool_calls : []
    const fn = isObject(call) && isObject(call.function) ? call.function : {}
    return { ...(isObject(call) ? call : {}), function: { ...fn, arguments: '' } }
  }

  function eventsOf(reply: Parameters<typeof whole>[0], usage: Usage): Json[] {
    return split(whole(reply, { ...profile, usage }))
  }

  /** Preceded by the event that starts a message. */
  function opened(events: Json[], always?: Json): Json[] {
    if (begun || (events.length === 0 && always === undefined)) return events
    begun = true
    const { reply } = fold.result()
    const first = always ?? eventsOf({ ...reply, native: [], parts: [] }, noUsage)[0]
    return first === undefined ? events : [first, ...events]
  }
}

function blockOf(part: Part, text: string): JsonObject | undefined {
  if (part.type === 'text' || part.type === 'refusal') return textBlock(text)
  return part.type === 'reasoning' ? thinkingBlock(text) : undefined
}
