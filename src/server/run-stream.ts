// The response with the events of a run.

import { SynapseError } from '../core/error.ts'
import { Refusal } from './answer.ts'
import { lastingContext, type ServerContext } from './context.ts'
import { missing } from './route.ts'
import { eventStream, streamHeaders } from './runs/sse.ts'

const open = new WeakMap<ServerContext, number>()

/** `after`: how many events the client has. */
export async function openStream(
  server: ServerContext,
  owner: string,
  runId: string,
  after: number,
  headers: Record<string, string> = {},
): Promise<Response> {
  const source = await server.runs.source(owner, runId)
  if (!source) {
    if (!(await server.runs.run(owner, runId))) throw missing('run', runId)
    throw new Refusal(410, {
      kind: 'not-found',
      message: `The events of run ${runId} are no longer stored; the messages are in the conversation.`,
    })
  }
  const rest = await source.read(after)
  // Tells an EventSource, which would reconnect again and again, that there is nothing left.
  if (rest.ended && rest.frames.length === 0) return new Response(null, { status: 204, headers })
  checkCapacity(server)
  const body = eventStream(source, after, { onOpen: () => takeSlot(server), onClose: () => releaseSlot(server) })
  return new Response(body, { status: 200, headers: { ...streamHeaders, ...headers } })
}

export function checkCapacity(server: ServerContext): void {
  if ((open.get(lastingContext(server)) ?? 0) < server.limits.streams) return
  throw new SynapseError({ kind: 'overloaded', message: 'Too many streams are open.', retryAfterMs: 5000 })
}

/** Called when the stream is first read: if the client has left before that, nothing would release the slot. */
export function takeSlot(server: ServerContext): void {
  const lasting = lastingContext(server)
  open.set(lasting, (open.get(lasting) ?? 0) + 1)
}

export function releaseSlot(server: ServerContext): void {
  const lasting = lastingContext(server)
  open.set(lasting, (open.get(lasting) ?? 1) - 1)
}
