// Runs: everything that starts one, and what can be done with it then.

import { badInput } from '../../core/error.ts'
import { answerApproval, waitingApprovals } from '../../run/approval.ts'
import { titleOf } from '../../run/title.ts'
import { uuidv7 } from '../../store/ids.ts'
import type { Entry } from '../../core/log.ts'
import { json } from '../answer.ts'
import type { ServerContext } from '../context.ts'
import { missing, route, type Call, type Route } from '../route.ts'
import { openStream } from '../run-stream.ts'
import { userMessage } from '../run-settings.ts'
import { readRun, recordKind, viewOf } from '../runs/run-record.ts'
import {
  editedMessage,
  eventsQuery,
  resumeRequest,
  newMessage,
  pageQuery,
  verdict,
  type MessageInput,
} from '../schema.ts'
import { startRun } from '../start-run.ts'
import { approvalView, pageSchema, runView, startedRun } from '../views.ts'

const started = { status: 202, description: 'The run, which has begun.', schema: startedRun }
const starting = { method: 'post', access: 'write', answer: started, startsRun: true } as const

export const runRoutes: readonly Route[] = [
  route({
    ...starting,
    path: '/api/conversations/{id}/messages',
    summary: 'Says something and starts a run',
    body: newMessage,
    handle: (call) =>
      startRun(call, call.body.settings, async ({ head, title }) => {
        const { parentId } = call.body
        const named = title === undefined ? titleOf(userMessage(call.body)) : ''
        const entry = entryOf(call.body, parentId === undefined ? {} : { parentId })
        return { basedOn: head, entry, ...(named && { title: named }) }
      }),
  }),
  route({
    ...starting,
    path: '/api/conversations/{id}/runs',
    summary: 'Continues from where the conversation is',
    body: resumeRequest,
    handle: (call) =>
      startRun(call, call.body.settings, async ({ head }) => {
        if (head === null) throw badInput('Nothing was said in this conversation yet.')
        return { basedOn: head }
      }),
  }),
  route({
    ...starting,
    path: '/api/conversations/{id}/entries/{entryId}/edit',
    summary: 'Says it again in other words, beside the first, and starts a run',
    body: editedMessage,
    handle: (call) =>
      startRun(call, call.body.settings, async () => {
        const { message, parentId } = await entryIn(call)
        if (message.role !== 'user') throw badInput('Only what a user said can be said in other words.')
        return { basedOn: parentId, entry: entryOf(call.body, { parentId, head: 'move' }) }
      }),
  }),
  route({
    ...starting,
    path: '/api/conversations/{id}/entries/{entryId}/retry',
    summary: 'Asks again, beside the first reply',
    body: resumeRequest,
    handle: (call) =>
      startRun(call, call.body.settings, async ({ id }) => {
        const { message, parentId, id: entryId } = await entryIn(call)
        const from = message.role === 'assistant' ? parentId : entryId
        if (from === null) throw badInput('Nothing comes before this reply, so it cannot be asked for again.')
        const move = async () => {
          await call.server.store.setHead(call.owner, id, { entryId: from })
        }
        return { basedOn: from, move }
      }),
  }),
  route({
    ...starting,
    path: '/api/conversations/{id}/approvals/{callId}',
    summary: 'Allows a tool call that waits for a person, or does not, and continues when no other one waits',
    body: verdict,
    handle: (call) =>
      startRun(call, undefined, async ({ id, head }) => {
        const { allowed, argsHash, reason } = call.body
        const answer = { allowed, ...(argsHash !== undefined && { argsHash }), ...(reason !== undefined && { reason }) }
        const { history, asking } = await approvals(call.server, call.owner, id, head)
        const move = () => answerApproval(asking, history, { callId: call.param('callId'), ...answer })
        return { basedOn: head, move }
      }),
  }),
  route({
    method: 'get',
    path: '/api/conversations/{id}/approvals',
    access: 'read',
    summary: 'Tool calls that wait for a person',
    answer: { status: 200, description: 'The calls.', schema: pageSchema(approvalView) },
    async handle({ server, owner, param }) {
      const conversation = await server.store.conversation(owner, param('id'))
      if (!conversation) throw missing('conversation', param('id'))
      const { history, asking } = await approvals(server, owner, conversation.id, conversation.head)
      return json({ items: await waitingApprovals(asking, history) })
    },
  }),
  route({
    method: 'get',
    path: '/api/runs',
    access: 'read',
    summary: 'Runs of all conversations, the last started first',
    query: pageQuery,
    answer: { status: 200, description: 'A page of them.', schema: pageSchema(runView) },
    async handle({ server, owner, query }) {
      const { items, ...rest } = await server.store.records(owner, recordKind.run, query)
      const runs = items.map(readRun).filter((run) => run !== undefined)
      return json({ items: runs.map(viewOf), ...rest })
    },
  }),
  route({
    method: 'get',
    path: '/api/conversations/{id}/runs',
    access: 'read',
    summary: 'Runs of a conversation, the last started first',
    query: pageQuery,
    answer: { status: 200, description: 'A page of them.', schema: pageSchema(runView) },
    async handle({ server, owner, param, query }) {
      const conversationId = param('id')
      if (!(await server.store.conversation(owner, conversationId))) throw missing('conversation', conversationId)
      const { items, ...rest } = await server.store.records(owner, recordKind.run, { ...query, conversationId })
      const runs = items.map(readRun).filter((run) => run !== undefined)
      return json({ items: runs.map(viewOf), ...rest })
    },
  }),
  route({
    method: 'get',
    path: '/api/runs/{id}',
    access: 'read',
    summary: 'One run',
    answer: { status: 200, description: 'The run.', schema: runView },
    async handle({ server, owner, param }) {
      const run = await server.runs.run(owner, param('id'))
      if (!run) throw missing('run', param('id'))
      return json(run)
    },
  }),
  route({
    method: 'get',
    path: '/api/runs/{id}/events',
    access: 'read',
    summary: 'The events of a run, from any of them on',
    query: eventsQuery,
    answer: { status: 200, description: 'Server-sent events.', type: 'text/event-stream' },
    handle: ({ server, owner, param, query, request }) =>
      openStream(server, owner, param('id'), lastEventId(request) ?? query.after ?? 0),
  }),
  route({
    method: 'post',
    path: '/api/runs/{id}/cancel',
    access: 'write',
    summary: 'Stops a run; what was said so far is kept',
    answer: { status: 200, description: 'The run as it is then.', schema: runView },
    async handle({ server, owner, param }) {
      const run = await server.runs.cancel(owner, param('id'))
      if (!run) throw missing('run', param('id'))
      return json(run)
    },
  }),
]

function entryOf(said: MessageInput, place: { parentId?: string | null; head?: 'move' }) {
  return { id: uuidv7(), message: userMessage(said), ...place }
}

async function entryIn({ server, owner, param }: Call<unknown, unknown>): Promise<Entry> {
  const entry = await server.store.entry(owner, param('entryId'))
  if (entry?.conversationId !== param('id')) throw missing('entry', param('entryId'))
  return entry
}

async function approvals(server: ServerContext, owner: string, conversationId: string, head: string | null) {
  const history = head === null ? [] : await server.store.history(owner, head)
  return { history, asking: { store: server.store, owner, conversationId, now: Date.now, write: () => ({}) } }
}

function lastEventId(request: globalThis.Request): number | undefined {
  const given = request.headers.get('last-event-id')
  if (given === null || given === '') return undefined
  if (!/^\d{1,15}$/.test(given)) throw badInput('Last-Event-ID must be the number of an event of this run.')
  return Number(given)
}
