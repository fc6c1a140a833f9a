// Runs: everything that starts one, and what can be done with it.

import { badInput } from '../../core/error.ts'
import { answerApproval, waitingApprovals, type Approval } from '../../run/tools/approval.ts'
import { grantTool, type GrantedTool } from '../../run/tools/grants.ts'
import { titleOf } from '../../core/title.ts'
import { uuidv7 } from '../../store/ids.ts'
import type { Store } from '../../store/store.ts'
import type { Conversation, Entry } from '../../core/log.ts'
import { json } from '../answer.ts'
import { approvalViews, sourcesOf } from '../approval-view.ts'
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
  type PageQuery,
} from '../schema.ts'
import { startRun } from '../start-run.ts'
import { approvalView, pageSchema, runView, startedRun } from '../views.ts'

const started = { status: 202, description: 'The run, which has started.', schema: startedRun }
const starting = { method: 'post', access: 'write', answer: started, startsRun: true } as const

export const runRoutes: readonly Route[] = [
  route({
    operationId: 'sendMessage',
    ...starting,
    path: '/api/conversations/{id}/messages',
    summary: 'Sends a user message and starts a run',
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
    operationId: 'startRun',
    ...starting,
    path: '/api/conversations/{id}/runs',
    summary: 'Continues from the current position of the conversation',
    body: resumeRequest,
    handle: (call) =>
      startRun(call, call.body.settings, async ({ head }) => {
        if (head === null) throw badInput('This conversation has no messages yet.')
        return { basedOn: head }
      }),
  }),
  route({
    operationId: 'editMessage',
    ...starting,
    path: '/api/conversations/{id}/entries/{entryId}/edit',
    summary: 'Edits a user message on a new branch and starts a run',
    body: editedMessage,
    handle: (call) =>
      startRun(call, call.body.settings, async () => {
        const { message, parentId } = await entryIn(call)
        if (message.role !== 'user') throw badInput('Only user messages can be edited.')
        return { basedOn: parentId, entry: entryOf(call.body, { parentId, head: 'move' }) }
      }),
  }),
  route({
    operationId: 'regenerateReply',
    ...starting,
    path: '/api/conversations/{id}/entries/{entryId}/retry',
    summary: 'Regenerates a reply as another branch',
    body: resumeRequest,
    handle: (call) =>
      startRun(call, call.body.settings, async ({ id }) => {
        const { message, parentId, id: entryId } = await entryIn(call)
        const from = message.role === 'assistant' ? parentId : entryId
        if (from === null) throw badInput('This reply has no preceding message, so it cannot be regenerated.')
        const move = async () => {
          await call.server.store.setHead(call.owner, id, { entryId: from })
        }
        return { basedOn: from, move }
      }),
  }),
  route({
    operationId: 'answerApproval',
    ...starting,
    path: '/api/conversations/{id}/approvals/{callId}',
    summary: 'Approves or denies a waiting tool call, and continues when no other call is waiting',
    body: verdict,
    handle: (call) =>
      startRun(call, undefined, async (conversation) => {
        const { id, head } = conversation
        const { allowed, argsHash, reason, scope = 'once' } = call.body
        const answer = { allowed, ...(argsHash !== undefined && { argsHash }), ...(reason !== undefined && { reason }) }
        const { history, asking } = await approvals(call.server, call.owner, id, head)
        const callId = call.param('callId')
        const granted =
          allowed && scope !== 'once'
            ? await grantFor(call, conversation, callId, await waitingApprovals(asking, history))
            : undefined
        const move = async () => {
          await answerApproval(asking, history, { callId, ...answer })
          if (!granted) return
          const place = scope === 'conversation' ? { conversationId: id } : {}
          await grantTool(call.server.store, call.owner, { ...granted, ...place })
        }
        return { basedOn: head, move }
      }),
  }),
  route({
    operationId: 'listApprovals',
    method: 'get',
    path: '/api/conversations/{id}/approvals',
    access: 'read',
    summary: 'Tool calls that wait for approval',
    answer: { status: 200, description: 'The calls.', schema: pageSchema(approvalView) },
    async handle({ server, owner, ...call }) {
      const conversation = await call.conversation()
      const { history, asking } = await approvals(server, owner, conversation.id, conversation.head)
      const waiting = await waitingApprovals(asking, history)
      return json({ items: await approvalViews(server, owner, conversation, waiting) })
    },
  }),
  route({
    operationId: 'listRuns',
    method: 'get',
    path: '/api/runs',
    access: 'read',
    summary: 'Runs of all conversations, most recently started first',
    query: pageQuery,
    answer: { status: 200, description: 'A page of runs.', schema: pageSchema(runView) },
    handle: ({ server, owner, query }) => pageOfRuns(server.store, owner, query),
  }),
  route({
    operationId: 'listConversationRuns',
    method: 'get',
    path: '/api/conversations/{id}/runs',
    access: 'read',
    summary: 'Runs of a conversation, most recently started first',
    query: pageQuery,
    answer: { status: 200, description: 'A page of runs.', schema: pageSchema(runView) },
    async handle({ server, owner, query, ...call }) {
      const { id } = await call.conversation()
      return pageOfRuns(server.store, owner, { ...query, conversationId: id })
    },
  }),
  route({
    operationId: 'getRun',
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
    operationId: 'streamRunEvents',
    method: 'get',
    path: '/api/runs/{id}/events',
    access: 'read',
    summary: 'The events of a run, from any event on',
    query: eventsQuery,
    answer: { status: 200, description: 'Server-sent events.', types: ['text/event-stream'] },
    handle: ({ server, owner, param, query, request }) =>
      openStream(server, owner, param('id'), lastEventId(request) ?? query.after ?? 0),
  }),
  route({
    operationId: 'cancelRun',
    method: 'post',
    path: '/api/runs/{id}/cancel',
    access: 'write',
    summary: 'Cancels a run; the partial reply is saved',
    answer: { status: 200, description: 'The run after the change.', schema: runView },
    async handle({ server, owner, param }) {
      const run = await server.runs.cancel(owner, param('id'))
      if (!run) throw missing('run', param('id'))
      return json(run)
    },
  }),
]

/** The tool of a call, and its source: a permission applies to exactly that. */
async function pageOfRuns(store: Store, owner: string, query: PageQuery & { conversationId?: string }) {
  const { items, ...next } = await store.records(owner, recordKind.run, query)
  const runs = items.map(readRun).filter((run) => run !== undefined)
  return json({ items: runs.map(viewOf), ...next })
}

async function grantFor(
  { server, owner }: Call<unknown, unknown>,
  conversation: Conversation,
  callId: string,
  waiting: readonly Approval[],
): Promise<GrantedTool> {
  const name = waiting.find(({ call }) => call.callId === callId)?.call.name
  const source = name === undefined ? undefined : (await sourcesOf(server, owner, conversation)).get(name)
  if (name !== undefined && source !== undefined) return { tool: name, source }
  throw badInput(`The tool of the call ${callId} is not available now, so the call can only be allowed once.`)
}

function entryOf(input: MessageInput, place: { parentId?: string | null; head?: 'move' }) {
  return { id: uuidv7(), message: userMessage(input), ...place }
}

async function entryIn({ server, owner, param }: Call<unknown, unknown>): Promise<Entry> {
  const entry = await server.store.entry(owner, param('entryId'))
  if (entry?.conversationId !== param('id')) throw missing('entry', param('entryId'))
  return entry
}

async function approvals(server: ServerContext, owner: string, conversationId: string, head: string | null) {
  const history = await lastTurn(server.store, owner, head)
  return { history, asking: { store: server.store, owner, conversationId, now: Date.now, write: () => ({}) } }
}

/** The end of a history, from its last reply or user message on: what waits there does not depend on more. */
async function lastTurn(store: Store, owner: string, head: string | null): Promise<Entry[]> {
  if (head === null) return []
  for (let last = 32; ; last *= 8) {
    const tail = await store.history(owner, head, { last })
    const [first] = tail
    const isEnough = tail.some(({ message }) => message.role === 'assistant' || message.role === 'user')
    if (isEnough || !first || first.parentId === null) return tail
  }
}

function lastEventId(request: Request): number | undefined {
  const text = request.headers.get('last-event-id')
  if (text === null || text === '') return undefined
  if (!/^\d{1,15}$/.test(text)) throw badInput('Last-Event-ID must be the number of an event of this run.')
  return Number(text)
}
