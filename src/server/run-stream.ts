// The answer that carries the events of a run.

import { SynapseError } from '../core/error.ts'
import { Refusal } from './answer.ts'
import { lastingHouse, type ServerHouse } from './house.ts'
import { missing } from './route.ts'
import { eventStream, streamHeaders } from './runs/sse.ts'

const open = new WeakMap<ServerHouse, number>()

/** `after`: how many events the client has. */
export async function openStream(
  house: ServerHouse,
  owner: string,
  runId: string,
  after: number,
  headers: Record<string, string> = {},
): Promise<globalThis.Response> {
  const source = await house.runs.source(owner, runId)
  if (!source) {
    if (!(await house.runs.run(owner, runId))) throw missing('run', runId)
    throw new Refusal(410, {
      kind: 'not-found',
      message: `The events of run ${runId} are not kept any more. What was said is in the conversation.`,
    })
  }
  const rest = await source.read(after)
  // Tells an EventSource, which would ask again and again, that there is nothing left.
  if (rest.ended && rest.frames.length === 0) return new globalThis.Response(null, { status: 204, headers })
  checkPlace(house)
  const body = eventStream(source, after, { onOpen: () => takePlace(house), onClose: () => leavePlace(house) })
  return new globalThis.Response(body, { status: 200, headers: { ...streamHeaders, ...headers } })
}

export function checkPlace(house: ServerHouse): void {
  if ((open.get(lastingHouse(house)) ?? 0) < house.limits.streams) return
  throw new SynapseError({ kind: 'overloaded', message: 'Too many streams are open.', retryAfterMs: 5000 })
}

/** Not before it is read: the client may be gone by then, and nobody would give the place back. */
export function takePlace(house: ServerHouse): void {
  const server = lastingHouse(house)
  open.set(server, (open.get(server) ?? 0) + 1)
}

export function leavePlace(house: ServerHouse): void {
  const server = lastingHouse(house)
  open.set(server, (open.get(server) ?? 1) - 1)
}
