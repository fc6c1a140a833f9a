// Conversations: create, find, change and delete.

import { sideCall, type Conversation } from '../../core/log.ts'
import { badInput, SynapseError } from '../../core/error.ts'
import type { Store } from '../../store/store.ts'
import { json } from '../answer.ts'
import { audit } from '../audit.ts'
import type { ServerContext } from '../context.ts'
import { missing, route, type Route } from '../route.ts'
import { checkSettings, settingsToStore } from '../run-settings.ts'
import { conversationChange, conversationsQuery, fork, newConversation } from '../schema.ts'
import { conversationView, pageSchema, type ConversationView } from '../views.ts'

const one = { status: 200, description: 'The conversation.', schema: conversationView }

export const conversationRoutes: readonly Route[] = [
  route({
    method: 'get',
    path: '/api/conversations',
    access: 'read',
    summary: 'Conversations, most recently changed first',
    query: conversationsQuery,
    answer: { status: 200, description: 'A page of conversations.', schema: pageSchema(conversationView) },
    async handle({ server, owner, query }) {
      const { items, ...rest } = await server.store.conversations(owner, { withoutLabel: sideCall, ...query })
      return json({ items: items.map(plainView), ...rest })
    },
  }),
  route({
    method: 'post',
    path: '/api/conversations',
    access: 'write',
    summary: 'A new conversation, empty or with the history of another one',
    body: newConversation,
    answer: { ...one, status: 201 },
    async handle({ server, owner, principal, body }) {
      const { title, labels, settings = {}, from } = body
      await checkSettings(server, principal, settings)
      const path = from ? await pathTo(server.store, owner, from) : []
      const { id } = await server.store.createConversation(owner, {
        settings: settingsToStore(server, owner, settings, {}),
        ...(title !== undefined && { title }),
        ...(labels && { labels }),
      })
      if (path.length > 0) {
        const entries = path.map(({ message, at }) => ({ message, at }))
        await server.store.appendAll(owner, id, entries)
      }
      return json(await viewOf(server, owner, id), 201, { location: `/api/conversations/${id}` })
    },
  }),
  route({
    method: 'get',
    path: '/api/conversations/{id}',
    access: 'read',
    summary: 'One conversation, with its active run',
    answer: one,
    handle: async ({ server, owner, param }) => json(await viewOf(server, owner, param('id'))),
  }),
  route({
    method: 'patch',
    path: '/api/conversations/{id}',
    access: 'write',
    summary: 'Changes the title, labels, settings, or the position where the conversation continues',
    body: conversationChange,
    answer: one,
    async handle({ server, owner, principal, param, body }) {
      const { head, settings, ...plain } = body
      const id = param('id')
      if (settings) await checkSettings(server, principal, settings)
      const { settings: stored } = await viewOf(server, owner, id)
      if (head !== undefined) await server.store.setHead(owner, id, { entryId: head })
      await server.store.updateConversation(owner, id, {
        ...plain,
        ...(settings && { settings: settingsToStore(server, owner, settings, stored) }),
      })
      server.changes.tell(id)
      return json(await viewOf(server, owner, id))
    },
  }),
  route({
    method: 'delete',
    path: '/api/conversations/{id}',
    access: 'write',
    summary: 'Deletes a conversation with everything in it',
    answer: { status: 204, description: 'Deleted.' },
    async handle({ server, owner, principal, param }) {
      const id = param('id')
      const run = await server.runs.active(owner, id)
      // One that another process does not stop fails at its next write.
      if (run) await server.runs.cancel(owner, run.id).catch(unlessConflict)
      if (!(await server.store.deleteConversation(owner, id))) throw missing('conversation', id)
      await audit(server.store, principal, 'deleted', id)
      server.changes.tell(id)
      return new globalThis.Response(null, { status: 204 })
    },
  }),
  route({
    method: 'post',
    path: '/api/conversations/{id}/fork',
    access: 'write',
    summary: 'Continues from another entry, on a new branch if it gets a name',
    body: fork,
    answer: one,
    async handle({ server, owner, param, body: { entryId, name } }) {
      const { store } = server
      const id = param('id')
      const view = await viewOf(server, owner, id)
      if (name === undefined) await store.setHead(owner, id, { entryId })
      else {
        const taken = (await store.branches(owner, id)).some((branch) => branch.name === name)
        if (taken) throw badInput(`A branch "${name}" already exists. Choose another name.`)
        await store.nameBranch(owner, view.id, name, entryId)
        await store.setHead(owner, id, { branch: name })
      }
      server.changes.tell(id)
      return json(await viewOf(server, owner, id))
    },
  }),
]

/** Throws kind 'not-found'. */
export async function viewOf(server: ServerContext, owner: string, id: string): Promise<ConversationView> {
  const conversation = await server.store.conversation(owner, id)
  if (!conversation) throw missing('conversation', id)
  const run = await server.runs.active(owner, id)
  return { ...plainView(conversation), ...(run && { run: { id: run.id, state: run.state } }) }
}

function unlessConflict(error: unknown): void {
  if (!(error instanceof SynapseError) || error.kind !== 'conflict') throw error
}

function plainView(conversation: Conversation): ConversationView {
  const { owner: _owner, ...view } = conversation
  return view
}

async function pathTo(store: Store, owner: string, from: { conversationId: string; entryId?: string }) {
  const conversation = await store.conversation(owner, from.conversationId)
  if (!conversation) throw missing('conversation', from.conversationId)
  const end = from.entryId ?? conversation.head
  const path = end === null ? [] : await store.history(owner, end)
  if (path[0] && path[0].conversationId !== conversation.id) throw missing('entry', end ?? '')
  if (path.length === 0 && end !== null) throw missing('entry', end)
  return path
}
