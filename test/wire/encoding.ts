// Short ways to encode for one wire in a test, with the usual target of its provider.

import type { Context } from '../../src/core/context.ts'
import type { Json } from '../../src/core/json.ts'
import type { Message, Reply } from '../../src/core/message.ts'
import type { Encoded, Target, Wire } from '../../src/wires/wire.ts'

export interface Encoding {
  target: Target
  encoded(messages: Message[], changes?: Partial<Target>, context?: Partial<Context>): Encoded
  wireMessages(messages: Message[], changes?: Partial<Target>, context?: Partial<Context>): Json | undefined
  /** A reply that the provider itself wrote. */
  own(native: Reply['native'][number], parts: Reply['parts'], stop?: Reply['stop']): Reply
}

export function encoding(wire: Wire, provider: string, model: string): Encoding {
  const target: Target = { provider, model, options: {}, quirks: {}, capabilities: wire.capabilities }
  const encoded: Encoding['encoded'] = (messages, changes = {}, context = {}) =>
    wire.encode({ system: [], messages, tools: [], cacheAfter: [], ...context }, { ...target, ...changes })
  return {
    target,
    encoded,
    wireMessages: (...given) => encoded(...given).body.messages,
    own: (native, parts, stop = { reason: 'done' }) => ({
      role: 'assistant',
      parts: parts.map((part) => (part.type === 'tool-result' ? part : { ...part, from: 0 })),
      native: [native],
      origin: { protocol: wire.id, provider, model },
      stop,
    }),
  }
}
