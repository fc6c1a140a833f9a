// Short ways to write a history down in a test.

import type { Entry } from '../src/core/log.ts'
import type { Message, MediaPart, Part, Reply, ToolCallPart, ToolMessage, UserMessage } from '../src/core/message.ts'

export function user(...parts: (string | UserMessage['parts'][number])[]): UserMessage {
  return { role: 'user', parts: parts.map((part) => (typeof part === 'string' ? { type: 'text', text: part } : part)) }
}

/** A reply from elsewhere: no wire can send it natively. */
export function reply(...parts: (string | Part | Part[])[]): Reply {
  const list = parts.flatMap((part): Part[] =>
    typeof part === 'string' ? [{ type: 'text', text: part }] : [part].flat(),
  )
  const asks = list.some((part) => part.type === 'tool-call')
  return {
    role: 'assistant',
    parts: list,
    native: [],
    origin: { protocol: 'elsewhere', provider: 'elsewhere', model: 'a-model' },
    stop: { reason: asks ? 'tool-calls' : 'done' },
  }
}

export function calls(...ids: string[]): ToolCallPart[] {
  return ids.map((callId) => ({ type: 'tool-call', callId, name: 'tool', input: {} }))
}

export function call(callId: string, name: string, input: ToolCallPart['input'] = {}): ToolCallPart {
  return { type: 'tool-call', callId, name, input }
}

export function result(callId: string, text: string, name = 'tool'): ToolMessage {
  return { role: 'tool', parts: [{ type: 'tool-result', callId, name, output: [{ type: 'text', text }] }] }
}

export function failure(callId: string, text: string, name = 'tool'): ToolMessage {
  return {
    role: 'tool',
    parts: [{ type: 'tool-result', callId, name, output: [{ type: 'text', text }], failed: true }],
  }
}

export const onePixelBase64 =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=='

export const onePixelUrl = `data:image/png;base64,${onePixelBase64}`

export const onePixel: MediaPart = {
  type: 'media',
  mediaType: 'image/png',
  data: { kind: 'base64', base64: onePixelBase64 },
}

/** "What time is it?" with one tool call: the smallest conversation that every wire writes differently. */
export const whatTimeIsIt: Message[] = [
  user('What time is it?'),
  reply(call('c1', 'clock', { zone: 'UTC' })),
  result('c1', '12:00', 'clock'),
  reply('It is noon.'),
]

/** A history as the entries of one path, without times. */
export function entriesOf(...messages: Message[]): Entry[] {
  return messages.map((message, depth) => ({
    id: `e${depth}`,
    conversationId: 'c',
    parentId: depth === 0 ? null : `e${depth - 1}`,
    depth,
    message,
    at: '',
  }))
}
