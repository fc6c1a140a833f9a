// The usual target and a short way to a body, for the tests of this wire.

import type { Context } from '../../../src/core/context.ts'
import type { Message, Reply } from '../../../src/core/message.ts'
import { ollamaChat } from '../../../src/wires/ollama-chat/index.ts'
import type { Encoded, Target } from '../../../src/wires/wire.ts'

export const target: Target = {
  provider: 'ollama',
  model: 'qwen3:8b',
  options: {},
  quirks: {},
  capabilities: ollamaChat.capabilities,
}

export function encoded(messages: Message[], changes: Partial<Target> = {}, context: Partial<Context> = {}): Encoded {
  return ollamaChat.encode({ system: [], messages, tools: [], cacheAfter: [], ...context }, { ...target, ...changes })
}

export function wireMessages(messages: Message[], changes: Partial<Target> = {}, context: Partial<Context> = {}) {
  return encoded(messages, changes, context).body.messages
}

/** A reply that this server's model itself wrote. */
export function own(
  native: Reply['native'][number],
  parts: Reply['parts'],
  stop: Reply['stop'] = { reason: 'done' },
): Reply {
  return {
    role: 'assistant',
    parts: parts.map((part) => (part.type === 'tool-result' ? part : { ...part, from: 0 })),
    native: [native],
    origin: { protocol: 'ollama-chat', provider: 'ollama', model: 'qwen3:8b' },
    stop,
  }
}
