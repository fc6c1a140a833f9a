// Synapse as a language model of the AI SDK: every provider row, one way of writing and reading, and replies that go back
// to their provider in its own words.

import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4Content,
  LanguageModelV4FinishReason,
  LanguageModelV4StreamPart,
  LanguageModelV4Usage,
  SharedV4Warning,
} from '@ai-sdk/provider'
import { SynapseError } from '../core/error.ts'
import type { ReplyEvent } from '../core/event.ts'
import type { Policy } from '../settings/policy.ts'
import { assemble } from '../context/assemble.ts'
import { noUsage } from '../core/usage.ts'
import { endpointFinder, type SynapseOptions } from '../runtime/open.ts'
import { bodyBytes } from '../wires/shared/body-bytes.ts'
import { parseModelRef } from '../providers/model-ref.ts'
import { checkModelOptions } from '../settings/check.ts'
import { streamReply } from '../transport/reply.ts'
import { readOptions, warningsOf } from './read-options.ts'
import { readPrompt } from './read-prompt.ts'
import { finishReason, streamWriter, usageOf } from './write-stream.ts'

/** Where the model is and what is sent of a long prompt. */
export interface SynapseModelOptions extends Pick<
  SynapseOptions,
  'env' | 'keys' | 'baseUrls' | 'offline' | 'rows' | 'adapters' | 'transport'
> {
  /** One of the provider's wires; without it, its usual one. */
  protocol?: string
  /** What is sent of a long prompt; everything by default. */
  policy?: Policy
}

/**
 * A model for `generateText`, `streamText` and all else that takes a language model.
 *
 * @example
 * const { text } = await generateText({ model: synapseModel('anthropic/claude-opus-5'), prompt: 'Hello!' })
 */
export function synapseModel(model: string, options: SynapseModelOptions = {}): LanguageModelV4 {
  checkModelOptions(options)
  const ref = parseModelRef(model)
  let finder: ReturnType<typeof endpointFinder> | undefined
  return {
    specificationVersion: 'v4',
    provider: `synapse.${ref.provider}`,
    modelId: ref.model ?? '',
    // Files are given as they are: wires that take no URLs have them written as text, with a warning.
    supportedUrls: { '*/*': [/^https?:/] },
    doGenerate: async (call) => collected(await start(call)),
    async doStream(call) {
      const { parts, warnings, body } = await start(call)
      return { stream: ReadableStream.from(withStart(parts, warnings)), request: { body } }
    },
  }

  async function start(call: LanguageModelV4CallOptions): Promise<Started> {
    finder ??= endpointFinder(options)
    const { endpoint, transport } = await (await finder)(model, options.protocol)
    const wanted = readOptions(call)
    const prepared = assemble({
      history: readPrompt(call.prompt),
      tools: wanted.tools,
      policy: options.policy ?? 'full',
      protocol: endpoint.protocol,
      target: {
        provider: endpoint.provider.id,
        model: endpoint.model,
        options: { stream: true, ...wanted.options },
        quirks: endpoint.quirks,
        capabilities: endpoint.capabilities,
      },
    })
    const origin = {
      provider: endpoint.provider.id,
      protocol: endpoint.protocol.id,
      model: endpoint.model,
      ...(prepared.basis && { basis: prepared.basis }),
    }
    const id = crypto.randomUUID()
    const events = streamReply({
      protocol: endpoint.protocol,
      url: endpoint.baseUrl + prepared.path,
      headers: { ...endpoint.headers, ...prepared.headers, ...definedOf(call.headers) },
      body: bodyBytes(prepared.body),
      origin,
      decoder: { callId: (position) => `${id}.${position}`, toolNames: prepared.toolNames },
      provider: endpoint.provider.name,
      ...(call.abortSignal && { signal: call.abortSignal }),
      ...transport,
    })
    const writer = streamWriter(origin)
    const parts = written(await begun(events), (event) => writer.push(event), call.abortSignal)
    return { parts, warnings: [...wanted.warnings, ...warningsOf(prepared.notes)], body: prepared.body }
  }
}

interface Started {
  parts: AsyncIterable<LanguageModelV4StreamPart>
  warnings: SharedV4Warning[]
  body: unknown
}

type Events = ReturnType<typeof streamReply>

/** Waits for the first thing that was said: what fails before that is thrown, so that callers can try something else. */
async function begun(events: Events): Promise<AsyncIterable<ReplyEvent>> {
  const first: ReplyEvent[] = []
  for (;;) {
    const next = await events.next()
    if (next.done) break
    if (next.value.type === 'retry' || next.value.type === 'no-retry') continue
    first.push(next.value)
    if (next.value.type === 'reply-end' && next.value.failure) throw new SynapseError(next.value.failure)
    if (next.value.type !== 'reply-start') break
  }
  return (async function* () {
    yield* first
    for await (const event of events) if (event.type !== 'retry' && event.type !== 'no-retry') yield event
  })()
}

async function* written(
  events: AsyncIterable<ReplyEvent>,
  write: (event: ReplyEvent) => LanguageModelV4StreamPart[],
  signal: AbortSignal | undefined,
): AsyncGenerator<LanguageModelV4StreamPart> {
  for await (const event of events) {
    // The SDK tells its own user that a call was aborted, when it sees this error.
    if (event.type === 'reply-end' && event.stop.reason === 'cancelled') signal?.throwIfAborted()
    if (event.type === 'reply-start') {
      const { replyId, model } = event.origin
      yield { type: 'response-metadata', modelId: model, ...(replyId !== undefined && { id: replyId }) }
    }
    yield* write(event)
  }
}

async function* withStart(
  parts: AsyncIterable<LanguageModelV4StreamPart>,
  warnings: SharedV4Warning[],
): AsyncGenerator<LanguageModelV4StreamPart> {
  yield { type: 'stream-start', warnings }
  yield* parts
}

async function collected({ parts, warnings, body }: Started) {
  const content: LanguageModelV4Content[] = []
  const texts = new Map<string, string>()
  let usage: LanguageModelV4Usage = usageOf(noUsage)
  let finish: LanguageModelV4FinishReason = finishReason('interrupted', undefined)
  let response: { id?: string; modelId?: string } = {}
  for await (const part of parts) {
    switch (part.type) {
      case 'text-delta':
      case 'reasoning-delta':
        texts.set(part.id, (texts.get(part.id) ?? '') + part.delta)
        break
      case 'text-end':
      case 'reasoning-end': {
        const { id, providerMetadata } = part
        const type = part.type === 'text-end' ? ('text' as const) : ('reasoning' as const)
        content.push({ type, text: texts.get(id) ?? '', ...(providerMetadata && { providerMetadata }) })
        break
      }
      case 'tool-call':
      case 'file':
        content.push(part)
        break
      case 'response-metadata': {
        const { id, modelId } = part
        response = { ...(id !== undefined && { id }), ...(modelId !== undefined && { modelId }) }
        break
      }
      case 'error':
        throw part.error
      case 'finish':
        usage = part.usage
        finish = part.finishReason
    }
  }
  return { content, finishReason: finish, usage, warnings, request: { body }, response }
}

function definedOf(headers: Record<string, string | undefined> | undefined): Record<string, string> {
  const given = Object.entries(headers ?? {}).filter((entry): entry is [string, string] => entry[1] !== undefined)
  // The SDK's own name for itself would only block ours.
  return Object.fromEntries(given.filter(([name]) => name.toLowerCase() !== 'user-agent'))
}
