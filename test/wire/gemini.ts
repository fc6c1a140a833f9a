// Short ways to encode for a Gemini wire in a test, and to read its streams.

import type { Context } from '../../src/core/context.ts'
import { fold, type Folded } from '../../src/core/fold.ts'
import type { Json } from '../../src/core/json.ts'
import type { Message, Origin } from '../../src/core/message.ts'
import type { Options } from '../../src/settings/options.ts'
import type { Capabilities, DecoderOptions, Encoded, EndCause, Wire } from '../../src/wires/wire.ts'

export interface Asking {
  model?: string
  provider?: string
  options?: Options
  capabilities?: Partial<Capabilities>
  context?: Partial<Context>
}

export interface Gemini {
  sent(messages: Message[], asking?: Asking): Encoded
  origin: Origin
  decoded(chunks: Json[], options?: DecoderOptions, cause?: EndCause): Folded
}

export function gemini(wire: Wire): Gemini {
  const origin = { protocol: wire.id, provider: 'google', model: 'gemini-3.5-flash' }
  return {
    sent(messages, asking = {}) {
      const context: Context = { system: [], messages, tools: [], cacheAfter: [], ...asking.context }
      return wire.encode(context, {
        provider: asking.provider ?? origin.provider,
        model: asking.model ?? origin.model,
        options: { stream: true, ...asking.options },
        quirks: {},
        capabilities: { ...wire.capabilities, ...asking.capabilities },
      })
    },
    origin,
    decoded(chunks, options, cause) {
      const decoder = wire.decoder(origin, options)
      return fold([...chunks.flatMap((chunk) => decoder.push(chunk)), ...decoder.end(cause)], origin)
    },
  }
}
