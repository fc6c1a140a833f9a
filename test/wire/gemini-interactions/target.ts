// Short ways to encode for this wire in a test.

import type { Context } from '../../../src/core/context.ts'
import { fold, type Folded } from '../../../src/core/fold.ts'
import type { Json, JsonObject } from '../../../src/core/json.ts'
import type { Message, Origin, Reply } from '../../../src/core/message.ts'
import type { Options } from '../../../src/settings/options.ts'
import { geminiInteractions } from '../../../src/wires/gemini-interactions/index.ts'
import type { Capabilities, DecoderOptions, Encoded, EndCause } from '../../../src/wires/wire.ts'

export interface Asking {
  model?: string
  provider?: string
  options?: Options
  capabilities?: Partial<Capabilities>
  context?: Partial<Context>
}

export function sent(messages: Message[], asking: Asking = {}): Encoded {
  const context: Context = { system: [], messages, tools: [], cacheAfter: [], ...asking.context }
  return geminiInteractions.encode(context, {
    provider: asking.provider ?? 'google',
    model: asking.model ?? 'gemini-3.5-flash',
    options: { stream: true, ...asking.options },
    quirks: {},
    capabilities: { ...geminiInteractions.capabilities, ...asking.capabilities },
  })
}

export function stepsOf(encoded: Encoded): JsonObject[] {
  return encoded.body.input as JsonObject[]
}

export const origin: Origin = { protocol: 'gemini-interactions', provider: 'google', model: 'gemini-3.5-flash' }

export function decoded(chunks: Json[], options?: DecoderOptions, cause?: EndCause): Folded {
  const decoder = geminiInteractions.decoder(origin, options)
  return fold([...chunks.flatMap((chunk) => decoder.push(chunk)), ...decoder.end(cause)], origin)
}

/** A reply that this provider gave on this wire. */
export function native(...steps: Json[]): Reply {
  return decoded(geminiInteractions.split({ id: 'v1_a', status: 'completed', steps })).reply
}
