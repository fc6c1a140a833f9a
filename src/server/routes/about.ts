// About the server and what it can ask, and about everything at once: search, usage and the audit.

import type { Json } from '../../core/json.ts'
import { catalogue } from '../../providers/catalogue.ts'
import { findModel } from '../../providers/find-model.ts'
import { listModels, type ListedModel } from '../../providers/list-models.ts'
import type { ProviderRow } from '../../providers/provider.ts'
import { resolve } from '../../providers/resolve.ts'
import { json } from '../answer.ts'
import { auditRecords } from '../audit.ts'
import type { ServerContext } from '../context.ts'
import { missing, route, type Route } from '../route.ts'
import { capabilitiesQuery, modelsQuery, pageQuery, searchQuery, usageQuery } from '../schema.ts'
import {
  capabilitiesView,
  hitView,
  modelView,
  notedView,
  pageSchema,
  providerView,
  statusView,
  usageRow,
  type ModelView,
  type ProviderView,
  type StatusView,
} from '../views.ts'

export const aboutRoutes: readonly Route[] = [
  route({
    method: 'get',
    path: '/api/status',
    access: 'read',
    summary: 'The server, and who is asking',
    answer: { status: 200, description: 'The status.', schema: statusView },
    async handle({ server, principal }) {
      const { version, offline, whyOffline, defaultModel, keysRequired, tools } = server
      const status: StatusView = {
        version,
        owner: principal.owner,
        access: principal.access,
        keysRequired,
        offline,
        ...(whyOffline !== undefined && { whyOffline }),
        defaultModel,
        tools: tools.map(({ name, description }) => ({ name, ...(description !== undefined && { description }) })),
      }
      return json(status)
    },
  }),
  route({
    method: 'get',
    path: '/api/providers',
    access: 'read',
    summary: 'Who can be asked',
    answer: { status: 200, description: 'All providers.', schema: pageSchema(providerView) },
    handle: async ({ server }) => json({ items: server.rows.map((row) => providerOf(server, row)) }),
  }),
  route({
    method: 'get',
    path: '/api/models',
    access: 'read',
    summary: 'Models whose price or context window is known; others can be asked too',
    query: modelsQuery,
    answer: { status: 200, description: 'The models.', schema: pageSchema(modelView) },
    async handle({ server, query: { provider } }) {
      const rows = server.rows.filter((row) => provider === undefined || row.id === provider)
      if (rows.length === 0 && provider !== undefined) throw missing('provider', provider)
      return json({ items: listModels(rows, catalogue).map(modelOf) })
    },
  }),
  route({
    method: 'get',
    path: '/api/capabilities',
    access: 'read',
    summary: 'What a model takes besides text',
    query: capabilitiesQuery,
    answer: { status: 200, description: 'Its capabilities.', schema: capabilitiesView },
    async handle({ server: { rows, env }, query: { model } }) {
      const {
        provider,
        model: name,
        capabilities,
      } = await resolve({
        ...(await findModel(model, { rows, env })),
        rows,
        env,
        keyless: true,
      })
      return json({ model: `${provider.id}/${name}`, media: capabilities.media })
    },
  }),
  route({
    method: 'get',
    path: '/api/search',
    access: 'read',
    summary: 'Search over everything that was said and done',
    query: searchQuery,
    answer: { status: 200, description: 'Hits, the last written first.', schema: pageSchema(hitView) },
    async handle({ server, owner, query: { conversation, ...query } }) {
      const one = conversation === undefined ? {} : { conversationId: conversation }
      return json(await server.store.search(owner, { ...query, ...one }))
    },
  }),
  route({
    method: 'get',
    path: '/api/usage',
    access: 'read',
    summary: 'Tokens and money by day, provider and model',
    query: usageQuery,
    answer: { status: 200, description: 'The sums.', schema: pageSchema(usageRow) },
    async handle({ server, owner, query: { from, to, conversation } }) {
      const items = await server.store.usage(owner, {
        ...(from !== undefined && { after: from }),
        ...(to !== undefined && { before: to }),
        ...(conversation !== undefined && { conversationId: conversation }),
      })
      return json({ items })
    },
  }),
  route({
    method: 'get',
    path: '/api/audit',
    access: 'read',
    summary: 'What was deleted, exported and imported, and which keys were made and revoked, the last first',
    query: pageQuery,
    answer: { status: 200, description: 'A page of it.', schema: pageSchema(notedView) },
    handle: async ({ server, owner, query }) => json(await auditRecords(server.store, owner, query)),
  }),
]

function providerOf({ env, offline }: ServerContext, row: ProviderRow): ProviderView {
  const found = row.keyVariables.some((name) => env[name]?.trim())
  return {
    id: row.id,
    name: row.name,
    key: found ? 'found' : row.keyOptional || offline ? 'not-needed' : 'missing',
    ...(row.keysAt !== undefined && { keysAt: row.keysAt }),
    keyVariables: [...row.keyVariables],
    ...(row.defaultModel !== undefined && { defaultModel: row.defaultModel }),
    wires: row.wires.map(({ protocol, state, caching, compaction }) => ({
      protocol,
      state: state?.kind ?? 'stateless',
      caching,
      compaction: compaction ?? 'summary',
    })),
  }
}

function modelOf({ provider, model, contextWindow, price }: ListedModel): ModelView {
  return {
    model: `${provider}/${model}`,
    provider,
    ...(contextWindow !== undefined && { contextWindow }),
    ...(price && { price: JSON.parse(JSON.stringify(price)) as Json }),
  }
}
