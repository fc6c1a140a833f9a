// Handles a request whose provider, wire and owner are known. Everything that outlives a request is here: state at the
// servers, prompt caches, the ids that were issued.

import { isObject, type Json, type JsonObject } from '../core/json.ts'
import { loadTranscript } from '../wires/list.ts'
import {
  formOf,
  type Exchanged,
  type Incoming,
  type Operation,
  type Outcome,
  type RequestForm,
  type ServerState,
  stateless,
  type WireService,
} from '../wires/service.ts'
import { anthropicNotFound, openaiRefusal, Refusal, refusalFor } from '../wires/shared/refusal.ts'
import type { CountTokens } from '../wires/shared/prompt.ts'
import { noDate } from '../wires/shared/model-forms.ts'
import type { Wire } from '../wires/wire.ts'
import { createPromptCache } from './cache.ts'
import { countFor, createIds, exchange, type ExchangeWorld, type Script } from './exchange.ts'
import { modelsOf, windowOf } from './known-providers.ts'
import { summaryOf } from './responder.ts'
import { type GivenHeaders, isCompatible } from './route.ts'
import { textIn } from '../wires/shared/json-fields.ts'

interface RoutedRequest {
  provider: string
  protocol: Wire
  service: WireService
  operation: Operation
  owner: string
  method: string
  url: URL
  headers: GivenHeaders
  body: JsonObject
  now: number
  /** The state that the request names must be deleted first. */
  expireState: boolean
}

interface Dispatcher {
  /** Throws a Refusal. */
  perform(request: RoutedRequest): Promise<Outcome>
  expire(id: string): boolean
  clear(): void
}

interface DispatcherOptions {
  count: CountTokens
  script?: Script
  contextWindow?: number
}

export function createDispatcher({ count, ...world }: DispatcherOptions): Dispatcher {
  const cache = createPromptCache(count)
  const states = serverStates()
  let ids = createIds()

  return {
    perform,
    expire: (id) => states.loaded.map((state) => state.expire(id)).includes(true),
    clear() {
      for (const state of states.loaded) state.clear()
      cache.clear()
      ids = createIds()
    },
  }

  async function perform(request: RoutedRequest): Promise<Outcome> {
    const { operation, provider, service, method, owner, now, body } = request
    const seed = ids.reply('', identityOf(request))
    switch (operation.do) {
      case 'models':
        return { body: modelsBody(provider, operation.id, isCompatible(request.url.pathname)) }
      case 'count': {
        const counted = service.counting?.request?.(body) ?? body
        return { body: countBody(await incomingOf({ ...request, body: counted }), await stateFor(request)) }
      }
      case 'reply':
        return replyInForm(request)
      case 'model':
        return { body: modelBody(request) }
      case 'other': {
        const fixed = service.fixed?.[operation.name]
        if (fixed !== undefined) return { body: fixed }
        const state = await states.of(request)
        if (!state.visit) throw new Error(`nothing answers at ${operation.name}`)
        return state.visit(operation, {
          method,
          body,
          query: request.url.searchParams,
          owner,
          now,
          seed,
          count,
          incoming: () => incomingOf(request),
          reply: (other) => replyTo({ ...request, body: other }),
        })
      }
    }
  }

  async function replyInForm(given: RoutedRequest): Promise<Outcome> {
    const { operation, protocol, service, now, provider } = given
    const form = operation.do === 'reply' ? formOf(service, operation.form, given.body) : undefined
    const [issue] = form?.refuse(given.body) ?? []
    if (issue) throw refusalFor(protocol, issue, { provider })
    const request = form ? { ...given, body: form.request(given.body) } : given
    const loaded = service.loading?.(request.body, now)
    if (loaded) return { body: form ? form.reply(loaded) : loaded }
    const { exchanged, ...rest } = await replyTo(request)
    return { exchanged: form ? inForm(form, exchanged) : exchanged, ...rest }
  }

  async function replyTo(request: RoutedRequest): Promise<Extract<Outcome, { exchanged: unknown }>> {
    const exchanged = await exchange(await incomingOf(request), worldOf(await stateFor(request)))
    const { framing = request.protocol.framing } = request.operation.do === 'reply' ? request.operation : {}
    return { exchanged, ...(streams(request) && { framing }) }
  }

  /** The state of a wire, without the part to delete. */
  async function stateFor(request: RoutedRequest): Promise<ServerState> {
    const state = await states.of(request)
    const named = request.expireState ? (request.service.stateIds?.(request.body) ?? []) : []
    for (const id of named) if (typeof id === 'string') state.expire(id)
    return state
  }

  function worldOf(state: ServerState): ExchangeWorld {
    return { state, cache, ...world }
  }

  async function incomingOf(request: RoutedRequest): Promise<Incoming> {
    const { provider, protocol, service, operation, owner, headers, body, now } = request
    const transcript = await loadTranscript(protocol.id)
    const named = 'model' in operation ? operation.model : undefined
    return {
      provider,
      protocol,
      service,
      model: named ?? textIn(body.model),
      body,
      betas: new Set((headers.get('anthropic-beta') ?? '').split(',').map((name) => name.trim())),
      owner,
      replyId: ids.reply(service.replyPrefix ?? '', identityOf(request)),
      now,
      count,
      read: (json) => transcript.read(json),
      summarise: summaryOf,
    }
  }
}

/** The state of each wire; an unused one is not loaded. */
function serverStates() {
  const states = new Map<string, Promise<ServerState>>()
  const loaded: ServerState[] = []
  return {
    loaded,
    of({ protocol, service }: RoutedRequest): Promise<ServerState> {
      const state = states.get(protocol.id)
      if (state) return state
      const loading = load(service)
      states.set(protocol.id, loading)
      return loading
    },
  }

  async function load(service: WireService): Promise<ServerState> {
    const state = (await service.state?.()) ?? stateless
    loaded.push(state)
    return state
  }
}

function identityOf({ provider, url, owner, body }: RoutedRequest): string {
  return `${provider} ${url.pathname} ${owner} ${JSON.stringify(body)}`
}

function streams({ operation, service, body }: RoutedRequest): boolean {
  if (operation.do === 'reply' && operation.stream !== undefined) return operation.stream
  return service.streams?.(body) ?? body.stream === true
}

function inForm(form: RequestForm, exchanged: Exchanged): Exchanged {
  return {
    ...exchanged,
    whole: form.reply(exchanged.whole),
    chunks: (piece) => exchanged.chunks(piece).map((chunk) => (isObject(chunk) ? form.reply(chunk) : chunk)),
  }
}

/** Which models are installed is not emulated: all of them are. */
function modelBody({ provider, protocol, service, body }: RoutedRequest): Json {
  const name = textIn(body.model) || textIn(body.name)
  if (name === '') throw refusalFor(protocol, { rule: 'model', status: 400, message: 'model is required' })
  const contextWindow = windowOf(provider, name)
  const capabilities = { ...protocol.capabilities, ...(contextWindow !== undefined && { contextWindow }) }
  return service.describe?.({ name, provider, model: name, capabilities }) ?? {}
}

function countBody(request: Incoming, state: ServerState): Json {
  checkCounted(request)
  const { tokens, body } = countFor(request, state)
  const unedited = () => countFor({ ...request, body }, stateless).tokens
  return request.service.counting?.answer(tokens, request.body, unedited) ?? { input_tokens: tokens }
}

/** Counting tokens accepts fewer fields than a reply, and refuses the others. */
function checkCounted({ protocol, service, body }: Incoming): void {
  const { fields } = protocol.counting ?? {}
  const field = Object.keys(body).find((name) => fields && !fields.includes(name))
  if (field === undefined || !service.counting) return
  const issue = { rule: 'count', status: 400, type: 'invalid_request_error', param: field }
  throw refusalFor(protocol, { ...issue, ...service.counting.unknownField(field) })
}

// Lists of models, in each provider's own form.

/**
 * All models of a provider, or one, for a client of OpenAI if `compatible`. Throws a Refusal for one that does not
 * exist.
 */
function modelsBody(provider: string, id: string | undefined, compatible: boolean): Json {
  const models = modelsOf(provider)
  const form = (compatible ? undefined : forms[provider]) ?? openaiForm
  if (id === undefined) return form.list(models.map((model) => form.one(model)))
  const bare = id.replace(/^models\//, '')
  const match = models.find((model) => model.id === bare)
  if (!match) throw form.missing(bare)
  return form.one(match)
}

type Model = ReturnType<typeof modelsOf>[number]

interface Form {
  one(model: Model): Json
  list(models: Json[]): Json
  missing(id: string): Refusal
}

const openaiForm: Form = {
  one: ({ id, contextWindow }) => ({
    id,
    object: 'model',
    created: 0,
    owned_by: 'synapse-emulator',
    ...(contextWindow !== undefined && { context_length: contextWindow }),
  }),
  list: (data) => ({ object: 'list', data }),
  missing: (id) =>
    openaiRefusal(404, `The model \`${id}\` does not exist or you do not have access to it.`, {
      code: 'model_not_found',
    }),
}

const forms: Record<string, Form> = {
  anthropic: {
    one: ({ id, contextWindow }) => ({
      type: 'model',
      id,
      display_name: id,
      created_at: noDate,
      ...(contextWindow !== undefined && { max_input_tokens: contextWindow }),
    }),
    list: (data) => ({ data, has_more: false, first_id: idOf(data.at(0)), last_id: idOf(data.at(-1)) }),
    missing: (id) => anthropicNotFound(`model: ${id}`),
  },
  google: {
    one: ({ id, contextWindow }) => ({
      name: `models/${id}`,
      displayName: id,
      supportedGenerationMethods: ['generateContent', 'countTokens'],
      ...(contextWindow !== undefined && { inputTokenLimit: contextWindow }),
    }),
    list: (models) => ({ models }),
    missing: (id) => {
      const message = `models/${id} is not found for API version v1beta, or is not supported for generateContent. Call ModelService.ListModels to see the list of available models and their supported methods.`
      return new Refusal(404, { error: { code: 404, message, status: 'NOT_FOUND' } })
    },
  },
  ollama: {
    one: ({ id }) => ({ name: id, model: id, modified_at: noDate, size: 0, digest: '', details: {} }),
    list: (models) => ({ models }),
    missing: (id) => new Refusal(404, { error: `model '${id}' not found` }),
  },
}

function idOf(model: Json | undefined): Json {
  return typeof model === 'object' && model !== null && !Array.isArray(model) ? (model.id ?? null) : null
}
