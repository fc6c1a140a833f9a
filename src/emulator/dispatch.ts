// What is done for a request whose provider, wire and owner are known. Everything that outlives a request is here: state
// at the servers, prompt caches, the ids that were given out.

import { isObject, type Json, type JsonObject } from '../core/json.ts'
import { loadTranscript } from '../wires/list.ts'
import type { Framing, Wire } from '../wires/wire.ts'
import { createPromptCache } from './cache.ts'
import { countFor, exchange, type Exchanged, type ExchangeWorld, type Script } from './exchange.ts'
import { createIds } from './ids.ts'
import { windowOf } from './known-providers.ts'
import { refusalFor } from './refusal.ts'
import type { GivenHeaders, Operation } from './route.ts'
import { plain, type Incoming, type Service } from './service.ts'
import type { CountTokens } from './tokens.ts'

interface Asked {
  provider: string
  protocol: Wire
  operation: Operation
  owner: string
  method: string
  url: URL
  headers: GivenHeaders
  body: JsonObject
  now: number
  /** The state that the request names is to be forgotten first. */
  expireState: boolean
}

/** A body, or a reply that may be streamed. */
export type Outcome = { body: Json } | { exchanged: Exchanged; framing?: Framing }

export interface Dispatcher {
  /** Throws a Refusal. */
  perform(asked: Asked): Promise<Outcome>
  expire(id: string): boolean
  clear(): void
}

export interface DispatcherOptions {
  count: CountTokens
  script?: Script
  contextWindow?: number
}

export function createDispatcher({ count, ...world }: DispatcherOptions): Dispatcher {
  const cache = createPromptCache(count)
  let ids = createIds()
  /** What was loaded so far: each wire brings its own, and one that was never spoken holds nothing. */
  const loaded: Forgetful[] = []
  const anthropic = once(async () => (await import('./anthropic-service.ts')).createAnthropicService())
  const responses = once(async () => (await import('./responses-service.ts')).createResponsesService())
  const gemini = once(async () => (await import('./gemini-service.ts')).createGeminiService())
  const interactions = once(async () => (await import('./interactions-service.ts')).createInteractionsService())
  const conversations = once(async () => (await import('./mistral-conversations.ts')).createMistralConversations())
  const completions = once(async () => (await import('./stored-completions.ts')).createCompletionsService())
  const services: Record<string, () => Promise<Service>> = {
    'anthropic-messages': anthropic,
    'openai-chat': completions,
    'openai-responses': responses,
    'gemini-generate': gemini,
    'gemini-interactions': interactions,
  }

  return {
    perform,
    expire: (id) => loaded.map((one) => one.expire(id)).includes(true),
    clear() {
      for (const one of loaded) one.clear()
      cache.clear()
      ids = createIds()
    },
  }

  function once<T extends Forgetful>(load: () => Promise<T>): () => Promise<T> {
    let made: Promise<T> | undefined
    return () => (made ??= kept(load))
  }

  async function kept<T extends Forgetful>(load: () => Promise<T>): Promise<T> {
    const one = await load()
    loaded.push(one)
    return one
  }

  async function perform(asked: Asked): Promise<Outcome> {
    const { operation, provider, method, owner, now, body } = asked
    const visit = { method, body, query: asked.url.searchParams, owner, now, seed: ids.reply('', identityOf(asked)) }
    switch (operation.do) {
      case 'models':
        return { body: (await import('./models.ts')).modelsBody(provider, operation.id, isCompatible(asked.url)) }
      case 'responses':
        return { body: (await endpoints()).handleResponse(await responses(), operation, visit) }
      case 'completions': {
        const { visitCompletion } = await import('./stored-completions.ts')
        return { body: visitCompletion(await completions(), operation, visit) }
      }
      case 'caches':
        return { body: (await gemini()).caches.visit(operation.id, visit, count) }
      case 'generate': {
        const { chatOf, generated } = await import('./ollama-endpoints.ts')
        const chat = { ...asked, body: chatOf(body) }
        const exchanged = await exchange(await incomingOf(chat), worldOf(await serviceFor(chat)))
        return { exchanged: generated(exchanged), ...(streams(chat) && { framing: asked.protocol.framing }) }
      }
      case 'about': {
        const { aboutModel } = await import('./ollama-endpoints.ts')
        const window = windowOf(provider, typeof body.model === 'string' ? body.model : '')
        return { body: operation.what === 'version' ? { version: '0.0.0-emulator' } : aboutModel(body, window) }
      }
      case 'interactions':
        return { body: await visitInteraction(operation.id, asked) }
      case 'conversations': {
        if (provider !== 'mistral') {
          return { body: (await endpoints()).handleConversation(await responses(), operation, visit) }
        }
        const { handleMistral } = await import('./mistral-conversations.ts')
        const reply = async (chat: JsonObject) => exchange(await incomingOf({ ...asked, body: chat }), worldOf(plain))
        const made = await handleMistral(await conversations(), operation, { ...visit, reply })
        if ('body' in made) return made
        return { ...made, ...(body.stream === true && { framing: { kind: 'sse', named: true } }) }
      }
      case 'compact':
        return { body: (await endpoints()).compact(await responses(), await incomingOf(asked)) }
      case 'count':
        return { body: countBody(await incomingOf({ ...asked, body: countedIn(body) }), await serviceFor(asked)) }
      default: {
        const exchanged = await exchange(await incomingOf(asked), worldOf(await serviceFor(asked)))
        return { exchanged, ...(streams(asked) && { framing: asked.protocol.framing }) }
      }
    }
  }

  async function serviceFor({ protocol, body, expireState }: Asked): Promise<Service> {
    const service = (await services[protocol.id]?.()) ?? plain
    if (expireState) for (const id of statesIn(body)) service.expire(id)
    return service
  }

  function worldOf(service: Service): ExchangeWorld {
    return { service, cache, ...world }
  }

  async function incomingOf(asked: Asked): Promise<Incoming> {
    const { provider, protocol, operation, owner, headers, body, now } = asked
    const reader = await loadTranscript(protocol.id)
    const named = 'model' in operation ? operation.model : undefined
    return {
      provider,
      protocol,
      model: named ?? (typeof body.model === 'string' ? body.model : ''),
      body,
      betas: new Set((headers.get('anthropic-beta') ?? '').split(',').map((name) => name.trim())),
      owner,
      replyId: ids.reply(protocol.id, identityOf(asked)),
      now,
      count,
      read: (json) => reader.read(json),
    }
  }

  async function visitInteraction(id: string, { method, owner, now }: Asked): Promise<Json> {
    const held = (await interactions()).interactions
    const found = held.get(id, owner, now)
    if (!found) throw (await import('./interactions-service.ts')).unknownInteraction(id)
    if (method !== 'DELETE') return found.whole
    held.delete(id, owner)
    return {}
  }
}

const endpoints = () => import('./openai-endpoints.ts')

/** What keeps something under ids. */
type Forgetful = Pick<Service, 'expire' | 'clear'>

function identityOf({ provider, url, owner, body }: Asked): string {
  return `${provider} ${url.pathname} ${owner} ${JSON.stringify(body)}`
}

/** Google has its endpoints for clients of OpenAI under a path of their own. */
function isCompatible({ pathname }: URL): boolean {
  return pathname.includes('/v1beta/openai/')
}

function streams({ operation, protocol, body }: Asked): boolean {
  if (operation.do === 'reply' && operation.stream !== undefined) return operation.stream
  return protocol.id === 'ollama-chat' ? body.stream !== false : body.stream === true
}

function countBody(request: Incoming, service: Service): Json {
  checkCounted(request)
  const { tokens, body } = countFor(request, service)
  if (request.protocol.id === 'openai-responses') return { object: 'response.input_tokens', input_tokens: tokens }
  if (request.protocol.id === 'gemini-generate') return { totalTokens: tokens }
  if (!isObject(request.body.context_management)) return { input_tokens: tokens }
  const before = countFor({ ...request, body }, plain).tokens
  return { input_tokens: tokens, context_management: { original_input_tokens: before } }
}

/** A question that takes less than a request for a reply refuses the rest of it. */
function checkCounted({ protocol, body }: Incoming): void {
  const { fields } = protocol.counting ?? {}
  const field = Object.keys(body).find((name) => fields && !fields.includes(name))
  if (field === undefined) return
  const [message, code] =
    protocol.id === 'anthropic-messages'
      ? [`${field}: Extra inputs are not permitted`, null]
      : protocol.id === 'openai-responses'
        ? [`Unknown parameter: '${field}'.`, 'unknown_parameter']
        : [`Invalid JSON payload received. Unknown name "${field}": Cannot find field.`, null]
  throw refusalFor(protocol, { rule: 'count', status: 400, message, type: 'invalid_request_error', code, param: field })
}

/** Gemini also takes the whole request that is to be counted inside another one. */
function countedIn(body: JsonObject): JsonObject {
  const { generateContentRequest: inner } = body
  if (!isObject(inner)) return body
  const { model: _model, ...request } = inner
  return request
}

/** The ids of state that a body names. */
function statesIn({ thread, conversation, ...body }: JsonObject): string[] {
  return [
    body.previous_response_id,
    body.previous_interaction_id,
    isObject(thread) ? thread.previous_message_id : undefined,
    isObject(conversation) ? conversation.id : conversation,
  ].filter((id) => typeof id === 'string')
}
