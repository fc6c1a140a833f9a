// A minimal wire: text, thoughts, an error, an end. For what the transport itself guarantees.

import type { Failure } from '../../src/core/error.ts'
import type { ReplyEvent } from '../../src/core/event.ts'
import { isObject, type Json } from '../../src/core/json.ts'
import type { Origin, Part, Stop } from '../../src/core/message.ts'
import { readFailure } from '../../src/wires/shared/failure.ts'
import type { Decoder, EndCause, Framing, Wire } from '../../src/wires/wire.ts'

export const origin: Origin = { protocol: 'toy', provider: 'toybox', model: 'bear' }

export function toy(framing: Framing = { kind: 'sse', done: '[DONE]' }): Wire {
  const unused = (): never => {
    throw new Error('not part of this test')
  }
  return {
    id: 'toy',
    framing,
    capabilities: {
      media: [],
      mediaUrls: false,
      resultMedia: [],
      tools: false,
      sampling: false,
      forcedTool: false,
      prefill: false,
      midSystem: false,
      efforts: [],
    },
    encode: unused,
    refuse: unused,
    errorBody: unused,
    whole: unused,
    decoder,
    split: (whole) => (isObject(whole) ? [{ text: whole.text ?? '' }, { end: true }] : []),
  }
}

function decoder(from: Origin): Decoder {
  const parts: Part[] = []
  let current: { index: number; type: 'text' | 'reasoning'; text: string } | undefined
  let started = false
  let ended = false
  let failure: Failure | undefined

  function close(): ReplyEvent[] {
    if (!current) return []
    const part = { type: current.type, text: current.text } as const
    parts.push(part)
    const event: ReplyEvent = { type: 'part-end', index: current.index, part }
    current = undefined
    return [event]
  }

  function more(type: 'text' | 'reasoning', text: string): ReplyEvent[] {
    const events: ReplyEvent[] = []
    if (current?.type !== type) {
      events.push(...close())
      current = { index: parts.length, type, text: '' }
      events.push({ type: 'part-start', index: current.index, part: { type, text: '' } })
    }
    current.text += text
    events.push({ type: 'part-delta', index: current.index, text })
    return events
  }

  function read(chunk: Json): ReplyEvent[] {
    if (!isObject(chunk)) return []
    if (chunk.error !== undefined) {
      failure = readFailure({ body: chunk, provider: from.provider })
      ended = true
    }
    if (chunk.end) ended = true
    if (typeof chunk.think === 'string') return more('reasoning', chunk.think)
    if (typeof chunk.text === 'string') return more('text', chunk.text)
    return []
  }

  function stopOf(cause: EndCause | undefined): Stop {
    if (cause) return { reason: cause.reason }
    if (failure) return { reason: 'failed' }
    return { reason: ended ? 'done' : 'interrupted' }
  }

  return {
    push(chunk) {
      const start: ReplyEvent[] = started ? [] : [{ type: 'reply-start', origin: { ...from, replyId: 'r1' } }]
      started = true
      return [...start, ...read(chunk)]
    },
    end(cause) {
      const told = cause && 'failure' in cause ? cause.failure : failure
      const cut: Failure | undefined =
        cause || ended ? undefined : { kind: 'malformed-reply', message: 'the end is missing' }
      const last = told ?? cut
      const events = close()
      events.push({
        type: 'reply-end',
        origin: from,
        stop: stopOf(cause),
        native: parts.map(({ type }) => ({ type })),
        ...(last && { failure: last }),
      })
      return events
    },
    get done() {
      return ended
    },
  }
}
