// The log: pages of a history, single entries, the tree, the export.

import { json, longAnswer } from '../answer.ts'
import { audit } from '../audit.ts'
import { isUpward, pageOf } from '../page-of-entries.ts'
import { isLong } from '../long-tasks.ts'
import { missing, route, type Route } from '../route.ts'
import { entriesQuery, exportQuery, treeQuery } from '../schema.ts'
import { entriesPage, entryView, treeView } from '../views.ts'

/** Entries of the tree that are read in a few milliseconds: such a page does not wait for longer tasks. */
const shortPage = 2000

/** Synapse's own format, those of other tools, and the two readable ones. */
const exportTypes = ['application/jsonl', 'application/json', 'text/markdown', 'text/html']

export const historyRoutes: readonly Route[] = [
  route({
    operationId: 'listEntries',
    method: 'get',
    path: '/api/conversations/{id}/entries',
    access: 'read',
    summary: 'A page of the history',
    query: entriesQuery,
    answer: { status: 200, description: 'Entries in order.', schema: entriesPage },
    async handle({ server, owner, param, query, ...call }) {
      const { store, longTasks } = server
      const conversationId = param('id')
      if (isUpward(query)) return json(await pageOf(store, owner, conversationId, query))
      const task = { do: 'entries', place: { owner, conversationId }, query } as const
      return longAnswer(await longTasks.run(store, task, isLong(await call.conversation())))
    },
  }),
  route({
    operationId: 'getTree',
    method: 'get',
    path: '/api/conversations/{id}/tree',
    access: 'read',
    summary: 'Every entry without its message, and the branches; page by page with limit and before',
    query: treeQuery,
    answer: { status: 200, description: 'The tree.', schema: treeView },
    async handle({ server, owner, query, ...call }) {
      const { store } = server
      const conversation = await call.conversation()
      const { id } = conversation
      const before = query.before === undefined ? undefined : await store.entry(owner, query.before)
      if (query.before !== undefined && before?.conversationId !== id) throw missing('entry', query.before)
      const task = { do: 'tree', place: { owner, conversationId: id }, query } as const
      const isLongPage = isLong(conversation) && (query.limit ?? Infinity) > shortPage
      return longAnswer(await server.longTasks.run(store, task, isLongPage))
    },
  }),
  route({
    operationId: 'exportConversation',
    method: 'get',
    path: '/api/conversations/{id}/export',
    access: 'read',
    summary: 'The history as a file: Markdown, HTML, or any transcript format',
    query: exportQuery,
    answer: { status: 200, description: 'The transcript.', types: exportTypes },
    async handle({ server, owner, principal, query: { format = 'synapse' }, ...call }) {
      const { store } = server
      const conversation = await call.conversation()
      const { id } = conversation
      const task = { do: 'export', place: { owner, conversationId: id }, format } as const
      const written = await server.longTasks.run(store, task, isLong(conversation))
      await audit(store, principal, 'exported', id)
      return longAnswer(written)
    },
  }),
  route({
    operationId: 'getEntry',
    method: 'get',
    path: '/api/entries/{id}',
    access: 'read',
    summary: 'One entry',
    answer: { status: 200, description: 'The entry.', schema: entryView },
    async handle({ server, owner, param }) {
      const entry = await server.store.entry(owner, param('id'))
      if (!entry) throw missing('entry', param('id'))
      return json(entry)
    },
  }),
]
