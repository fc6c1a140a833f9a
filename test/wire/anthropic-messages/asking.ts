// Short ways to ask the encoder for a body.

import type { Context } from '../../../src/core/context.ts'
import type { Json, JsonObject } from '../../../src/core/json.ts'
import type { Message, Part, Reply } from '../../../src/core/message.ts'
import type { Options } from '../../../src/settings/options.ts'
import { anthropicMessages } from '../../../src/wires/anthropic-messages/index.ts'
import type { Capabilities, Encoded, Quirks, Target } from '../../../src/wires/wire.ts'
import { fold } from '../../../src/core/fold.ts'

export interface Asking extends Partial<Omit<Context, 'messages'>> {
  options?: Options
  capabilities?: Partial<Capabilities>
  quirks?: Quirks
  model?: string
  provider?: string
}

export function encode(messages: Message[], asking: Asking = {}): Encoded {
  const {
    options = {},
    capabilities = {},
    quirks = {},
    model = 'claude-opus-4-6',
    provider = 'anthropic',
    ...rest
  } = asking
  const target: Target = {
    provider,
    model,
    options,
    quirks,
    capabilities: { ...anthropicMessages.capabilities, ...capabilities },
  }
  return anthropicMessages.encode({ system: [], tools: [], cacheAfter: [], ...rest, messages }, target)
}

export function sent(messages: Message[], asking?: Asking): JsonObject[] {
  return encode(messages, asking).body.messages as JsonObject[]
}

export function texts(...all: string[]): JsonObject[] {
  return all.map((text) => ({ type: 'text', text }))
}

/** A reply of this API, read from its content. */
export function ownReply(content: Json[], origin: Partial<Reply['origin']> = {}, stop_reason = ''): Reply {
  const from = { protocol: 'anthropic-messages', provider: 'anthropic', model: 'claude-opus-4-6', ...origin }
  const decoder = anthropicMessages.decoder(from)
  const asks = content.some((block) => (block as JsonObject).type === 'tool_use')
  const whole = { type: 'message', content, stop_reason: stop_reason || (asks ? 'tool_use' : 'end_turn') }
  const chunks = anthropicMessages.split(whole)
  return fold([...chunks.flatMap((chunk) => decoder.push(chunk)), ...decoder.end()], from).reply
}

export function thought(text: string, signature = 'c2ln'): JsonObject {
  return { type: 'thinking', thinking: text, signature }
}

export function withPart(message: Reply, part: Part): Reply {
  return { ...message, parts: [...message.parts, part] }
}
