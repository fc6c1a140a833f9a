// The usual target and a short way to a body, for the tests of this wire.

import type { Context } from '../../../src/core/context.ts'
import type { Message, Reply } from '../../../src/core/message.ts'
import { cohereChat } from '../../../src/wires/cohere-chat/index.ts'
import type { Encoded, Target } from '../../../src/wires/wire.ts'

export const target: Target = {
  provider: 'cohere',
  model: 'command-a-03-2025',
  options: {},
  quirks: {},
  capabilities: cohereChat.capabilities,
}

export function encoded(messages: Message[], changes: Partial<Target> = {}, context: Partial<Context> = {}): Encoded {
  return cohereChat.encode({ system: [], messages, tools: [], cacheAfter: [], ...context }, { ...target, ...changes })
}

export function wireMessages(messages: Message[], changes: Partial<Target> = {}, context: Partial<Context> = {}) {
  return encoded(messages, changes, context).body.messages
}

/** A reply that Cohere itself wrote. */
export function own(
  native: Reply['native'][number],
  parts: Reply['parts'],
  stop: Reply['stop'] = { reason: 'done' },
): Reply {
  return {
    role: 'assistant',
    parts: parts.map((part) => (part.type === 'tool-result' ? part : { ...part, from: 0 })),
    native: [native],
    origin: { protocol: 'cohere-chat', provider: 'cohere', model: 'command-a-03-2025' },
    stop,
  }
}
