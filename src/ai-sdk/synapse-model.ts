// Synapse as a language model of the AI SDK: every provider row, one encoder and decoder per wire, replies that return
// to their provider unchanged, and with a store a log of everything.

import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4Content,
  LanguageModelV4FinishReason,
  LanguageModelV4GenerateResult,
  LanguageModelV4StreamPart,
  LanguageModelV4Usage,
  SharedV4ProviderMetadata,
  SharedV4Warning,
} from '@ai-sdk/provider'
import { SynapseError } from '../core/error.ts'
import type { ReplyEvent } from '../core/event.ts'
import type { Policy } from '../settings/policy.ts'
import { assemble } from '../context/assemble.ts'
import { noUsage } from '../core/usage.ts'
import { checkStore, endpointFinder, type SynapseOptions } from '../runtime/open.ts'
import { bodyBytes } from '../wires/shared/body-bytes.ts'
import { parseModelRef } from '../providers/model-ref.ts'
import { rowsWith } from '../providers/rows.ts'
import { checkModelOptions } from '../settings/check.ts'
import type { Runtime } from '../run/settings.ts'
import type { Store } from '../store/store.ts'
import { streamReply, type RetryEvent } from '../transport/reply.ts'
import { readOptions, warningsOf } from './read-options.ts'
import { loggedReply, referredReplies } from './logged-reply.ts'
import { ourKey, readPrompt, referencesIn } from './read-prompt.ts'
import { finishReason, streamWriter, usageOf } from './write-stream.ts'

/** The model's endpoint and the policy for a long prompt. */
export interface SynapseModelOptions extends Pick<
  SynapseOptions,
  'env' | 'keys' | 'baseUrls' | 'offline' | 'rows' | 'adapters' | 'transport'
> {
  /** One of the provider's wires; its default one if absent. */
  protocol?: string
  /** What is sent of a long prompt; everything by default. */
  policy?: Policy
  /**
   * Stores each call as part of a conversation: the SDK's messages then carry references instead of whole replies, and
   * `openSynapse({ store })` lists, inspects and continues them. The caller that opened it closes it.
   */
  store?: Store
  /** The owner of these conversations; `local` by default. */
  owner?: string
  /**
   * The conversation that all calls of this model continue, for messages that have lost their references. Without it,
   * the references in the messages decide; messages without one start a conversation.
   */
  conversationId?: string
}

/**
 * A model for `generateText`, `streamText` and everything else that takes a language model.
 *
 * @example
 * const { text } = await generateText({ model: synapseModel('anthropic/claude-opus-5'), prompt: 'Hello!' })
 */
export function synapseModel(model: string, options: SynapseModelOptions = {}): LanguageModelV4 {
  checkModelOptions(options)
  const { store } = options
  if (store) checkStore(store)
  const { provider, model: name } = parseModelRef(model)
  let finder: Promise<Finder> | undefined
  const start = async (call: LanguageModelV4CallOptions): Promise<Started> => {
    finder ??= endpointFinder(options)
    const find = await finder
    return store ? startLogged(model, { ...options, store }, call, find) : startDirect(model, options, call, find)
  }
  return {
    specificationVersion: 'v4',
    provider: `synapse.${provider}`,
    modelId: name ?? rowsWith(options.rows ?? []).find(({ id }) => id === provider)?.defaultModel ?? '',
    // Files are passed unchanged: wires without URLs get them as text, with a warning.
    supportedUrls: { '*/*': [/^https?:/] },
    doGenerate: async (call) => collect(await start(call)),
    async doStream(call) {
      const { parts, warnings, body } = await start(call)
      return { stream: ReadableStream.from(withStart(parts, warnings)), request: { body } }
    },
  }
}

/** Sends one request and logs nothing. */
async function startDirect(
  model: string,
  { protocol, policy = 'full' }: SynapseModelOptions,
  call: LanguageModelV4CallOptions,
  find: Finder,
): Promise<Started> {
  const { endpoint, transport } = await find(model, protocol)
  const requested = readOptions(call)
  const prepared = assemble({
    history: readPrompt(call.prompt),
    tools: requested.tools,
    policy,
    protocol: endpoint.protocol,
    target: {
      provider: endpoint.provider.id,
      model: endpoint.model,
      options: { stream: true, ...requested.options },
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
  const writer = streamWriter(origin, (reply) => ({ reply }))
  const parts = writeParts(await untilOutput(events), (event) => writer.push(event), call.abortSignal)
  return { parts, warnings: [...requested.warnings, ...warningsOf(prepared.notes)], body: prepared.body }
}

/** Runs one step of a conversation in the store. */
async function startLogged(
  model: string,
  { store, owner = 'local', protocol, policy = 'full', conversationId }: SynapseModelOptions & { store: Store },
  call: LanguageModelV4CallOptions,
  find: Finder,
): Promise<Started> {
  const requested = readOptions(call)
  const { replies, latest } = await referredReplies(store, owner, referencesIn(call.prompt))
  const runtime: Runtime = { store, owner, endpoint: withHeaders(find, definedOf(call.headers)) }
  const reply = await loggedReply(runtime, {
    model,
    protocol,
    policy,
    messages: readPrompt(call.prompt, replies),
    tools: requested.tools,
    options: requested.options,
    signal: call.abortSignal,
    conversationId,
    latest,
  })
  const events = await untilOutput(reply.events)
  const { provider, model: name = '' } = parseModelRef(model)
  const origin = { provider, protocol: '', model: name }
  const writer = streamWriter(origin, () => ({ ...reply.reference() }))
  const write = (event: ReplyEvent) => writer.push(event).map((part) => withConversation(part, reply.conversationId))
  const warnings = [...requested.warnings, ...warningsOf(reply.notes)]
  return { parts: writeParts(events, write, call.abortSignal), warnings }
}

type Finder = Runtime['endpoint']

function withHeaders(find: Finder, headers: Record<string, string>): Finder {
  return async (model, protocol) => {
    const resolved = await find(model, protocol)
    return { ...resolved, endpoint: { ...resolved.endpoint, headers: { ...resolved.endpoint.headers, ...headers } } }
  }
}

/** The result of the SDK names the conversation, as `providerMetadata.synapse.conversationId`. */
function withConversation(part: LanguageModelV4StreamPart, conversationId: string): LanguageModelV4StreamPart {
  return part.type === 'finish' ? { ...part, providerMetadata: { [ourKey]: { conversationId } } } : part
}

interface Started {
  parts: AsyncIterable<LanguageModelV4StreamPart>
  warnings: SharedV4Warning[]
  body?: unknown
}

type Events = AsyncGenerator<ReplyEvent | RetryEvent, unknown>

/** Waits for the first output: a failure before that is thrown, so that callers can try something else. */
async function untilOutput(events: Events): Promise<AsyncIterable<ReplyEvent>> {
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

async function* writeParts(
  events: AsyncIterable<ReplyEvent>,
  write: (event: ReplyEvent) => LanguageModelV4StreamPart[],
  signal: AbortSignal | undefined,
): AsyncGenerator<LanguageModelV4StreamPart> {
  for await (const event of events) {
    // The SDK tells its user that a call was aborted when it sees this error.
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

async function collect({ parts, warnings, body }: Started): Promise<LanguageModelV4GenerateResult> {
  const content: LanguageModelV4Content[] = []
  const texts = new Map<string, string>()
  let usage: LanguageModelV4Usage = usageOf(noUsage)
  let finish: LanguageModelV4FinishReason = finishReason('interrupted', undefined)
  let response: { id?: string; modelId?: string } = {}
  let providerMetadata: SharedV4ProviderMetadata | undefined
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
        providerMetadata = part.providerMetadata
    }
  }
  return {
    content,
    finishReason: finish,
    usage,
    warnings,
    request: { body },
    response,
    ...(providerMetadata && { providerMetadata }),
  }
}

function definedOf(headers: Record<string, string | undefined> | undefined): Record<string, string> {
  const present = Object.entries(headers ?? {}).filter((entry): entry is [string, string] => entry[1] !== undefined)
  // The SDK's own user agent would only override ours.
  return Object.fromEntries(present.filter(([name]) => name.toLowerCase() !== 'user-agent'))
}
