// About the server and its models, and about everything at once: search, usage and the audit.

import { z } from '@hono/zod-openapi'
import type { Json } from '../../core/json.ts'
import { catalogue } from '../../providers/catalogue.ts'
import { findModel, type ListedModel, listModels } from '../../providers/find-model.ts'
import { findLocalServers } from '../../providers/local-servers.ts'
import { resolve } from '../../providers/resolve.ts'
import { favouriteModels, recentModels, setFavourite } from '../../run/favourites.ts'
import { json } from '../answer.ts'
import { auditRecords } from '../audit.ts'
import { providerOf } from '../provider-view.ts'
import { missing, route, type Route } from '../route.ts'
import { capabilitiesQuery, favouriteChange, modelsQuery, pageQuery, searchQuery, usageQuery } from '../schema.ts'
import {
  capabilitiesView,
  modelView,
  auditEventView,
  preferredView,
  providerView,
  statusView,
  type ModelView,
  type StatusView,
} from '../server-views.ts'
import { hitView, pageSchema, usageRow } from '../views.ts'

export const aboutRoutes: readonly Route[] = [
  route({
    operationId: 'getStatus',
    method: 'get',
    path: '/api/status',
    access: 'read',
    summary: 'The server, and the key of the caller',
    answer: { status: 200, description: 'The status.', schema: statusView },
    async handle({ server, principal }) {
      const { version, offline, whyOffline, defaultModel, keysRequired } = server
      const status: StatusView = {
        version,
        owner: principal.owner,
        access: principal.access,
        keysRequired,
        offline,
        ...(whyOffline !== undefined && { whyOffline }),
        defaultModel,
        localSessions: server.sessions !== undefined,
        ...(server.folder !== undefined && !server.keysRequired && { folder: server.folder }),
        ...(server.folders && !server.keysRequired && { folders: [...server.folders] }),
        tools: server
          .toolbox(principal.owner)
          .tools()
          .filter(({ usual }) => usual)
          .map(({ tool: { name, description } }) => ({ name, ...(description !== undefined && { description }) })),
      }
      return json(status)
    },
  }),
  route({
    operationId: 'listProviders',
    method: 'get',
    path: '/api/providers',
    access: 'read',
    summary: 'Providers',
    answer: { status: 200, description: 'All providers.', schema: pageSchema(providerView) },
    handle: async ({ server }) => json({ items: server.rows.map((row) => providerOf(server, row)) }),
  }),
  route({
    operationId: 'listModels',
    method: 'get',
    path: '/api/models',
    access: 'read',
    summary: 'Models with a known price or context window; others can be used too',
    query: modelsQuery,
    answer: { status: 200, description: 'The models.', schema: pageSchema(modelView) },
    async handle({ server, query: { provider } }) {
      const rows = server.rows.filter((row) => provider === undefined || row.id === provider)
      if (rows.length === 0 && provider !== undefined) throw missing('provider', provider)
      return json({ items: listModels(rows, catalogue).map(modelOf) })
    },
  }),
  route({
    operationId: 'listPreferredModels',
    method: 'get',
    path: '/api/models/preferred',
    access: 'read',
    summary: 'Favourites, recent models, aliases, and models of local servers on the machine of this server',
    answer: { status: 200, description: 'The names.', schema: preferredView },
    async handle({ server, owner }) {
      const { store, rows, env, aliases = {}, keysRequired } = server
      const [favourites, recent, local] = await Promise.all([
        favouriteModels(store, owner),
        recentModels(store, owner),
        keysRequired ? [] : findLocalServers(rows, env),
      ])
      return json({ favourites, recent, aliases, local })
    },
  }),
  route({
    operationId: 'setFavouriteModel',
    method: 'post',
    path: '/api/models/favourites',
    access: 'write',
    summary: 'Marks or unmarks a model as a favourite',
    body: favouriteChange,
    answer: { status: 200, description: 'All favourites.', schema: z.object({ favourites: z.array(z.string()) }) },
    async handle({ server: { store }, owner, body: { model, favourite } }) {
      await setFavourite(store, owner, model, favourite)
      return json({ favourites: await favouriteModels(store, owner) })
    },
  }),
  route({
    operationId: 'getModelCapabilities',
    method: 'get',
    path: '/api/capabilities',
    access: 'read',
    summary: 'The input that a model accepts besides text',
    query: capabilitiesQuery,
    answer: { status: 200, description: 'Its capabilities.', schema: capabilitiesView },
    async handle({ server: { rows, env, aliases }, query: { model } }) {
      const {
        provider,
        model: name,
        capabilities,
      } = await resolve({
        ...(await findModel(model, { rows, env, aliases })),
        rows,
        env,
        keyless: true,
      })
      return json({ model: `${provider.id}/${name}`, media: capabilities.media, tools: capabilities.tools })
    },
  }),
  route({
    operationId: 'search',
    method: 'get',
    path: '/api/search',
    access: 'read',
    summary: 'Search all messages, calls and results',
    query: searchQuery,
    answer: { status: 200, description: 'Hits, newest first.', schema: pageSchema(hitView) },
    async handle({ server, owner, query: { conversation, ...query } }) {
      const scope = conversation === undefined ? {} : { conversationId: conversation }
      return json(await server.store.search(owner, { ...query, ...scope }))
    },
  }),
  route({
    operationId: 'listUsage',
    method: 'get',
    path: '/api/usage',
    access: 'read',
    summary: 'Tokens and cost by day, provider and model',
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
    operationId: 'listAuditEvents',
    method: 'get',
    path: '/api/audit',
    access: 'read',
    summary: 'Deletions, exports, imports, and created and revoked keys, newest first',
    query: pageQuery,
    answer: { status: 200, description: 'A page of events.', schema: pageSchema(auditEventView) },
    handle: async ({ server, owner, query }) => json(await auditRecords(server.store, owner, query)),
  }),
]

function modelOf({ provider, model, contextWindow, price }: ListedModel): ModelView {
  return {
    model: `${provider}/${model}`,
    provider,
    ...(contextWindow !== undefined && { contextWindow }),
    ...(price && { price: JSON.parse(JSON.stringify(price)) as Json }),
  }
}
