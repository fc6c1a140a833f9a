// Conversations: making, finding, changing and deleting them.

import type { Conversation } from '../../core/log.ts'
import { badInput } from '../../core/error.ts'
import type { JsonObject } from '../../core/json.ts'
import type { Store } from '../../store/store.ts'
import { json } from '../answer.ts'
import { note } from '../audit.ts'
import type { ServerHouse } from '../house.ts'
import { missing, route, type Route } from '../route.ts'
import { checkSettings } from '../run-wish.ts'
import { conversationChange, conversationsQuery, fork, newConversation, type Settings } from '../schema.ts'
import { conversationView, pageSchema, type ConversationView } from '../views.ts'

const one = { status: 200, description: 'The conversation.', schema: conversationView }

export const conversationRoutes: readonly Route[] = [
  route({
    method: 'get',
    path: '/api/conversations',
    access: 'read',
    summary: 'Conversations, the last changed first',
    query: conversationsQuery,
    answer: { status: 200, description: 'A page of them.', schema: pageSchema(conversationView) },
    async handle({ house, owner, query }) {
      const { items, ...rest } = await house.store.conversations(owner, query)
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
    async handle({ house, owner, principal, body }) {
      const { title, labels, settings = {}, from } = body
      await checkSettings(house, principal, settings)
      const path = from ? await pathTo(house.store, owner, from) : []
      const { id } = await house.store.createConversation(owner, {
        settings: asJson(settings),
        ...(title !== undefined && { title }),
        ...(labels && { labels }),
      })
      if (path.length > 0) {
        const entries = path.map(({ message, at }) => ({ message, at }))
        await house.store.appendAll(owner, id, entries)
      }
      return json(await viewOf(house, owner, id), 201, { location: `/api/conversations/${id}` })
    },
  }),
  route({
    method: 'get',
    path: '/api/conversations/{id}',
    access: 'read',
    summary: 'One conversation, with the run that is under way',
    answer: one,
    handle: async ({ house, owner, param }) => json(await viewOf(house, owner, param('id'))),
  }),
  route({
    method: 'patch',
    path: '/api/conversations/{id}',
    access: 'write',
    summary: 'Changes title, labels, settings, or where the conversation goes on',
    body: conversationChange,
    answer: one,
    async handle({ house, owner, principal, param, body }) {
      const { head, settings, ...plain } = body
      const id = param('id')
      if (settings) await checkSettings(house, principal, settings)
      await viewOf(house, owner, id)
      if (head !== undefined) await house.store.setHead(owner, id, { entryId: head })
      await house.store.updateConversation(owner, id, { ...plain, ...(settings && { settings: asJson(settings) }) })
      house.changes.tell(id)
      return json(await viewOf(house, owner, id))
    },
  }),
  route({
    method: 'delete',
    path: '/api/conversations/{id}',
    access: 'write',
    summary: 'Deletes a conversation with everything in it',
    answer: { status: 204, description: 'It is gone.' },
    async handle({ house, owner, principal, param }) {
      const id = param('id')
      const run = await house.runs.active(owner, id)
      if (run) await house.runs.cancel(owner, run.id)
      if (!(await house.store.deleteConversation(owner, id))) throw missing('conversation', id)
      await note(house.store, principal, 'deleted', id)
      house.changes.tell(id)
      return new globalThis.Response(null, { status: 204 })
    },
  }),
  route({
    method: 'post',
    path: '/api/conversations/{id}/fork',
    access: 'write',
    summary: 'Goes on from another entry, on a branch of its own if it gets a name',
    body: fork,
    answer: one,
    async handle({ house, owner, param, body: { entryId, name } }) {
      const { store } = house
      const id = param('id')
      const view = await viewOf(house, owner, id)
      if (name === undefined) await store.setHead(owner, id, { entryId })
      else {
        const taken = (await store.branches(owner, id)).some((branch) => branch.name === name)
        if (taken) throw badInput(`There is a branch "${name}" already. Choose another name.`)
        await store.nameBranch(owner, view.id, name, entryId)
        await store.setHead(owner, id, { branch: name })
      }
      house.changes.tell(id)
      return json(await viewOf(house, owner, id))
    },
  }),
]

/** Throws kind 'not-found'. */
export async function viewOf(house: ServerHouse, owner: string, id: string): Promise<ConversationView> {
  const conversation = await house.store.conversation(owner, id)
  if (!conversation) throw missing('conversation', id)
  const run = await house.runs.active(owner, id)
  return { ...plainView(conversation), ...(run && { run: { id: run.id, state: run.state } }) }
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

function asJson(settings: Settings): JsonObject {
  return JSON.parse(JSON.stringify(settings)) as JsonObject
}
