// A WebSocket at a door: the wire reads its messages and writes the answers, each of which is that to a request over
// HTTP. A response that is not stored can be continued as long as the connection is open.

import { eventData } from '../../transport/sse.ts'
import { loadService } from '../../wires/list.ts'
import type { Socket } from '../websocket.ts'
import { connectionMemory, type ConnectionMemory } from './connection-memory.ts'
import type { Door } from './door.ts'
import { newId } from './responses.ts'

/** Answers a request as over HTTP. */
export type AnswerRequest = (request: Request, memory: ConnectionMemory) => Promise<Response>

export async function serveSocket(
  socket: Socket,
  { door, url, headers }: { door: Door; url: URL; headers: Headers },
  answer: AnswerRequest,
): Promise<void> {
  const service = await loadService(door.wire)
  const memory = connectionMemory()
  const serve = await service.door?.sockets?.()
  await serve?.({
    messages: socket.messages,
    send: socket.send,
    close: socket.close,
    newId: () => newId(service),
    answer(body) {
      const request = { method: 'POST', headers, body: JSON.stringify(body), signal: socket.signal }
      return answer(new Request(url, request), memory)
    },
    events: ({ body }) => eventData(body ?? []),
    forget: memory.forget,
  })
}
