// One call of the toy wire, and its outcome.

import type { ReplyEvent } from '../../src/core/event.ts'
import { fold, type Folded } from '../../src/core/fold.ts'
import { streamReply, type ReplyCall, type RetryEvent } from '../../src/transport/reply.ts'
import { origin, toy } from './toy-protocol.ts'

export const key = 'canary-0123456789-abcdef'

export interface Called extends Folded {
  events: (ReplyEvent | RetryEvent)[]
  retries: Extract<RetryEvent, { type: 'retry' }>[]
  text: string
  waits: number[]
}

export function callOf(url: string, more: Partial<ReplyCall> = {}): ReplyCall {
  return {
    protocol: toy(),
    url,
    headers: { authorization: `Bearer ${key}` },
    body: '{"hello":true}',
    origin,
    provider: 'toybox',
    retry: { random: () => 0 },
    sleep: async () => {},
    ...more,
  }
}

export async function call(url: string, more: Partial<ReplyCall> = {}): Promise<Called> {
  const events: (ReplyEvent | RetryEvent)[] = []
  for await (const event of streamReply(callOf(url, more))) events.push(event)
  return summed(events)
}

export function summed(events: (ReplyEvent | RetryEvent)[]): Called {
  const retries = events.filter((event) => event.type === 'retry')
  const folded = fold(
    events.filter((event) => event.type !== 'retry' && event.type !== 'no-retry'),
    origin,
  )
  const text = folded.reply.parts.map((part) => (part.type === 'text' ? part.text : '')).join('')
  return { ...folded, events, retries, text, waits: retries.map(({ waitMs }) => waitMs) }
}
