// What is sent, and what was: the request as it would go out now, side by side for several models, and the exchanges.

import type { Entry, Overlay } from '../../core/log.ts'
import { explain } from '../../context/explain.ts'
import { assemble } from '../../context/assemble.ts'
import { readDecisions } from '../../context/overlay-codec.ts'
import { findModel } from '../../providers/find-model.ts'
import { resolve, type Endpoint } from '../../providers/resolve.ts'
import { conversationOf } from '../../run/conversation.ts'
import { draftOf } from '../../run/draft.ts'
import { attachMedia } from '../../store/media.ts'
import { redactHeaders } from '../../transport/redact.ts'
import { answerFor, json, privateHeaders } from '../answer.ts'
import type { ServerContext } from '../context.ts'
import { addSpend } from '../keys.ts'
import { missing, route, type Route } from '../route.ts'
import { checkRun, mergeSettings, userMessage } from '../run-settings.ts'
import { runSettings } from '../runs/execute-run.ts'
import {
  resumeRequest,
  overlayChange,
  pageQuery,
  prepareRequest,
  type PrepareRequest,
  type Settings,
} from '../schema.ts'
import { compactedView, exchangeView, overlayView, pageSchema, preparedView, type PreparedView } from '../views.ts'

export const sentRoutes: readonly Route[] = [
  route({
    method: 'post',
    path: '/api/conversations/{id}/prepare',
    access: 'read',
    summary: 'What would be sent now, to each of several models',
    body: prepareRequest,
    answer: { status: 200, description: 'One request per target.', schema: pageSchema(preparedView) },
    async handle({ server, owner, param, body }) {
      const { store } = server
      const id = param('id')
      const conversation = await store.conversation(owner, id)
      if (!conversation) throw missing('conversation', id)
      const history = await historyFor(server, owner, conversation, body)
      const overlays = await store.overlays(owner, id)
      const settings = mergeSettings(server, conversation.settings, body.settings)
      const items: PreparedView[] = []
      for (const target of body.targets) {
        items.push(await prepared(server, id, { history, overlays }, { ...settings, ...target }))
      }
      return json({ items })
    },
  }),
  route({
    method: 'get',
    path: '/api/conversations/{id}/exchanges',
    access: 'read',
    summary: 'What was sent, the last first',
    query: pageQuery,
    answer: { status: 200, description: 'A page of them.', schema: pageSchema(exchangeView) },
    async handle({ server, owner, param, query }) {
      const id = param('id')
      if (!(await server.store.conversation(owner, id))) throw missing('conversation', id)
      return json(await server.store.exchanges(owner, id, query))
    },
  }),
  route({
    method: 'get',
    path: '/api/exchanges/{id}',
    access: 'read',
    summary: 'One exchange',
    answer: { status: 200, description: 'The exchange.', schema: exchangeView },
    async handle({ server, owner, param }) {
      const exchange = await server.store.exchange(owner, param('id'))
      if (!exchange) throw missing('exchange', param('id'))
      return json(exchange)
    },
  }),
  route({
    method: 'get',
    path: '/api/exchanges/{id}/body',
    access: 'read',
    summary: 'The exact bytes of its request',
    answer: { status: 200, description: 'The body.', type: 'application/json' },
    async handle({ server, owner, param }) {
      const exchange = await server.store.exchange(owner, param('id'))
      const bytes = exchange && (await server.store.blob(owner, exchange.bodySha256))
      if (!bytes) throw missing('exchange', param('id'))
      return new globalThis.Response(Buffer.from(bytes), {
        headers: { ...privateHeaders, 'content-type': 'application/json' },
      })
    },
  }),
  route({
    method: 'post',
    path: '/api/conversations/{id}/compact',
    access: 'write',
    summary: 'Lets a summary represent the older part of what is sent; the log stays as it is',
    body: resumeRequest,
    answer: { status: 200, description: 'The decision, or null: there is too little.', schema: compactedView },
    async handle({ server, owner, principal, param, body }) {
      const id = param('id')
      const conversation = await server.store.conversation(owner, id)
      if (!conversation) throw missing('conversation', id)
      const settings = mergeSettings(server, conversation.settings, body.settings)
      await checkRun(server, principal, settings)
      const { store, endpoint, tools } = server
      const chat = conversationOf({ store, owner, endpoint }, id, runSettings(settings, tools))
      const compacted = await chat.compact()
      const cost = compacted?.spent.reduce((sum, spent) => sum + (spent.cost ?? 0), 0) ?? 0
      if (principal.keyId !== undefined && cost > 0) await addSpend(store, principal.keyId, cost)
      server.changes.tell(id)
      return json({ overlay: compacted?.overlay ?? null })
    },
  }),
  route({
    method: 'get',
    path: '/api/conversations/{id}/overlays',
    access: 'read',
    summary: 'Decisions about what is sent, such as compactions',
    answer: { status: 200, description: 'All of them, in order.', schema: pageSchema(overlayView) },
    async handle({ server, owner, param }) {
      const id = param('id')
      if (!(await server.store.conversation(owner, id))) throw missing('conversation', id)
      return json({ items: await server.store.overlays(owner, id) })
    },
  }),
  route({
    method: 'patch',
    path: '/api/conversations/{id}/overlays/{overlayId}',
    access: 'write',
    summary: 'Undoes a decision, or does it again',
    body: overlayChange,
    answer: { status: 200, description: 'The decision.', schema: overlayView },
    async handle({ server, owner, param, body }) {
      const [id, overlayId] = [param('id'), param('overlayId')]
      const mine = (await server.store.overlays(owner, id)).some((overlay) => overlay.id === overlayId)
      if (!mine) throw missing('overlay', overlayId)
      const overlay = await server.store.setOverlayUndone(owner, overlayId, body.undone)
      server.changes.tell(id)
      return json(overlay)
    },
  }),
]

async function historyFor(
  { store }: ServerContext,
  owner: string,
  conversation: { id: string; head: string | null },
  request: PrepareRequest,
): Promise<Entry[]> {
  const end = request.entryId ?? conversation.head
  const entries = end === null ? [] : await store.history(owner, end)
  if (request.entryId !== undefined && entries[0]?.conversationId !== conversation.id)
    throw missing('entry', request.entryId)
  if (request.text !== undefined || request.parts !== undefined) {
    const last = entries.at(-1)
    entries.push({
      id: '',
      conversationId: conversation.id,
      parentId: last?.id ?? null,
      depth: entries.length,
      message: userMessage(request),
      at: new Date().toISOString(),
    })
  }
  const messages = await attachMedia(
    entries.map((entry) => entry.message),
    (sha256) => store.blob(owner, sha256),
  )
  return entries.map((entry, i) => ({ ...entry, message: messages[i] ?? entry.message }))
}

async function prepared(
  server: ServerContext,
  conversationId: string,
  { history, overlays }: { history: readonly Entry[]; overlays: readonly Overlay[] },
  settings: Settings & { model: string },
): Promise<PreparedView> {
  const { model } = settings
  try {
    const endpoint = await endpointOf(server, model, settings.protocol)
    const { tools = [], system, policy = 'economy', options } = runSettings(settings, server.tools)
    const draft = draftOf(
      {
        endpoint,
        tools,
        policy,
        system: system ? [{ type: 'text', text: system }] : [],
        options: { cacheKey: conversationId, ...options },
      },
      history,
      readDecisions(history, overlays),
    )
    const assembled = assemble(draft)
    const { path, headers, body, notes, estimate } = assembled
    const { contextWindow } = endpoint.capabilities
    const explained = explain({ history: history.map((entry) => entry.message), assembled })
    return {
      model,
      provider: endpoint.provider.id,
      protocol: endpoint.protocol.id,
      url: withoutSecrets(endpoint.baseUrl + path),
      headers: redactHeaders({ 'content-type': 'application/json', ...endpoint.headers, ...headers }),
      body,
      notes,
      estimate,
      ...(contextWindow !== undefined && { contextWindow }),
      ...(endpoint.price && { price: { ...endpoint.price } as NonNullable<PreparedView['price']> }),
      messages: explained.messages.map(({ place, role, fate, why, tokens, sent }) => ({
        place,
        ...(history[place]?.id && { entryId: history[place].id }),
        role,
        tokens,
        sent: sent > 0,
        sentTokens: sent,
        fate,
        why,
      })),
      issues: endpoint.protocol
        .refuse(body, { provider: endpoint.provider.id, model: endpoint.model })
        .map((issue) => ({ ...issue })),
    }
  } catch (error) {
    return { model, ...answerFor(error).body }
  }
}

/** Nothing is sent, so a key is not needed. */
async function endpointOf(
  { rows, env }: ServerContext,
  model: string,
  protocol: string | undefined,
): Promise<Endpoint> {
  const ref = await findModel(model, { rows, env })
  return resolve({ ...ref, ...(protocol !== undefined && { protocol }), rows, env, keyless: true })
}

function withoutSecrets(address: string): string {
  const url = new URL(address)
  url.username = ''
  url.password = ''
  return url.href
}
