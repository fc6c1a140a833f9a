// Conversations: create, find, change and delete.

import type { JsonObject } from '../../core/json.ts'
import { sideCall, type Conversation, type Entry } from '../../core/log.ts'
import { badInput, SynapseError } from '../../core/error.ts'
import { inSlices } from '../../core/slices.ts'
import type { Archive } from '../../store/archive.ts'
import { uuidv7 } from '../../store/ids.ts'
import type { Store } from '../../store/store.ts'
import { json } from '../answer.ts'
import { audit } from '../audit.ts'
import type { ServerContext } from '../context.ts'
import { isLong } from '../long-tasks.ts'
import { missing, requireConversation, route, type Route } from '../route.ts'
import { checkSettings, settingsToStore } from '../run-settings.ts'
import { conversationChange, conversationsQuery, fork, newConversation } from '../schema.ts'
import { conversationView, pageSchema, type ConversationView } from '../views.ts'

const conversationAnswer = { status: 200, description: 'The conversation.', schema: conversationView }

export const conversationRoutes: readonly Route[] = [
  route({
    operationId: 'listConversations',
    method: 'get',
    path: '/api/conversations',
    access: 'read',
    summary: 'Conversations, most recently changed first',
    query: conversationsQuery,
    answer: { status: 200, description: 'A page of conversations.', schema: pageSchema(conversationView) },
    async handle({ server, owner, query }) {
      const hidden = query.label === sideCall ? {} : { withoutLabel: sideCall }
      const { items, ...rest } = await server.store.conversations(owner, { ...hidden, ...query })
      return json({ items: items.map(plainView), ...rest })
    },
  }),
  route({
    operationId: 'createConversation',
    method: 'post',
    path: '/api/conversations',
    access: 'write',
    summary: 'A new conversation, empty or with the history of another one',
    body: newConversation,
    answer: { ...conversationAnswer, status: 201 },
    async handle({ server, owner, principal, body }) {
      const { title, labels, settings = {}, from } = body
      await checkSettings(server, principal, settings)
      const path = from ? await pathTo(server.store, owner, from) : []
      const fields = {
        settings: settingsToStore(server, owner, settings, {}),
        ...(title !== undefined && { title }),
        ...(labels && { labels }),
      }
      const { id } =
        path.length === 0
          ? await server.store.createConversation(owner, fields)
          : await server.store.importConversation(owner, await copyOf(path, fields))
      return json(await viewOf(server, owner, id), 201, { location: `/api/conversations/${id}` })
    },
  }),
  route({
    operationId: 'getConversation',
    method: 'get',
    path: '/api/conversations/{id}',
    access: 'read',
    summary: 'One conversation, with its active run',
    answer: conversationAnswer,
    handle: async ({ server, owner, param }) => json(await viewOf(server, owner, param('id'))),
  }),
  route({
    operationId: 'updateConversation',
    method: 'patch',
    path: '/api/conversations/{id}',
    access: 'write',
    summary: 'Changes the title, labels, settings, or the position where the conversation continues',
    body: conversationChange,
    answer: conversationAnswer,
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
      server.changes.notify(id)
      return json(await viewOf(server, owner, id))
    },
  }),
  route({
    operationId: 'deleteConversation',
    method: 'delete',
    path: '/api/conversations/{id}',
    access: 'write',
    summary: 'Deletes a conversation with everything in it',
    answer: { status: 204, description: 'Deleted.' },
    async handle({ server, owner, principal, ...call }) {
      const conversation = await call.conversation()
      const { id } = conversation
      const run = await server.runs.active(owner, id)
      // A run of another process that is not stopped in time fails at its next write.
      if (run) await server.runs.cancel(owner, run.id).catch(unlessConflict)
      const task = { do: 'delete', place: { owner, conversationId: id } } as const
      const { bytes } = await server.longTasks.run(server.store, task, isLong(conversation))
      const { isDeleted } = JSON.parse(new TextDecoder().decode(bytes)) as { isDeleted: boolean }
      if (!isDeleted) throw missing('conversation', id)
      await audit(server.store, principal, 'deleted', id)
      server.changes.notify(id)
      return new Response(null, { status: 204 })
    },
  }),
  route({
    operationId: 'forkConversation',
    method: 'post',
    path: '/api/conversations/{id}/fork',
    access: 'write',
    summary: 'Continues from another entry, on a new branch if it gets a name',
    body: fork,
    answer: conversationAnswer,
    async handle({ server, owner, param, body: { entryId, name } }) {
      const { store } = server
      const id = param('id')
      const view = await viewOf(server, owner, id)
      if (name === undefined) await store.setHead(owner, id, { entryId })
      else {
        const isTaken = (await store.branches(owner, id)).some((branch) => branch.name === name)
        if (isTaken) throw badInput(`A branch "${name}" already exists. Choose another name.`)
        await store.nameBranch(owner, view.id, name, entryId)
        await store.setHead(owner, id, { branch: name })
      }
      server.changes.notify(id)
      return json(await viewOf(server, owner, id))
    },
  }),
]

/** The same messages as another conversation; a long one in slices. */
async function copyOf(
  path: readonly Entry[],
  { title, labels = [], settings }: NewConversationFields,
): Promise<Archive> {
  const entries: Archive['entries'][number][] = []
  await inSlices(0, (from, most) => {
    const to = Math.min(path.length, from + most)
    for (const { message, at } of path.slice(from, to)) {
      entries.push({ id: uuidv7(), parentId: entries.at(-1)?.id ?? null, message, at })
    }
    return to < path.length ? to : undefined
  })
  return {
    conversation: {
      id: uuidv7(),
      ...(title !== undefined && { title }),
      labels,
      settings,
      createdAt: new Date().toISOString(),
      head: entries.at(-1)?.id ?? null,
    },
    branches: [],
    entries,
    exchanges: [],
    toolRuns: [],
    overlays: [],
  }
}

interface NewConversationFields {
  title?: string
  labels?: string[]
  settings: JsonObject
}

/** Throws kind 'not-found'. */
export async function viewOf(server: ServerContext, owner: string, id: string): Promise<ConversationView> {
  const conversation = await requireConversation(server.store, owner, id)
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
  const conversation = await requireConversation(store, owner, from.conversationId)
  const end = from.entryId ?? conversation.head
  const path = end === null ? [] : await store.history(owner, end)
  if (path[0] && path[0].conversationId !== conversation.id) throw missing('entry', end ?? '')
  if (path.length === 0 && end !== null) throw missing('entry', end)
  return path
}
