// Short ways to encode for this wire in a test.

import type { Context } from '../../../src/core/context.ts'
import { fold, type Folded } from '../../../src/core/fold.ts'
import type { Json, JsonObject } from '../../../src/core/json.ts'
import type { Message, Origin, Reply } from '../../../src/core/message.ts'
import type { Options } from '../../../src/settings/options.ts'
import { geminiGenerate } from '../../../src/wires/gemini-generate/index.ts'
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
  return geminiGenerate.encode(context, {
    provider: asking.provider ?? 'google',
    model: asking.model ?? 'gemini-3.5-flash',
    options: { stream: true, ...asking.options },
    quirks: {},
    capabilities: { ...geminiGenerate.capabilities, ...asking.capabilities },
  })
}

export function contentsOf(encoded: Encoded): JsonObject[] {
  return encoded.body.contents as JsonObject[]
}

export const origin: Origin = { protocol: 'gemini-generate', provider: 'google', model: 'gemini-3.5-flash' }

export function decoded(chunks: Json[], options?: DecoderOptions, cause?: EndCause): Folded {
  const decoder = geminiGenerate.decoder(origin, options)
  return fold([...chunks.flatMap((chunk) => decoder.push(chunk)), ...decoder.end(cause)], origin)
}

/** A chunk of a stream with these parts. */
export function chunk(parts: Json[], rest: JsonObject = {}): Json {
  return { candidates: [{ content: { role: 'model', parts }, index: 0, ...rest }], responseId: 'r1' }
}

/** A reply that this provider gave on this wire. */
export function native(parts: Json[], model = 'gemini-3.5-flash'): Reply {
  const { reply } = decoded([chunk(parts, { finishReason: 'STOP' })])
  return { ...reply, origin: { ...reply.origin, model } }
}
