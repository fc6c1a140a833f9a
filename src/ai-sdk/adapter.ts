// Models of the AI SDK as a provider of Synapse.

import type { LanguageModelV4 } from '@ai-sdk/provider'
import { badInput } from '../core/error.ts'
import type { Adapter } from '../runtime/open.ts'
import type { Capabilities, Wire } from '../wires/wire.ts'
import { isObject } from '../core/json.ts'
import { fetchFrom } from './call-model.ts'
import { decoder } from './decode.ts'
import { encode } from './encode.ts'
import { protocolId } from './wire.ts'

/** The SDK accepts everything and leaves unsupported features to the underlying provider. */
const capabilities: Capabilities = {
  media: ['*/*'],
  mediaUrls: true,
  resultMedia: ['*/*'],
  tools: true,
  sampling: true,
  forcedTool: true,
  prefill: true,
  midSystem: true,
  efforts: ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'],
}

const protocol: Wire = {
  id: protocolId,
  framing: { kind: 'ndjson' },
  capabilities,
  encode,
  decoder,
  split: (whole) => (Array.isArray(whole) ? whole : [whole]),
  // The underlying model is unknown, so nothing is known about what it refuses.
  refuse: () => [],
  errorBody: ({ message }) => ({ error: { message } }),
  whole: (reply) => [
    ...reply.native.flatMap((part, i) => {
      if (!isObject(part) || (part.type !== 'text' && part.type !== 'reasoning')) return [part]
      const id = String(i)
      return [
        { type: `${part.type}-start`, id },
        { type: `${part.type}-delta`, id, delta: part.text ?? '' },
        { type: `${part.type}-end`, id },
      ]
    }),
    { type: 'finish', finishReason: { unified: reply.stop.reason === 'tool-calls' ? 'tool-calls' : 'stop' } },
  ],
}

/**
 * A provider whose models are language models of the AI SDK: one, or one for each name after the slash.
 *
 * @example
 * const synapse = await openSynapse({ adapters: [aiSdkProvider('mine', (name) => anthropic(name))] })
 * const chat = await synapse.start({ model: 'mine/claude-opus-5' })
 */
export function aiSdkProvider(id: string, model: LanguageModelV4 | ((name: string) => LanguageModelV4)): Adapter {
  return {
    id,
    async endpoint(name) {
      const found = typeof model === 'function' ? model(name ?? '') : model
      if (found.specificationVersion !== 'v4') {
        throw badInput(
          `The model of "${id}" follows specification ${String(found.specificationVersion)} of the AI SDK; v4 is needed.`,
        )
      }
      return {
        endpoint: {
          provider: {
            id,
            name: `${id} (AI SDK: ${found.provider})`,
            wires: [{ protocol: protocolId, baseUrl: 'https://ai-sdk.invalid', caching: 'prefix' }],
            keyVariables: [],
            auth: { header: 'authorization' },
          },
          protocol,
          model: name ?? found.modelId,
          baseUrl: 'https://ai-sdk.invalid',
          headers: {},
          quirks: {},
          capabilities,
          caching: { kind: 'prefix' },
        },
        transport: { fetch: fetchFrom(found) },
      }
    },
  }
}
