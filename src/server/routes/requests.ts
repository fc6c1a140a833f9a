// Requests: the next one, side by side for several models, and the exchanges so far.

import type { Conversation } from '../../core/log.ts'
import type { Page } from '../../store/store.ts'
import { conversationOf } from '../../run/conversation.ts'
import { usageOf } from '../../run/usage.ts'
import { bytesAnswer, json, longAnswer, privateHeaders } from '../answer.ts'
import type { ServerContext } from '../context.ts'
import { clientRequestOf, withClientRequest } from '../doors/client-request.ts'
import { addSpend } from '../keys.ts'
import { inspectionView } from '../inspect/view.ts'
import type { InspectTask } from '../inspect/inspection.ts'
import {
  assembledFor,
  historyAt,
  type KnownProviders,
  type NextPlace,
  type PrepareTarget,
} from '../prepared-request.ts'
import { allowModel } from '../principal.ts'
import { isLong } from '../long-tasks.ts'
import { missing, route, type Call, type Route } from '../route.ts'
import { checkRun, mergeSettings, userMessage, type WholeSettings } from '../run-settings.ts'
import { runTools } from '../run-tools.ts'
import {
  inspectRequest,
  resumeRequest,
  overlayChange,
  pageQuery,
  prepareRequest,
  promptRequest,
  type InspectRequest,
  type NextRequest,
  type PageQuery,
  type PrepareRequest,
} from '../schema.ts'
import { compactionView, exchangeView, overlayView, preparedView, modelPromptView } from '../request-views.ts'
import { conversationUsageView, pageSchema } from '../views.ts'

export const requestRoutes: readonly Route[] = [
  route({
    operationId: 'prepareNextRequest',
    method: 'post',
    path: '/api/conversations/{id}/prepare',
    access: 'read',
    summary: 'The next request, for each of several models',
    body: prepareRequest,
    answer: { status: 200, description: 'One request per target.', schema: pageSchema(preparedView) },
    handle: async (call) => answerPrepare(call, await call.conversation()),
  }),
  route({
    operationId: 'prepareFirstRequest',
    method: 'post',
    path: '/api/prepare',
    access: 'read',
    summary: 'The first request of a new conversation, for each of several models',
    body: prepareRequest,
    answer: { status: 200, description: 'One request per target.', schema: pageSchema(preparedView) },
    handle: (call) => answerPrepare(call, newConversation),
  }),
  route({
    operationId: 'inspectRequests',
    method: 'post',
    path: '/api/conversations/{id}/inspect',
    access: 'read',
    summary: 'Requests piece by piece, the next one or sent ones, side by side; in pages',
    body: inspectRequest,
    answer: { status: 200, description: 'The totals, and a page of lines.', schema: inspectionView },
    handle: async (call) => inspection(call, await call.conversation()),
  }),
  route({
    operationId: 'inspectFirstRequest',
    method: 'post',
    path: '/api/inspect',
    access: 'read',
    summary: 'The first request of a new conversation, piece by piece',
    body: inspectRequest,
    answer: { status: 200, description: 'The totals, and a page of lines.', schema: inspectionView },
    handle: (call) => inspection(call, newConversation),
  }),
  route({
    operationId: 'renderPrompt',
    method: 'post',
    path: '/api/conversations/{id}/prompt',
    access: 'write',
    summary: 'The prompt that a local server makes of the next request; nothing is generated',
    body: promptRequest,
    answer: { status: 200, description: 'The prompt as the model sees it.', schema: modelPromptView },
    async handle({ server, owner, principal, body, ...call }) {
      const conversation = await call.conversation()
      const { id } = conversation
      const settings = mergeSettings(server, owner, conversation.settings, body.settings)
      const { model, protocol } = settings
      const { endpoint, transport } = await server.endpoint(model, protocol)
      allowModel(principal, `${endpoint.provider.id}/${endpoint.model}`)
      const { renderedPrompt } = await import('../../runtime/local-model.ts')
      const place = nextPlace(owner, conversation, body)
      const log = {
        history: await historyAt(server.store, place),
        overlays: await server.store.overlays(owner, id),
      }
      const { body: request } = assembledFor(id, log, await targetOf(server, place, settings), endpoint)
      return json({ model, prompt: await renderedPrompt(endpoint, request, transport.fetch ?? fetch) })
    },
  }),
  route({
    operationId: 'listExchanges',
    method: 'get',
    path: '/api/conversations/{id}/exchanges',
    access: 'read',
    summary: 'Requests that were sent, newest first',
    query: pageQuery,
    answer: { status: 200, description: 'A page of requests.', schema: pageSchema(exchangeView) },
    async handle({ server, owner, query, ...call }) {
      const { store } = server
      const { id } = await call.conversation()
      const { items, next } = await shortPage(query, (page) => store.exchanges(owner, id, page))
      const exchanges = await Promise.all(items.map((exchange) => withClientRequest(store, owner, exchange)))
      return json({ items: exchanges, ...(next !== undefined && { next }) })
    },
  }),
  route({
    operationId: 'getExchange',
    method: 'get',
    path: '/api/exchanges/{id}',
    access: 'read',
    summary: 'One exchange',
    answer: { status: 200, description: 'The exchange.', schema: exchangeView },
    async handle({ server, owner, param }) {
      const exchange = await server.store.exchange(owner, param('id'))
      if (!exchange) throw missing('exchange', param('id'))
      return json(await withClientRequest(server.store, owner, exchange))
    },
  }),
  route({
    operationId: 'getRequestBody',
    method: 'get',
    path: '/api/exchanges/{id}/body',
    access: 'read',
    summary: 'The exact bytes of a request',
    answer: { status: 200, description: 'The body.', types: ['application/json'] },
    async handle({ request, server, owner, param }) {
      const exchange = await server.store.exchange(owner, param('id'))
      const bytes = exchange && (await server.store.blob(owner, exchange.bodySha256))
      if (!bytes) throw missing('exchange', param('id'))
      return bytesAnswer(request, bytes, jsonHeaders)
    },
  }),
  route({
    operationId: 'getClientRequestBody',
    method: 'get',
    path: '/api/exchanges/{id}/client-body',
    access: 'read',
    summary: 'The exact bytes of the client request that an exchange was made for',
    answer: { status: 200, description: 'The body.', types: ['application/json'] },
    async handle({ request: httpRequest, server, owner, param }) {
      const request = await clientRequestOf(server.store, owner, param('id'))
      const bytes = request && (await server.store.blob(owner, request.bodySha256))
      if (!bytes) throw missing('request of a client for the exchange', param('id'))
      return bytesAnswer(httpRequest, bytes, jsonHeaders)
    },
  }),
  route({
    operationId: 'compactConversation',
    method: 'post',
    path: '/api/conversations/{id}/compact',
    access: 'write',
    summary: 'Replaces the older part of what is sent with a summary; the log does not change',
    body: resumeRequest,
    answer: {
      status: 200,
      description: 'The decision; null if there is too little to summarise.',
      schema: compactionView,
    },
    async handle({ server, owner, principal, body, ...call }) {
      const conversation = await call.conversation()
      const { id } = conversation
      const settings = mergeSettings(server, owner, conversation.settings, body.settings)
      await checkRun(server, principal, settings)
      const { store, endpoint } = server
      const tools = await runTools(server.toolbox(owner), { store, owner, conversationId: id }, settings)
      const chat = conversationOf({ store, owner, endpoint }, id, tools.settings)
      const compacted = await chat.compact()
      const cost = compacted?.spent.reduce((sum, spent) => sum + (spent.cost ?? 0), 0) ?? 0
      if (principal.keyId !== undefined && cost > 0) await addSpend(store, principal.keyId, cost)
      server.changes.notify(id)
      return json({ overlay: compacted?.overlay ?? null })
    },
  }),
  route({
    operationId: 'getConversationUsage',
    method: 'get',
    path: '/api/conversations/{id}/usage',
    access: 'read',
    summary: 'What a conversation has used, cost and saved so far, in total and by model',
    answer: { status: 200, description: 'The sums.', schema: conversationUsageView },
    async handle({ server, owner, ...call }) {
      const { id } = await call.conversation()
      return json(await usageOf(server.store, owner, id))
    },
  }),
  route({
    operationId: 'listOverlays',
    method: 'get',
    path: '/api/conversations/{id}/overlays',
    access: 'read',
    summary: 'Decisions about what is sent, such as compactions',
    answer: { status: 200, description: 'All decisions, in order.', schema: pageSchema(overlayView) },
    async handle({ server, owner, ...call }) {
      const { id } = await call.conversation()
      return json({ items: await server.store.overlays(owner, id) })
    },
  }),
  route({
    operationId: 'updateOverlay',
    method: 'patch',
    path: '/api/conversations/{id}/overlays/{overlayId}',
    access: 'write',
    summary: 'Undoes a decision, or applies it again',
    body: overlayChange,
    answer: { status: 200, description: 'The decision.', schema: overlayView },
    async handle({ server, owner, param, body }) {
      const [id, overlayId] = [param('id'), param('overlayId')]
      const exists = (await server.store.overlays(owner, id)).some((overlay) => overlay.id === overlayId)
      if (!exists) throw missing('overlay', overlayId)
      const overlay = await server.store.setOverlayUndone(owner, overlayId, body.undone)
      server.changes.notify(id)
      return json(overlay)
    },
  }),
]

type ConversationToAsk = Pick<Conversation, 'id' | 'head' | 'entries' | 'settings'>

/** Bytes of a page, about: an exchange can have a note for each of thousands of messages. */
const mostInPage = 4_000_000

/** A page with fewer items than asked for, if they are long. */
async function shortPage<T>(query: PageQuery, read: (query: PageQuery) => Promise<Page<T>>): Promise<Page<T>> {
  for (let page = await read(query); ;) {
    const { length } = page.items
    const share = mostInPage / JSON.stringify(page.items).length
    if (share >= 1 || length < 2) return page
    page = await read({ ...query, limit: Math.max(1, Math.min(length - 1, Math.floor(length * share))) })
  }
}

/** A conversation gets its id with its first message; until then, one of the same length is used for the estimate. */
const newConversation: ConversationToAsk = {
  id: '00000000-0000-7000-8000-000000000000',
  head: null,
  entries: 0,
  settings: {},
}

const jsonHeaders = { ...privateHeaders, 'content-type': 'application/json' }

/** Where the request would continue. */
function nextPlace(owner: string, conversation: ConversationToAsk, request: NextRequest): NextPlace {
  const hasMessage = request.text !== undefined || request.parts !== undefined
  return {
    owner,
    conversationId: conversation.id,
    head: conversation.head,
    ...(request.entryId !== undefined && { entryId: request.entryId }),
    ...(hasMessage && { message: userMessage(request) }),
  }
}

async function answerPrepare(
  { server, owner, body }: Call<unknown, PrepareRequest>,
  conversation: ConversationToAsk,
): Promise<Response> {
  const { targets: wanted, messages } = body
  const place = nextPlace(owner, conversation, body)
  const settings = mergeSettings(server, owner, conversation.settings, body.settings)
  const targets: PrepareTarget[] = []
  for (const target of wanted) targets.push(await targetOf(server, place, { ...settings, ...target }))
  const known = knownTo(server)
  const task = { do: 'prepare', place, targets, known, ...(messages && { messages }) } as const
  return longAnswer(await server.longTasks.run(server.store, task, isLong(conversation)))
}

async function inspection(
  { server, owner, body: asked }: Call<unknown, InspectRequest>,
  conversation: ConversationToAsk,
): Promise<Response> {
  const { requests: wanted, lines, body } = asked
  const place = nextPlace(owner, conversation, asked)
  const settings = mergeSettings(server, owner, conversation.settings, asked.settings)
  const requests: InspectTask['requests'][number][] = []
  for (const request of wanted)
    requests.push('exchangeId' in request ? request : await targetOf(server, place, { ...settings, ...request }))
  const task: InspectTask = { do: 'inspect', place, requests, known: knownTo(server), lines, ...(body && { body }) }
  return longAnswer(await server.longTasks.run(server.store, task, isLong(conversation)))
}

function knownTo({ rows, env, aliases, offline }: ServerContext): KnownProviders {
  return { rows, env: { ...env }, ...(aliases && { aliases }), offline }
}

/** The target with the specifications of its tools, as a request describes them. */
async function targetOf(
  server: ServerContext,
  { owner, conversationId }: NextPlace,
  wanted: WholeSettings,
): Promise<PrepareTarget> {
  const place = { store: server.store, owner, conversationId }
  const { settings } = await runTools(server.toolbox(owner), place, wanted)
  const { tools = [], system, policy = 'economy', options } = settings
  return {
    model: wanted.model,
    ...(wanted.protocol !== undefined && { protocol: wanted.protocol }),
    ...(system !== undefined && { system }),
    tools: tools.map(({ name, description, input, kind }) => ({
      name,
      ...(description !== undefined && { description }),
      input,
      ...(kind !== undefined && { kind }),
    })),
    policy,
    ...(options && { options }),
  }
}
