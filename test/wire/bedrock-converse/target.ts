// The usual target and a short way to a body, for the tests of this wire.

import type { Context } from '../../../src/core/context.ts'
import type { JsonObject } from '../../../src/core/json.ts'
import type { Message, Reply } from '../../../src/core/message.ts'
import { bedrockConverse } from '../../../src/wires/bedrock-converse/index.ts'
import type { Encoded, Target } from '../../../src/wires/wire.ts'

export const model = 'us.amazon.nova-2-lite-v1:0'

export const target: Target = {
  provider: 'bedrock',
  model,
  options: {},
  quirks: {},
  capabilities: bedrockConverse.capabilities,
}

export function encoded(messages: Message[], changes: Partial<Target> = {}, context: Partial<Context> = {}): Encoded {
  return bedrockConverse.encode(
    { system: [], messages, tools: [], cacheAfter: [], ...context },
    { ...target, ...changes },
  )
}

/** With what a model takes in place of what the wire takes. */
export function takes(capabilities: Partial<Target['capabilities']>): Partial<Target> {
  return { capabilities: { ...target.capabilities, ...capabilities } }
}

/** A reply that this model itself wrote. */
export function own(native: JsonObject[], parts: Reply['parts']): Reply {
  const origin = { protocol: 'bedrock-converse', provider: 'bedrock', model }
  return { role: 'assistant', parts, native, origin, stop: { reason: 'done' } }
}
