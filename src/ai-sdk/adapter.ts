// Models of the AI SDK as a provider of Synapse.

import type { LanguageModelV4, LanguageModelV4CallOptions, LanguageModelV4StreamPart } from '@ai-sdk/provider'
import { badInput } from '../core/error.ts'
import { isObject, type Json, type JsonObject } from '../core/json.ts'
import type { Adapter } from '../runtime/open.ts'
import type { Capabilities, Wire } from '../wires/wire.ts'
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
  split: (body) => (Array.isArray(body) ? body : [body]),
  // The underlying model is unknown, and so is what it refuses.
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
      const languageModel = typeof model === 'function' ? model(name ?? '') : model
      if (languageModel.specificationVersion !== 'v4') {
        throw badInput(
          `The model of "${id}" follows specification ${String(languageModel.specificationVersion)} of the AI SDK; v4 is needed.`,
        )
      }
      return {
        endpoint: {
          provider: {
            id,
            name: `${id} (AI SDK: ${languageModel.provider})`,
            wires: [{ protocol: protocolId, baseUrl: 'https://ai-sdk.invalid', caching: 'prefix' }],
            keyVariables: [],
            auth: { header: 'authorization' },
          },
          protocol,
          model: name ?? languageModel.modelId,
          baseUrl: 'https://ai-sdk.invalid',
          headers: {},
          quirks: {},
          capabilities,
          caching: { kind: 'prefix' },
        },
        transport: { fetch: fetchFrom(languageModel) },
      }
    },
  }
}

/**
 * A `fetch` that calls a model of the AI SDK instead of a server: the body is the call, the answer its stream parts,
 * one per line. So everything that applies to a server (limits, retries, journal, abort) applies to such a model too.
 */
function fetchFrom(model: LanguageModelV4): typeof globalThis.fetch {
  return async (_, init) => {
    const body = (await new Response(init?.body ?? '{}').json()) as JsonObject
    const signal = init?.signal ?? undefined
    try {
      const { stream } = await model.doStream({ ...callOf(body), ...(signal && { abortSignal: signal }) })
      const bytes = linesOf(stream, signal)
      return new Response(bytes, { headers: { 'content-type': 'application/x-ndjson' } })
    } catch (error) {
      if (signal?.aborted) throw error
      const { status = 500, headers = {}, ...failure } = errorOf(error)
      return Response.json({ error: failure }, { status, headers })
    }
  }
}

/** One part per line. Ends with the signal, like the body of a real request, even if the model ignores it. */
function linesOf(
  stream: ReadableStream<LanguageModelV4StreamPart>,
  signal: AbortSignal | undefined,
): ReadableStream<Uint8Array> {
  const reader = stream.getReader()
  const encoder = new TextEncoder()
  return new ReadableStream({
    start(controller) {
      const stop = (): void => {
        controller.error(signal?.reason)
        reader.cancel(signal?.reason).catch(() => {})
      }
      if (signal?.aborted) stop()
      signal?.addEventListener('abort', stop, { once: true })
    },
    async pull(controller) {
      const { done, value } = await reader.read()
      if (signal?.aborted) return
      if (done) controller.close()
      else controller.enqueue(encoder.encode(lineOf(value)))
    },
    cancel: (reason) => reader.cancel(reason),
  })
}

/** The call with its URLs restored: JSON has only text for them. */
function callOf(body: JsonObject): LanguageModelV4CallOptions {
  const revived = revive(body) as { prompt?: unknown }
  return { ...revived, prompt: revived.prompt as LanguageModelV4CallOptions['prompt'] }
}

function revive(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(revive)
  if (!isObject(value)) return value
  if (value.type === 'url' && typeof value.url === 'string') return { ...value, url: new URL(value.url) }
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, revive(inner)]))
}

function lineOf(part: object): string {
  const text = JSON.stringify(part, (_, value: unknown) => {
    if (value instanceof Uint8Array) return Buffer.from(value).toString('base64')
    return value instanceof Error ? errorOf(value) : value
  })
  return `${text}\n`
}

interface ErrorReply {
  message: string
  status?: number
  headers?: Record<string, string>
  body?: Json
}

/** Errors of the SDK contain the answer of the underlying server. */
function errorOf(error: unknown): ErrorReply {
  if (!(error instanceof Error)) return { message: String(error) }
  const { statusCode, responseHeaders, responseBody } = error as Error & {
    statusCode?: unknown
    responseHeaders?: unknown
    responseBody?: unknown
  }
  const wait = isObject(responseHeaders) ? responseHeaders['retry-after'] : undefined
  return {
    message: error.message,
    ...(typeof statusCode === 'number' && statusCode >= 400 && { status: statusCode }),
    ...(typeof wait === 'string' && { headers: { 'retry-after': wait } }),
    ...(typeof responseBody === 'string' && { body: jsonIn(responseBody) }),
  }
}

function jsonIn(text: string): Json {
  try {
    return JSON.parse(text) as Json
  } catch {
    return text
  }
}
