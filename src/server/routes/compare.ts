// The same question to several models, as one stream: the events of each with its number. A comparison belongs to its
// viewer: leaving stops it, and what arrived so far is saved as branches.

import { asFailure } from '../../core/error.ts'
import type { RunEvent } from '../../core/event.ts'
import type { Comparison } from '../../run/branches/compare.ts'
import { conversationOf } from '../../run/conversation.ts'
import { channel } from '../../run/events/channel.ts'
import { lastingContext, type ServerContext } from '../context.ts'
import { addSpend } from '../keys.ts'
import type { Principal } from '../principal.ts'
import { route, type Route } from '../route.ts'
import { checkRun, mergeSettings, userMessage } from '../run-settings.ts'
import { checkCapacity, releaseSlot, takeSlot } from '../run-stream.ts'
import { busyWith } from '../runs/supervisor.ts'
import { runTools } from '../run-tools.ts'
import { streamHeaders } from '../runs/sse.ts'
import { compareRequest } from '../schema.ts'

export const compareRoutes: readonly Route[] = [
  route({
    operationId: 'compareModels',
    method: 'post',
    path: '/api/conversations/{id}/compare',
    access: 'write',
    summary: 'Asks several models at once; without a message, the last user message is answered again',
    body: compareRequest,
    answer: { status: 200, description: 'Server-sent events.', types: ['text/event-stream'] },
    async handle({ server: within, owner, principal, body, ...call }) {
      const server = lastingContext(within)
      const conversation = await call.conversation()
      const { id } = conversation
      const settings = mergeSettings(server, owner, conversation.settings, body.settings)
      for (const model of body.models) await checkRun(server, principal, { ...settings, model })
      checkCapacity(server)
      const active = await server.runs.active(owner, id)
      if (active) throw busyWith(active)
      const { store, endpoint } = server
      const tools = await runTools(server.toolbox(owner), { store, owner, conversationId: id }, settings)
      const chat = conversationOf({ store, owner, endpoint }, id, tools.settings, tools.names)
      const message = body.text === undefined && body.parts === undefined ? undefined : userMessage(body).parts
      const comparison = await chat.compare(body.models, message)
      server.changes.notify(id)
      return new Response(events(server, principal, id, comparison), { headers: streamHeaders })
    },
  }),
]

type CompareEvent =
  | { type: 'started'; entryId: string; models: string[] }
  | { type: 'candidate'; index: number; event: RunEvent }
  /** `leaf`: where its answer ends. `cost` in US dollars. */
  | { type: 'answered'; index: number; leaf: string; outcome: string; cost: number; message?: string }
  | { type: 'ended' }

function events(
  server: ServerContext,
  principal: Principal,
  id: string,
  { entryId, candidates, ended }: Comparison,
): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder()
  const queue = channel<CompareEvent>(() => undefined)
  const reading = queue[Symbol.asyncIterator]()
  queue.push({ type: 'started', entryId, models: candidates.map(({ model }) => model) })
  takeSlot(server)
  const all = candidates.map(async ({ run, leaf }, index) => {
    for await (const event of run) queue.push({ type: 'candidate', index, event })
    const { outcome, cost, failure } = await run.ended
    if (principal.keyId !== undefined && cost > 0) await addSpend(server.store, principal.keyId, cost)
    queue.push({
      type: 'answered',
      index,
      leaf: leaf(),
      outcome,
      cost,
      ...(failure && { message: failure.message }),
    })
  })
  void Promise.all([...all, ended])
    .catch((error: unknown) => server.log({ event: 'compare-failed', kind: asFailure(error).kind }))
    .finally(() => {
      queue.push({ type: 'ended' })
      queue.end()
      releaseSlot(server)
      server.changes.notify(id)
    })
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done, value } = await reading.next()
      if (done) controller.close()
      else controller.enqueue(encoder.encode(`event: ${value.type}\ndata: ${JSON.stringify(value)}\n\n`))
    },
    cancel: () => candidates.forEach(({ run }) => run.abort()),
  })
}
