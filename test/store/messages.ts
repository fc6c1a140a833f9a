// Small messages for the store's tests.

import type { Json } from '../../src/core/json.ts'
import type { Part, Reply, ToolMessage, UserMessage } from '../../src/core/message.ts'

export function user(text: string): UserMessage {
  return { role: 'user', parts: [{ type: 'text', text }] }
}

export function reply(text: string, parts: Part[] = [], provider = 'openai'): Reply {
  return {
    role: 'assistant',
    parts: [{ type: 'text', text, from: 0 }, ...parts],
    native: [{ role: 'assistant', content: text }],
    origin: { protocol: 'openai-chat', provider, model: 'gpt-test', replyId: 'r-1' },
    stop: { reason: parts.some((part) => part.type === 'tool-call') ? 'tool-calls' : 'done', raw: 'stop' },
  }
}

export function call(callId: string, name: string, input: Json): Part {
  return { type: 'tool-call', callId, name, input, alias: `alias-${callId}` }
}

export function result(callId: string, name: string, text: string, value?: Json): ToolMessage {
  return {
    role: 'tool',
    parts: [
      {
        type: 'tool-result',
        callId,
        name,
        output: [{ type: 'text', text }],
        ...(value !== undefined && { value }),
        startedAt: '2026-11-15T10:00:00.000Z',
        endedAt: '2026-11-15T10:00:01.500Z',
      },
    ],
  }
}

export function textsOf(entries: readonly { message: { parts: readonly Part[] } }[]): string[] {
  return entries.map(({ message }) =>
    message.parts.map((part) => (part.type === 'text' ? part.text : part.type)).join(),
  )
}
